# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""On RDMA devices: what does not depend on software devices, and what these devices cannot do."""

from cases_files import TEXT
from cases_graph import test_graph  # noqa: F401 (a test to be run, as are those below)
from cases_rdma import (  # noqa: F401
    test_rdma_damaged_descriptor_of_memory,
    test_rdma_damaged_files,
    test_rdma_mixed_pairs_are_refused,
    test_rdma_read,
    test_rdma_receiver_whose_sender_dies,
    test_rdma_requester_without_a_responder,
    test_rdma_send,
    test_rdma_send_immediate,
    test_rdma_send_waits_for_the_receive,
    test_rdma_write,
    test_rdma_write_immediate,
)
from cases_sha import test_sha, test_sha_of_a_text, test_sha_pieces  # noqa: F401


def test_local_copy(bench):
    program = bench.start("dma_local_copy", "-p", bench.devices[0], "-t", TEXT, side="dpu")
    program.succeeds(f"Copied {len(TEXT.encode()) + 1} bytes", "the two buffers are equal")
    program.wait_for(f"Destination buffer, at 0x[0-9a-f]+: {TEXT}$")


def test_device_is_not_at_a_pci_address(bench):
    bench.start("dma_local_copy", "-p", "03:00.0", side="dpu").fails("No device has the PCI address '03:00.0'")


def cannot(bench, name, *arguments, ability):
    """The sample says in one line what the device lacks."""
    program = bench.start(name, *arguments, side="all")
    program.fails(f"No device at {bench.devices[0]} can do all that is needed: {ability}")


def test_no_export_to_a_dpu(bench):
    cannot(bench, "dma_copy_host", "-p", bench.devices[0], *bench.files(), ability="export memory to a DPU")


def test_no_import_from_a_host(bench):
    (bench.folder / "export_desc.txt").write_text("not even read")
    (bench.folder / "buffer_info.txt").write_text("1\n1\n")
    cannot(bench, "dma_copy_dpu", "-p", bench.devices[0], *bench.files(), ability="copy by DMA, import memory of a host")


def test_no_sync_event_between_host_and_dpu(bench):
    cannot(bench, "sync_event_host", "-d", bench.devices[0], ability="export sync events to a DPU")
    cannot(bench, "sync_event_dpu", "-d", bench.devices[0], "-r", "0b:00.0", ability="import sync events of a host")


def test_no_comm_channel(bench):
    cannot(bench, "cc_client", "-p", bench.devices[0], ability="send by Comm Channel")
