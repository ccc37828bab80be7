# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Sync events between host and DPU, as two processes with Comm Channel between them."""

import signal

from program import check

DPU_DEVICE = "-d", "03:00.0", "-r", "0b:00.0"
HOST_DEVICE = "-d", "0b:00.0"


def start_dpu(bench, *arguments, device=DPU_DEVICE):
    dpu = bench.start("sync_event_dpu", *device, *arguments, side="dpu")
    dpu.wait_for("The service 'sync_event_cc' listens")
    return dpu


def start_host(bench, *arguments, device=HOST_DEVICE):
    return bench.start("sync_event_host", *device, *arguments, side="host")


def signals(bench, *arguments, dpu_arguments=None):
    """The modes of both sides are independent of each other."""
    dpu = start_dpu(bench, *(arguments if dpu_arguments is None else dpu_arguments))
    host = start_host(bench, *arguments)
    host.succeeds("Sent the export of the sync event", "greater than 1", "The other side has signalled")
    dpu.succeeds("Received the export of a sync event", "greater than 0", "The other side has signalled")
    return host, dpu


def test_sync_event(bench):
    host, dpu = signals(bench)
    host.says("in synchronous mode", "set the value to 1")
    dpu.says("in synchronous mode", "set the value to 2")


def test_sync_event_atomic(bench):
    host, dpu = signals(bench, "--atomic")
    host.says("added 1 to 0")
    dpu.says("added 1 to 1")


def test_sync_event_async(bench):
    host, dpu = signals(bench, "--async")
    host.says("in asynchronous mode", "set the value to 1")
    dpu.says("in asynchronous mode", "set the value to 2")


def test_sync_event_async_atomic_in_a_short_queue(bench):
    host, dpu = signals(bench, "--async", "--qdepth", "1", "--atomic")
    host.says("added 1 to 0")
    dpu.says("added 1 to 1")


def test_sync_event_modes_of_their_own(bench):
    signals(bench, "--async", "--qdepth", "4", dpu_arguments=())


def test_sync_event_of_another_function(bench):
    dpu = start_dpu(bench, device=("-d", "03:00.1", "-r", "0b:00.4"))
    start_host(bench, device=("-d", "0b:00.4")).succeeds("The other side has signalled")
    dpu.succeeds("The other side has signalled")


def test_sync_event_dpu_is_killed(bench):
    """The host's wait ends, whatever point the DPU had reached."""
    dpu = start_dpu(bench)
    dpu.send_signal(signal.SIGSTOP)
    host = start_host(bench)
    dpu.send_signal(signal.SIGKILL)
    check(host.wait() == 1, "the host did not end with an error")


def test_sync_event_arguments(bench):
    help_text = bench.start("sync_event_dpu", "-h", side="dpu")
    check(help_text.wait() == 0, "the exit status is not 0")
    help_text.says("-d, --dev-pci-addr", "-r, --rep-pci-addr", "--async", "--qdepth", "--atomic")
    bench.start("sync_event_host", side="host").fails("dev-pci-addr")
    bench.start("sync_event_dpu", "-d", "03:00.0", side="dpu").fails("rep-pci-addr")
    start_host(bench, "--async", "--qdepth", "0").fails("The depth 0 of the work queue")
    start_host(bench, device=("-d", "03:00.0")).fails("No device has the PCI address '03:00.0'")
    bench.start("sync_event_host", "-d", "soft_p0s0", side="dpu").fails("export sync events to a DPU")
    bench.start("sync_event_dpu", "-d", "soft_p0s0", "-r", "0b:00.0", side="all").fails("import sync events of a host")


def test_sync_event_host_without_a_dpu(bench):
    start_host(bench).fails("Cannot connect to the service 'sync_event_cc'")
