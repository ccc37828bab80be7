#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Two releases of opendoca on one machine, as docs/versioning.md promises: the loader refuses a mixture of their
libraries in one process, and processes of one work with processes of the other.

    test_releases.py BUILD_DIR DOCA_CAPS

Environment: OPENDOCA_LAST_RELEASE  the SDK of the last release, installed anywhere. Without it the other release is this
build under another number, which has the same formats by construction. With 0.9.0, whose formats differ, the test holds the two
against docs/upgrading.md.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import other_release
from program import Program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

BUILD, DOCA_CAPS = map(pathlib.Path, sys.argv[1:3])
LAST_RELEASE = os.environ.get("OPENDOCA_LAST_RELEASE")
FIRST = "0.9.0"  # whose formats differ, as docs/upgrading.md describes
CLEAN = environment(DOCA_SOFT="1")


@functools.cache
def releases():
    """The libraries of this build and of the other release, and the number of the latter."""
    place = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(place.cleanup)
    root = pathlib.Path(place.name)
    ours = other_release.of_build(BUILD, root / "ours")
    (root / "other").mkdir()
    other = (other_release.of_sdk(LAST_RELEASE, root / "other") if LAST_RELEASE else other_release.relinked(BUILD, root / "other"))
    number = re.search(rb"OPENDOCA_([0-9.]+)", (other["2.2"] / "libdoca_common.so.2").read_bytes())[1].decode()
    return ours, other, number


class Pairs(unittest.TestCase):
    """Programs with the libraries of one release and of the other."""

    @classmethod
    def setUpClass(cls):
        cls.ours, cls.other, cls.number = releases()

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def begin(self, release, name, *arguments, role="all"):
        generation = "3.0" if name.startswith("3.0/") else "2.2"
        environment = CLEAN | {"LD_LIBRARY_PATH": str(release[generation]), "DOCA_SOFT_ROLE": role,
                               "XDG_RUNTIME_DIR": str(self.folder)}
        program = Program(name, [BUILD / "samples" / name.replace("3.0/", "3.0/doca_v3_", 1)
                                 if generation == "3.0" else BUILD / "samples" / f"doca_{name}", *arguments], environment)
        self.addCleanup(program.stop)
        return program

    def both_ways(self):
        return (self.ours, self.other), (self.other, self.ours)

    def talk_by_comm_channel(self):
        for first, second in self.both_ways():
            server = self.begin(first, "cc_server", role="dpu")
            server.wait_for("listens")
            self.begin(second, "cc_client", "-t", "a text", role="host").succeeds("Greetings from the DPU")
            server.succeeds("The client says: a text")

    def begin_rdma(self, sample, first, second):
        """Starts requester and responder, and exchanges their files; both connect then."""
        files = {side: [self.folder / f"{side}-{what}" for what in ("local", "remote", "mmap")]
                 for side in ("requester", "responder")}
        sides = {side: self.begin(release, f"{sample}_{side}", "-ld", local, "-re", remote, "-m", mmap)
                 for (side, (local, remote, mmap)), release in zip(files.items(), (first, second))}
        for side in sides.values():
            side.wait_for("Copy the files")
        shutil.copy(files["requester"][0], files["responder"][1])
        shutil.copy(files["responder"][0], files["requester"][1])
        shutil.copy(files["responder"][2], files["requester"][2])
        for side in sides.values():
            side.press_enter()
        return sides["requester"], sides["responder"]


