#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The compress samples of DOCA 3.0, in both directions with the tools of others: gzip, zlib-flate (qpdf) and lz4.

    test_v3_compress_samples.py FOLDER
"""
import gzip
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

FOLDER = pathlib.Path(sys.argv[1])
ENVIRONMENT = environment(DOCA_SOFT="1")
GZIP_HEADER = bytes((0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255))


def contents():
    source = pathlib.Path(__file__).read_bytes()
    noise = random.Random(34).randbytes(100000)
    return {"one byte": b"x", "text": source * 50, "noise": noise, "zeros": bytes(5000000),
            "mixed": source + noise + bytes(70000) + source}


class CompressSamples(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def run_sample(self, name, data, *arguments):
        """(exit status, log, output) of a sample that gets @p data as its file."""
        source, target = self.place / "input", self.place / "output"
        source.write_bytes(data)
        target.unlink(missing_ok=True)
        done = subprocess.run([FOLDER / f"doca_v3_{name}", "-i", source, "-o", target, *arguments], capture_output=True,
                              text=True, check=False, env=ENVIRONMENT, timeout=300)
        return done.returncode, done.stdout + done.stderr, target.read_bytes() if target.exists() else None

    def output_of(self, name, data, *arguments):
        code, said, output = self.run_sample(name, data, *arguments)
        self.assertEqual(0, code, said)
        self.assertIn("Sample finished successfully", said)
        return output, said

    def tool(self, *command, data):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout

    def test_gzip_reads_what_was_compressed(self):
        for name, content in contents().items():
            with self.subTest(name):
                stream, said = self.output_of("compress_deflate", content)
                self.assertIn(f"CRC-32 {zlib.crc32(content):08x}, second checksum {zlib.adler32(content):08x}", said)
                frame = GZIP_HEADER + stream + struct.pack("<II", zlib.crc32(content), len(content))
                self.assertEqual(content, self.tool("gzip", "-dc", data=frame))

    def test_zlib_flate_reads_what_was_compressed_with_the_frame(self):
        for name, content in contents().items():
            with self.subTest(name):
                stream, _ = self.output_of("compress_deflate", content, "-z")
                self.assertEqual(content, self.tool("zlib-flate", "-uncompress", data=stream))

    def test_what_gzip_has_written_is_read(self):
        for name, content in contents().items():
            for level in "-1", "-6", "-9":
                with self.subTest(name, level=level):
                    frame = self.tool("gzip", "-nc", level, data=content)
                    # The trailer of gzip stays behind the stream.
                    result, said = self.output_of("decompress_deflate", frame[len(GZIP_HEADER):])
                    self.assertEqual(content, result)
                    self.assertIn(f"CRC-32 {struct.unpack('<I', frame[-8:-4])[0]:08x}", said)
                    self.assertEqual(content, gzip.decompress(frame))

    def test_what_zlib_flate_has_written_is_read(self):
        for name, content in contents().items():
            with self.subTest(name):
                stream = self.tool("zlib-flate", "-compress", data=content)
                result, _ = self.output_of("decompress_deflate", stream, "-z")
                self.assertEqual(content, result)
                wrong = stream[:-1] + bytes((stream[-1] ^ 1,))
                code, said, result = self.run_sample("decompress_deflate", wrong, "-z")
                self.assertEqual(1, code)
                self.assertIn("another Adler-32", said)
                self.assertIsNone(result)

    def test_what_lz4_has_written_is_read(self):
        for name, content in contents().items():
            for arguments in (), ("-9",), ("-BX",), ("-BD",), ("-B4", "-BD", "-BX"), ("--content-size",), ("--no-frame-crc",):
                with self.subTest(name, arguments=arguments):
                    frame = self.tool("lz4", "-c", *arguments, data=content)
                    if "--content-size" in arguments:  # lz4 knows the size of a file only
                        (self.place / "content").write_bytes(content)
                        frame = self.tool("lz4", "-c", *arguments, str(self.place / "content"), data=b"")
                    result, said = self.output_of("decompress_lz4_stream", frame)
                    self.assertEqual(content, result)
                    self.assertIn(f"CRC-32 {zlib.crc32(content):08x}", said)

    def test_wrong_checksums_of_lz4_are_found(self):
        content = contents()["text"]
        frame = bytearray(self.tool("lz4", "-c", data=content))
        frame[-1] ^= 1
        code, said, _ = self.run_sample("decompress_lz4_stream", bytes(frame))
        self.assertEqual(1, code)
        self.assertIn("another checksum", said)
        frame = bytearray(self.tool("lz4", "-c", "-BX", data=content))
        frame[20] ^= 1
        code, said, _ = self.run_sample("decompress_lz4_stream", bytes(frame))
        self.assertEqual(1, code)
        self.assertIn("The task has failed: ", said)

    def test_a_block_of_lz4_is_read(self):
        content = contents()["text"][:60000]
        frame = self.tool("lz4", "-c", data=content)
        size = struct.unpack("<I", frame[7:11])[0]
        result, _ = self.output_of("decompress_lz4_block", frame[11:11 + size])
        self.assertEqual(content, result)

    def test_what_is_corrupt_fails(self):
        for name in "decompress_deflate", "decompress_lz4_block":
            with self.subTest(name):
                code, said, result = self.run_sample(name, b"\xff" * 100)
                self.assertEqual(1, code)
                self.assertIn("The task has failed: ", said)
                self.assertIsNone(result)
        code, said, _ = self.run_sample("decompress_lz4_stream", b"x" * 100)
        self.assertEqual(1, code)
        self.assertIn("no LZ4 frame", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
