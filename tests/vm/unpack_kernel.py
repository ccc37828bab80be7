#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Unpacks the kernel proper from a bootable image: unpack_kernel.py IMAGE RESULT. Fails where it can't."""

import lzma
import sys
import zlib

ELF = b"\x7fELF"


def unpack(image):
    xz = (b"\xfd7zXZ\0", lzma.LZMADecompressor)
    gzip = (b"\x1f\x8b\x08\0", lambda: zlib.decompressobj(31))
    for magic, decompressor in (xz, gzip):
        start = image.find(magic)
        while start >= 0:
            try:
                kernel = decompressor().decompress(image[start:])
            except (lzma.LZMAError, zlib.error):
                kernel = b""
            if kernel.startswith(ELF):
                return kernel
            start = image.find(magic, start + 1)
    return None


def main():
    with open(sys.argv[1], "rb") as file:
        kernel = unpack(file.read())
    if kernel is None:
        sys.exit(1)
    with open(sys.argv[2], "wb") as file:
        file.write(kernel)


if __name__ == "__main__":
    main()
