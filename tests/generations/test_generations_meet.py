#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""A program of DOCA 2.2 and one of 3.0 with each other: what one exports the other imports, and they connect by RDMA.

    test_generations_meet.py BUILD_DIR
"""
import itertools
import pathlib
import sys
import tempfile
import unittest

BUILD_DIR = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "samples"))

from beside import SKIPPED, Program, has_rdma_devices  # pylint: disable=wrong-import-position

GENERATIONS = "2.2", "3.0"
BOTH_WAYS = tuple(itertools.permutations(GENERATIONS))
SAMPLES = {"2.2": BUILD_DIR / "samples", "3.0": BUILD_DIR / "samples/3.0"}
FINISHED = "Sample finished successfully"
COPY_FILES = "Copy the files from the remote side to here, and press Enter"
TEXT = "from one generation to the other"
# A sample's argument for its text.
TEXT_ARGUMENTS = {"3.0": {"rdma_send": "-s", "rdma_send_immediate": "-s", "rdma_read_responder": "-s",
                          "rdma_write_requester": "-s", "rdma_write_immediate_requester": "-s"},
                  "2.2": {"rdma_send": "-s", "rdma_send_immediate": "-s", "rdma_read_responder": "-r",
                          "rdma_write_requester": "-w", "rdma_write_immediate_requester": "-w"}}


def start(generation, name, *arguments):
    prefix = "doca_" if generation == "2.2" else "doca_v3_"
    return Program(SAMPLES[generation] / (prefix + name), *arguments)


class Meeting(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def both_ways(self, meet, *arguments):
        for first, second in BOTH_WAYS:
            folder = self.place / first
            folder.mkdir()
            with self.subTest(first=first, second=second):
                meet(first, second, folder, *arguments)

    def test_memory_of_the_host(self):
        self.both_ways(self.copy)

    def copy(self, of_host, of_dpu, folder):
        files = "-d", folder / "descriptor", "-b", folder / "buffer"
        with start(of_host, "dma_copy_host", "-t", TEXT, *files) as host:
            host.says("ress Enter when")
            with start(of_dpu, "dma_copy_dpu", *files) as dpu:
                dpu.ends(0, TEXT, FINISHED)
            host.presses_enter()
            host.ends(0, FINISHED)

    def connect(self, of_active, of_passive, folder, active, passive):
        """The passive side does its part first, and where it has nothing to do it stays until the active one is done."""
        sides = []
        for generation, name, own, others in (of_active, active, "a", "b"), (of_passive, passive, "b", "a"):
            text = TEXT_ARGUMENTS[generation].get(name)
            memory = ("-m", folder / "m") if "read" in name or "write" in name else ()
            side = start(generation, name, "-ld", folder / own, "-re", folder / others, *memory,
                         *((text, TEXT) if text else ()))
            self.addCleanup(side.__exit__)
            sides.append(side.says(COPY_FILES))
        active_side, passive_side = sides
        passive_side.presses_enter()
        active_side.presses_enter()
        if of_active == "2.2" and passive in ("rdma_receive", "rdma_receive_immediate", "rdma_write_immediate_responder"):
            active_side.says("has submitted its receive, and press Enter").presses_enter()
        active_side.ends(0, FINISHED, TEXT)
        if "responder" in passive and "immediate" not in passive:
            passive_side.presses_enter()
        passive_side.ends(0, FINISHED, *(() if passive == "rdma_read_responder" else (TEXT,)))

    def test_messages(self):
        self.both_ways(self.connect, "rdma_send", "rdma_receive")

    def test_messages_with_a_number(self):
        self.both_ways(self.connect, "rdma_send_immediate", "rdma_receive_immediate")

    def test_writes(self):
        self.both_ways(self.connect, "rdma_write_requester", "rdma_write_responder")

    def test_writes_with_a_number(self):
        self.both_ways(self.connect, "rdma_write_immediate_requester", "rdma_write_immediate_responder")

    def test_reads(self):
        self.both_ways(self.connect, "rdma_read_requester", "rdma_read_responder")

    def test_sync_events(self):
        self.both_ways(self.signal)

    def signal(self, of_exporter, of_importer, folder):
        program = {generation: BUILD_DIR / f"tests/generations/event_{generation}" for generation in GENERATIONS}
        with Program(program[of_exporter], "export", folder / "event") as exporter:
            exporter.says("exported")
            with Program(program[of_importer], "import", folder / "event") as importer:
                importer.ends(0, "done")
            exporter.ends(0, "done")


if __name__ == "__main__":
    if has_rdma_devices():
        print("this machine has RDMA devices, beside which software devices are not listed by themselves")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
