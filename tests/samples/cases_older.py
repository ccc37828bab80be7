# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Samples written for DOCA 1.3 and 1.5, by themselves and with today's."""

from program import check

TEXT = "Written for an older DOCA"


def test_local_copy_of_1_3(bench):
    for env in ({}, {"DOCA_SOFT_DEFER": "1"}):
        program = bench.start("dma_local_copy_1_3", "-p", "03:00.1", "-t", TEXT, side="dpu", env=env)
        program.succeeds(f"The two buffers are equal: {TEXT}")


def test_local_copy_of_1_3_without_a_device(bench):
    program = bench.start("dma_local_copy_1_3", "-p", "04:00.0", side="dpu")
    check(program.wait() != 0, "the exit status is 0")
    program.says("No device at 04:00.0 can do DMA")


def test_remote_copy_of_1_3(bench):
    receiver = bench.start("dma_remote_copy_receiver_1_3", "-P", "0", side="dpu")
    port = receiver.wait_for(r"Waiting for the sender at port (\d+)").group(1)
    # One of the further addresses of the host's function, as the guides name it.
    sender = bench.start("dma_remote_copy_sender_1_3", "-p", "b1:00.0", "-t", TEXT, "-P", port, side="host")
    receiver.succeeds(f"Copied {len(TEXT) + 1} bytes from the sender: {TEXT}")
    sender.succeeds()


def start_host(bench, name):
    host = bench.start(name, "-t", TEXT, *bench.files(), side="host")
    host.wait_for("Press Enter")
    return host


def finish(host):
    host.press_enter()
    host.succeeds()


def test_host_and_dpu_of_1_5(bench):
    host = start_host(bench, "dma_copy_host_1_5")
    for env in ({}, {"DOCA_SOFT_DEFER": "1"}):
        dpu = bench.start("dma_copy_dpu_1_5", *bench.files(), side="dpu", env=env)
        dpu.succeeds(f"Copied {len(TEXT) + 1} bytes from the host: {TEXT}")
    finish(host)


def test_host_of_1_5_and_dpu_of_today(bench):
    host = start_host(bench, "dma_copy_host_1_5")
    dpu = bench.start("dma_copy_dpu", *bench.files(), side="dpu")
    dpu.succeeds(f"the text is: {TEXT}")
    finish(host)


def test_host_of_today_and_dpu_of_1_5(bench):
    host = start_host(bench, "dma_copy_host")
    dpu = bench.start("dma_copy_dpu_1_5", *bench.files(), side="dpu")
    dpu.succeeds(f"Copied {len(TEXT) + 1} bytes from the host: {TEXT}")
    finish(host)
