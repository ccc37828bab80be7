# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The samples of compression, next to zlib, and of erasure coding."""

import pathlib
import zlib

from program import check


def convert(bench, name, data, side="dpu"):
    """Gives a sample a file of the data: (the program, the file that it writes)."""
    source, target = bench.folder / "input", bench.folder / "output"
    source.write_bytes(data)
    target.unlink(missing_ok=True)
    return bench.start(name, "-i", source, "-o", target, side=side), target


def contents():
    text = pathlib.Path(__file__).read_bytes()
    return b"x", text * 50, bytes(5000000), zlib.compress(text)


def test_compress(bench):
    for content in contents():
        sums = f"CRC-32 {zlib.crc32(content):08x}, Adler-32 {zlib.adler32(content):08x}"
        program, packed = convert(bench, "compress_deflate", content)
        program.succeeds("Starting the sample", sums)
        check(zlib.decompress(packed.read_bytes(), wbits=-15) == content, "zlib reads something else")
        compressor = zlib.compressobj(wbits=-15)
        program, plain = convert(bench, "decompress_deflate", compressor.compress(content) + compressor.flush(), "host")
        program.succeeds(sums)
        check(plain.read_bytes() == content, "the content has changed")


def test_compress_errors(bench):
    program, plain = convert(bench, "decompress_deflate", b"\xff" * 100)
    program.fails("The job has failed: ")
    check(not plain.exists(), "there is a file of a job that has failed")
    for name in ("compress_deflate", "decompress_deflate"):
        bench.start(name, "-i", bench.folder / "nothing", "-o", plain, side="dpu").fails("Cannot open")
        bench.start(name, "-i", "x" * 4096, "-o", plain, side="dpu").fails("1 to 4095 are possible")
        bench.start(name, side="dpu").fails("input")


def product(one, other):
    """In GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1."""
    result = 0
    for bit in range(8):
        result ^= one << bit if other >> bit & 1 else 0
    for bit in range(14, 7, -1):
        result ^= 0x11d << bit - 8 if result >> bit & 1 else 0
    return result


def cauchy(values, number):
    """The redundancy of bytes."""
    total = 0
    for index, value in enumerate(values):
        inverse = next(x for x in range(256) if product(x, index ^ len(values) + number) == 1)
        total ^= product(inverse, value)
    return total


def test_erasure_coding(bench):
    # Four blocks of equal bytes, of which the last one is filled up with zeros.
    values = [ord(letter) for letter in "abc"] + [0]
    bench.start("ec_create", "-d", "a" * 64 + "b" * 64 + "c" * 64, side="dpu").succeeds(
        "Starting the sample", "Block 2, data: " + "63" * 16, "Block 3, data: " + "00" * 16,
        *(f"Block {4 + number}, redundancy: " + f"{cauchy(values, number):02x}" * 16 for number in range(2)))
    for text in ("abc", "x" * 64, "Ünïcödé and 100 % of it", "0123456789" * 409):
        bench.start("ec_create", "--data", text, side="host").succeeds("Block 5, redundancy: ")
        bench.start("ec_recover", "--data", text, side="dpu").succeeds(
            "The blocks 0 and 1 were lost and are back", "The blocks 4 and 5 were lost and are back",
            "Recovered 15 pairs of blocks")


def test_erasure_coding_wrong_arguments(bench):
    for name in ("ec_create", "ec_recover"):
        bench.start(name, "-d", "x" * 4096, side="dpu").fails("The data has 4096 bytes, and 1 to 4095 are possible")
        bench.start(name, side="dpu", env={"DOCA_SOFT": "no"}).fails("DOCA_SOFT is 'no'")
