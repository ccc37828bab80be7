#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The samples of DOCA 3.0, each as its user starts it.

    test_v3_samples.py FOLDER
"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

FOLDER = pathlib.Path(sys.argv[1])
LOCAL_COPY, COPY_HOST, COPY_DPU = (FOLDER / f"doca_v3_dma_{name}" for name in ("local_copy", "copy_host", "copy_dpu"))
ENVIRONMENT = environment(DOCA_SOFT="1")


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=300)
    return done.returncode, done.stdout + done.stderr


class Samples(unittest.TestCase):
    def test_a_local_copy(self):
        code, said = run(LOCAL_COPY, "-t", "a text of the test")
        self.assertEqual(0, code, said)
        self.assertIn("Copied 19 bytes: a text of the test", said)
        self.assertIn("The DMA context was idle and is running", said)
        self.assertIn("Sample finished successfully", said)

    def test_no_device_at_the_address(self):
        code, said = run(LOCAL_COPY, "-p", "ff:00.0")
        self.assertEqual(1, code, said)
        self.assertIn("No device at ff:00.0 that suits", said)

    def test_the_dpu_copies_text_of_the_host(self):
        with tempfile.TemporaryDirectory() as place:
            files = ["-d", f"{place}/descriptor", "-b", f"{place}/buffer"]
            with subprocess.Popen([COPY_HOST, "-t", "text of the host", *files], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT) as host:
                said = ""
                while "press Enter" not in said:
                    line = host.stdout.readline()
                    self.assertTrue(line, said)
                    said += line
                code, of_dpu = run(COPY_DPU, *files)
                self.assertEqual(0, code, of_dpu)
                self.assertIn("Copied 17 bytes of the host: text of the host", of_dpu)
                said += host.communicate("\n", timeout=300)[0]
                self.assertEqual(0, host.returncode, said)
            # Its memory went with the host.
            code, of_dpu = run(COPY_DPU, *files)
            self.assertEqual(1, code, of_dpu)

    def test_what_the_host_wrote_is_not_trusted(self):
        with tempfile.TemporaryDirectory() as place:
            for name, text in (("descriptor", "x" * 100), ("buffer", "12 99999999\n")):
                pathlib.Path(place, name).write_text(text, encoding="utf-8")
            code, said = run(COPY_DPU, "-d", f"{place}/descriptor", "-b", f"{place}/buffer")
            self.assertEqual(1, code, said)
            self.assertIn("does not tell where", said)

    def test_no_argument_is_ignored(self):
        samples = sorted(path for path in FOLDER.glob("doca_v3_*") if path.is_file())
        self.assertGreater(len(samples), 25)
        for sample in samples:
            for arguments in ["--no-such-option"], ["word"]:
                code, said = run(sample, *arguments)
                self.assertEqual(1, code, f"{sample.name} {arguments}: {said}")
                self.assertIn("The arguments cannot be used", said, sample.name)

    def test_waiting_without_sleep_is_an_option(self):
        for name in "sha_create", "sha_partial_create", "pe_multi_context", "pe_reactive", "pe_async_stop", "graph":
            self.succeeds(name, arguments=["--busy"])
        # One that teaches polling has no choice.
        code, said = run(FOLDER / "doca_v3_pe_polling", "--busy")
        self.assertEqual(1, code, said)

    def succeeds(self, name, *texts, arguments=()):
        code, said = run(FOLDER / f"doca_v3_{name}", *arguments)
        self.assertEqual(0, code, said)
        for text in *texts, "Sample finished successfully":
            self.assertIn(text, said)

    def test_the_progress_engine(self):
        self.succeeds("pe_polling", "16 copies have ended well, and 0 have failed")
        self.succeeds("pe_event", "16 copies have ended well, and 0 have failed")
        self.succeeds("pe_multi_context", "64 copies have ended well, and 0 have failed")
        self.succeeds("pe_task_resubmit", "16 copies have ended well, and 0 have failed")
        self.succeeds("pe_reactive", "The context was idle and is running", "16 copies have ended well, and 0 have failed",
                      "The context was stopping and is idle")

    def test_a_stop_with_tasks_in_flight(self):
        self.succeeds("pe_async_stop", "The context was running and is stopping, with 12 tasks in flight",
                      "The context was stopping and is idle, with 0 tasks in flight")

    def test_tasks_that_fail(self):
        self.succeeds("pe_task_error", "Tried to submit a copy of nothing: Invalid value",
                      "The context was running and is stopping", "2 copies have ended well, and 14 have failed")

    def test_advice(self):
        self.succeeds("cache_invalidate", "The cache has no line of the source: Success")

    def test_a_graph(self):
        self.succeeds("graph", "Compared 2 copies: Success")

    def test_hashes(self):
        text = "any text of this test " * 20
        for data, arguments in (b"1234567890abcdef", ()), (text.encode(), ("-d", text)):
            self.succeeds("sha_create", f"SHA-256 of {len(data)} bytes: {hashlib.sha256(data).hexdigest()}",
                          arguments=arguments)
        self.succeeds("sha_partial_create", "Hashed 64 bytes")
        for size in 65, 128, 129, 4000:
            data = "x" * size
            self.succeeds("sha_partial_create",
                          f"SHA-256 of {size} bytes: {hashlib.sha256(data.encode()).hexdigest()}", arguments=("-d", data))

    def test_erasure_coding(self):
        self.succeeds("ec_create", "Block 3, data: " + "41" * 16, "Block 4, redundancy: ", arguments=("-d", "A" * 256))
        for arguments in (), ("-d", "x"), ("-d", "any text of this test " * 20), ("--busy",):
            self.succeeds("ec_recover", "The blocks 3 and 5 are lost", "Recovered 15 pairs of blocks", arguments=arguments)
            self.succeeds("ec_update", "Block 1 and the redundancy have changed", "Block 5 is right", arguments=arguments)

    def test_authenticated_encryption(self):
        # Test case 4 of the specification of GCM.
        aad = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        text = bytes.fromhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                             "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
        sealed = bytes.fromhex("42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
                               "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
                               "5bc94fbc3221a5db94fae95ae7121a47")
        with tempfile.TemporaryDirectory() as folder:
            plain, there, back = (pathlib.Path(folder, name) for name in ("plain", "there", "back"))
            plain.write_bytes(aad + text)
            options = ["-k", "feffe9928665731c6d6a8f9467308308", "-i", "cafebabefacedbaddecaf888", "-a", "20"]
            self.succeeds("aes_gcm_encrypt", "80 bytes became 96 bytes", arguments=[*options, "-f", plain, "-o", there])
            self.assertEqual(there.read_bytes(), aad + sealed)
            self.succeeds("aes_gcm_decrypt", "96 bytes became 80 bytes", arguments=[*options, "-f", there, "-o", back])
            self.assertEqual(back.read_bytes(), aad + text)
            plain.write_bytes(bytes(range(256)) * 4096)
            options = ["-k", "ab" * 32, "-t", "12", "--busy"]
            self.succeeds("aes_gcm_encrypt", arguments=[*options, "-f", plain, "-o", there])
            self.succeeds("aes_gcm_decrypt", arguments=[*options, "-f", there, "-o", back])
            self.assertEqual(back.read_bytes(), plain.read_bytes())
            back.unlink()
            there.write_bytes(there.read_bytes()[:-1] + b"x")
            code, said = run(FOLDER / "doca_v3_aes_gcm_decrypt", *options, "-f", there, "-o", back)
            self.assertEqual(1, code, said)
            self.assertIn("The tag is wrong", said)
            self.assertFalse(back.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
