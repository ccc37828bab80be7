#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""doca_trace on samples of both API generations. Arguments: doca_trace, the copying sample of 2.2, and of 3.0 those that
copy, encrypt, decompress LZ4 streams, and recover lost blocks; the last two are empty in a build that can't do it."""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

DOCA_TRACE = OF_2 = OF_3 = OF_AES_GCM = OF_LZ4 = OF_CODING = ""
LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{6} (?P<thread>\d+) (?P<name>doca_\w+)\((?P<arguments>.*)\)"
                  r"(?: = (?P<result>[^\[]*?))?(?: \[(?P<outputs>.*)\])? <\d+\.\d{3} us>")


def run(*command, **variables):
    return subprocess.run(command, capture_output=True, text=True, check=False,
                          env=environment(DOCA_SOFT="1") | variables)


def without_stamps(log):
    """Times, process numbers and addresses differ from run to run."""
    return re.sub(r"\[[\d:]+\]|0x[0-9a-f]+", "", log)


class DocaTrace(unittest.TestCase):
    def test_a_program_that_cannot_be_run_is_reported_by_name(self):
        for options in [], ["--json", "--output", "/dev/null"]:
            for program in "/no/such", "no-such-program", "/etc/passwd", "/tmp":
                done = run(DOCA_TRACE, *options, program)
                self.assertEqual((127, ""), (done.returncode, done.stdout))
                self.assertEqual(f"doca_trace: '{program}' is no program that can be run\n", done.stderr)

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = pathlib.Path(directory.name) / "trace"

    def trace(self, program, *arguments, options=()):
        done = run(DOCA_TRACE, *options, "--output", str(self.file), program, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def calls(self, program, *arguments):
        self.trace(program, *arguments)
        lines = self.file.read_text().splitlines()
        found = [LINE.fullmatch(line) for line in lines if "calls found nothing" not in line]
        self.assertNotIn(None, found, "\n".join(lines))
        return found

    def test_a_program_of_each_generation_prints_the_same_with_it(self):
        for program in (OF_2, OF_3):
            without = run(program)
            with_it = self.trace(program)
            self.assertEqual(without_stamps(without.stdout), without_stamps(with_it.stdout))
            self.assertGreater(len(self.file.read_text().splitlines()), 20)

    def test_arguments_results_and_outputs_are_decoded(self):
        for program, create in ((OF_2, "doca_mmap_create"), (OF_3, "doca_mmap_create")):
            calls = self.calls(program)
            made = next(call for call in calls if call["name"] == create)
            self.assertEqual(made["result"], "DOCA_SUCCESS")
            address = re.search(r"mmap = (0x[0-9a-f]+)", made["outputs"]).group(1)
            memrange = next(call for call in calls if call["name"] == "doca_mmap_set_memrange")
            self.assertRegex(memrange["arguments"], rf"^mmap={address}, addr=0x[0-9a-f]+, len=\d+$")

    def test_each_argument_of_the_longest_list_reaches_the_function(self):
        plain, encrypted = self.file.with_name("plain"), self.file.with_name("encrypted")
        plain.write_text("ten parameters")
        calls = self.calls(OF_AES_GCM, "-f", str(plain), "-o", str(encrypted))
        made = next(call for call in calls if call["name"] == "doca_aes_gcm_task_encrypt_alloc_init")
        self.assertEqual(made["result"], "DOCA_SUCCESS")
        self.assertRegex(made["outputs"], "task = 0x[0-9a-f]+")
        self.assertTrue(encrypted.read_bytes())

    def test_arguments_of_compression_reach_the_function(self):
        if not OF_LZ4:
            self.skipTest("built without liblz4")
        frame, content = self.file.with_name("frame"), self.file.with_name("content")
        # A block that stands as it is, and the end mark, behind a header without checksums.
        frame.write_bytes(bytes.fromhex("04224d18604082") + struct.pack("<I", 1 << 31 | 16) + b"seven parameters" + bytes(4))
        calls = self.calls(OF_LZ4, "-i", str(frame), "-o", str(content))
        made = next(call for call in calls if call["name"] == "doca_compress_task_decompress_lz4_stream_alloc_init")
        self.assertEqual(made["result"], "DOCA_SUCCESS")
        self.assertRegex(made["arguments"], "has_block_checksum=0, are_blocks_independent=1, src_buff=0x[0-9a-f]+")
        self.assertRegex(made["outputs"], "task = 0x[0-9a-f]+")
        self.assertEqual(content.read_bytes(), b"seven parameters")

    def test_arguments_of_erasure_coding_reach_the_function(self):
        if not OF_CODING:
            self.skipTest("built without ISA-L")
        calls = self.calls(OF_CODING)
        matrix = next(call for call in calls if call["name"] == "doca_ec_matrix_create_recover")
        self.assertEqual(matrix["result"], "DOCA_SUCCESS")
        self.assertRegex(matrix["arguments"], "n_missing=2")
        made = [call for call in calls if call["name"] == "doca_ec_task_recover_allocate_init"]
        self.assertEqual(len(made), 15)
        for call in made:
            self.assertEqual(call["result"], "DOCA_SUCCESS")
            self.assertRegex(call["outputs"], "task = 0x[0-9a-f]+")

    def test_a_job_and_its_event_are_decoded(self):
        calls = self.calls(OF_2)
        submit = next(call for call in calls if call["name"] == "doca_workq_submit")
        job = re.search(r"job=\{type=(0x[0-9a-f]+), flags=0x0, ctx=0x[0-9a-f]+", submit["arguments"]).group(1)
        retrieve = next(call for call in calls if call["name"] == "doca_workq_progress_retrieve")
        self.assertIn(f"ev = {{type={job}", retrieve["outputs"])

    def test_trace_events_are_json(self):
        for program in (OF_2, OF_3):
            self.trace(program, options=["--json"])
            events = json.loads(self.file.read_text())
            calls = [event for event in events if event["ph"] == "X"]
            self.assertGreater(len(calls), 20)
            self.assertIn("DOCA_SUCCESS", calls[0]["args"]["result"])
            self.assertTrue(all(event["dur"] >= 0 and event["ts"] > 0 for event in calls))

    def test_polling_is_one_line(self):
        # A second process never comes: the program polls until it is ended.
        program = pathlib.Path(self.file.parent) / "poll.py"
        program.write_text("import ctypes, sys\n"
                           "library = ctypes.CDLL(None)\n"
                           "for _ in range(1000):\n"
                           "    library.doca_pe_progress(None)\n"
                           "library.doca_pe_destroy(None)\n")
        tree = pathlib.Path(OF_3).resolve()
        common = next(parent for parent in tree.parents if (parent / "src").is_dir()) / "src/core/v3/libdoca_common.so.2"
        done = run("env", f"LD_PRELOAD={common}", DOCA_TRACE, "--output", str(self.file), sys.executable, str(program))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = self.file.read_text().splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r" doca_pe_progress: 1000 calls found nothing <")
        self.assertRegex(lines[1], r" doca_pe_destroy\(pe=NULL\) = DOCA_ERROR_INVALID_VALUE <")

    def test_the_programs_status_is_the_status(self):
        self.assertEqual(run(DOCA_TRACE, "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(run(DOCA_TRACE, "--json", "--output", str(self.file), "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(json.loads(self.file.read_text())[-1]["ph"], "M")

    def test_wrong_usage(self):
        for arguments in ([], ["--json", "true"], ["--no-such", "true"], ["--output"]):
            done = run(DOCA_TRACE, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage" if arguments != ["--json", "true"] else "--output", done.stderr)


if __name__ == "__main__":
    DOCA_TRACE, OF_2, OF_3, OF_AES_GCM, OF_LZ4, OF_CODING = sys.argv[1:7]
    unittest.main(argv=sys.argv[:1])
