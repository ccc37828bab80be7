#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Two releases of opendoca on one machine, as docs/versioning.md promises: the loader refuses a mixture of their
libraries in one process, and processes of one work with processes of the other.

    test_releases.py BUILD_DIR DOCA_CAPS

Environment: OPENDOCA_LAST_RELEASE  the SDK of the last release, installed anywhere. Without it the other release is this
build under another number, which has the same formats by construction.
"""
import os
import pathlib
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
CLEAN = environment(DOCA_SOFT="1")


class Releases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.place.name)
        cls.ours = other_release.of_build(BUILD, root / "ours")
        (root / "other").mkdir()
        cls.other = (other_release.of_sdk(LAST_RELEASE, root / "other") if LAST_RELEASE
                     else other_release.relinked(BUILD, root / "other"))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    # One process

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

    # Two processes

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
        for first, second in self.both_ways():
            server = self.begin(first, "cc_server", role="dpu")
            server.wait_for("listens")
            self.begin(second, "cc_client", "-t", "a text", role="host").succeeds("Greetings from the DPU")
            server.succeeds("The client says: a text")

    def test_they_talk_by_comch(self):
        for first, second in self.both_ways():
            server = self.begin(first, "3.0/comch_data_path_high_speed_server")
            server.wait_for("The server was idle and is running")
            self.begin(second, "3.0/comch_data_path_high_speed_client", "-n", "100", "-t", "x").succeeds("Sent 100 messages")
            server.succeeds("Received 100 messages")

    def test_they_connect_by_rdma(self):
        for sample in "rdma_write", "3.0/rdma_write":
            for first, second in self.both_ways():
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
                sides["requester"].succeeds()
                sides["responder"].press_enter()
                sides["responder"].succeeds("The requester has written")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