class OneProcess(Pairs):
    """Libraries of both releases in one process."""

    def mixed(self, generation, library):
        """This release with one library of the other one."""
        folder = self.folder / f"{generation}-with-other-{library}"
        shutil.copytree(self.ours[generation], folder)
        shutil.copy(self.other[generation] / library, folder)
        return folder

    def start(self, program, libraries):
        return subprocess.run([program], env=CLEAN | {"LD_LIBRARY_PATH": str(libraries)}, capture_output=True, text=True,
                              check=False, timeout=60)

    def test_the_loader_refuses_libraries_of_two_releases(self):
        programs = {"2.2": BUILD / "samples/doca_dma_local_copy", "3.0": BUILD / "samples/3.0/doca_v3_dma_local_copy"}
        for generation, program in programs.items():
            for folder in self.ours[generation], self.other[generation]:
                done = self.start(program, folder)
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            for library in "libdoca_common.so.2", "libdoca_dma.so.2":
                with self.subTest(generation=generation, library=library):
                    done = self.start(program, self.mixed(generation, library))
                    self.assertNotEqual(0, done.returncode)
                    self.assertRegex(done.stderr, r"libdoca_common\.so\.2: version `OPENDOCA_[\d.]+' not found "
                                                  r"\(required by .*libdoca_dma\.so\.2\)")

    def test_a_tool_keeps_its_libraries_and_refuses_those_of_another_release(self):
        done = self.start(DOCA_CAPS, self.other["2.2"])
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        done = subprocess.run([DOCA_CAPS], env=CLEAN | {"LD_PRELOAD": str(self.other["2.2"] / "libdoca_common.so.2")},
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertNotEqual(0, done.returncode)
        self.assertRegex(done.stderr, r"version `OPENDOCA_[\d.]+' not found \(required by .*doca_caps\)")


class TwoProcesses(Pairs):
    """A process of each release. Each one is the first to start in turn."""

    def setUp(self):
        super().setUp()
        if self.number == FIRST:
            self.skipTest(f"{FIRST} has other formats")

    def test_memory_is_imported(self):
        for sample in "dma_copy", "3.0/dma_copy":
            for first, second in self.both_ways():
                files = ["-d", self.folder / "descriptor", "-b", self.folder / "buffer"]
                host = self.begin(first, f"{sample}_host", "-t", "a text of the host", *files, role="host")
                host.wait_for("press Enter|Press Enter")
                self.begin(second, f"{sample}_dpu", *files, role="dpu").succeeds("a text of the host")
                host.press_enter()
                host.succeeds()

    def test_a_sync_event_is_imported(self):
        for first, second in self.both_ways():
            dpu = self.begin(first, "sync_event_dpu", "-d", "03:00.0", "-r", "0b:00.0", role="dpu")
            dpu.wait_for("listens")
            self.begin(second, "sync_event_host", "-d", "0b:00.0", role="host").succeeds("The other side has signalled")
            dpu.succeeds("The other side has signalled")

    def test_they_talk_by_comm_channel(self):
        self.talk_by_comm_channel()

    def test_they_talk_by_comch(self):
        for first, second in self.both_ways():
            server = self.begin(first, "3.0/comch_data_path_high_speed_server")
            server.wait_for("The server was idle and is running")
            self.begin(second, "3.0/comch_data_path_high_speed_client", "-n", "100", "-t", "x").succeeds("Sent 100 messages")
            server.succeeds("Received 100 messages")

    def test_they_connect_by_rdma(self):
        for sample in "rdma_write", "3.0/rdma_write":
            for first, second in self.both_ways():
                requester, responder = self.begin_rdma(sample, first, second)
                requester.succeeds()
                responder.press_enter()
                responder.succeeds("The requester has written")


class WithTheFirstRelease(Pairs):
    """A process of this release and one of 0.9.0: the table in docs/upgrading.md, with its log lines."""

    EARLIER = "it was written by an earlier version of opendoca and cannot be read by this one"
    LATER = "it was written by a later version of opendoca, which this one does not understand"
    PAGE = r"the page at descriptor \d+ of process \d+ is not its page of exports"

    def setUp(self):
        super().setUp()
        if self.number != FIRST:
            self.skipTest(f"the other release is {self.number}")

    def refuses(self, program, pattern):
        self.assertNotEqual(0, program.wait(), program.text())
        self.assertRegex(program.text(), pattern)

    def test_memory_is_refused(self):
        for sample in "dma_copy", "3.0/dma_copy":
            for first, second in self.both_ways():
                files = ["-d", self.folder / "descriptor", "-b", self.folder / "buffer"]
                host = self.begin(first, f"{sample}_host", "-t", "a text of the host", *files, role="host")
                host.wait_for("press Enter|Press Enter")
                self.refuses(self.begin(second, f"{sample}_dpu", *files, role="dpu"), self.PAGE)
                host.stop()

    def test_a_sync_event_is_refused(self):
        for first, second in self.both_ways():
            dpu = self.begin(first, "sync_event_dpu", "-d", "03:00.0", "-r", "0b:00.0", role="dpu")
            dpu.wait_for("listens")
            host = self.begin(second, "sync_event_host", "-d", "0b:00.0", role="host")
            self.refuses(dpu, self.PAGE)
            host.stop()

    def test_rdma_is_refused(self):
        for sample in "rdma_write", "3.0/rdma_write":
            for first, second in self.both_ways():
                for side, release in zip(self.begin_rdma(sample, first, second), (first, second)):
                    self.refuses(side, self.EARLIER if release is self.ours else self.LATER)

    def test_comm_channel_is_compatible(self):
        self.talk_by_comm_channel()

    def test_comch_finds_no_server(self):
        for first, second in self.both_ways():
            server = self.begin(first, "3.0/comch_data_path_high_speed_server")
            server.wait_for("The server was idle and is running")
            self.refuses(self.begin(second, "3.0/comch_data_path_high_speed_client", "-n", "100", "-t", "x"),
                         "has found no server")
            server.stop()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
