# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""On an RDMA device: DMA of one process works by the device's name, and what such a device can't do is said."""

NEEDS = {
    "dma_copy_host": (("-p",), "export memory to a DPU"),
    "dma_copy_dpu": (("-p",), "copy by DMA, import memory of a host"),
    "dma_remote_copy_sender": (("-p",), "export memory to a DPU"),
    "dma_remote_copy_receiver": (("-p",), "copy by DMA, import memory of a host"),
    "dma_copy": (("-f", "no_file", "-p"), "send by Comm Channel, and share memory with the other side"),
    "cc_client": (("-p",), "send by Comm Channel"),
    "cc_server": (("-p",), "send by Comm Channel"),
    "sync_event_host": (("-d",), "export sync events to a DPU"),
    "sync_event_dpu": (("-r", "0b:00.0", "-d"), "import sync events of a host"),
}


def test_a_device_has_a_name_where_it_has_no_address(bench):
    text = "by the name of the device"
    bench.start("dma_local_copy", "-p", bench.devices[0], "-t", text, side="all").succeeds(text)
    bench.start("dma_local_copy", "-p", "nodevice", side="all").fails(
        "No device has the PCI address 'nodevice', or this name", f"{bench.devices[0]} ", "can copy by DMA")


def test_samples_tell_what_an_rdma_device_cannot_do(bench):
    device = bench.devices[0]
    (bench.folder / "export_desc.txt").write_bytes(b"looked at before the device")
    (bench.folder / "buffer_info.txt").write_text("4096\n1", encoding="utf-8")
    # An mlx5 device can share memory across the PCIe, and sync events with it. What devices can do is in the list of what
    # there is.
    probe = bench.start("dma_copy_host", "-p", "nodevice", side="all")
    probe.fails(f"{device} ")
    line = next(line for line in probe.text().splitlines() if f" {device} " in line)
    for name, (arguments, ability) in NEEDS.items():
        if ability.split(", ")[-1].replace("sync events", "memory") in line:
            continue
        files = bench.files() if name == "dma_copy_dpu" else ()
        program = bench.start(name, *files, *arguments, device, side="all")
        program.fails(f"No device at {device} can do all that is needed: {ability}", f"{device} ")
