# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The SHA samples, next to another program's SHA-256."""

import hashlib
import json

from program import check

SAMPLES = ("sha_create", "sha_partial_create")


def expected(text):
    data = text.encode()
    return f"SHA-256 of {len(data)} bytes: {hashlib.sha256(data).hexdigest()}"


def test_sha(bench):
    for name in SAMPLES:
        program = bench.start(name, side="all")
        # The software device has the engine of the one whose place it takes; libibverbs knows none.
        program.succeeds("Starting the sample", f"The device hashes in {'software' if bench.devices else 'hardware'}",
                         expected("This text is hashed by SHA-256"))


def test_sha_of_a_text(bench):
    for name in SAMPLES:
        for side, text in (("dpu", "abc"), ("host", "Ünïcödé and 100 % of it"), ("dpu", "x" * 4095)):
            bench.start(name, "-d", text, side=side).succeeds(expected(text))
    path = bench.folder / "arguments.json"
    path.write_text(json.dumps({"doca_program_flags": {"data": "from JSON"}}))
    bench.start("sha_create", "-j", path, side="dpu").succeeds(expected("from JSON"))


def test_sha_pieces(bench):
    for length, pieces in ((1, "1 piece"), (63, "1 piece"), (64, "1 piece"), (65, "2 pieces"), (128, "2 pieces"),
                           (1000, "16 pieces")):
        text = "0123456789" * 100
        program = bench.start("sha_partial_create", "--data", text[:length], side="dpu")
        program.succeeds(f"Hashed in {pieces}", expected(text[:length]))


def test_sha_wrong_arguments(bench):
    for name in SAMPLES:
        bench.start(name, "-d", "x" * 4096, side="dpu").fails("The data has 4096 bytes, and 1 to 4095 are possible")
        bench.start(name, "-d", "", side="dpu").fails("1 to 4095 are possible")
        bench.start(name, "--nonsense", side="dpu").fails("nonsense")
        program = bench.start(name, "-h", side="dpu")
        check(program.wait() == 0, "the exit status is not 0")
        program.says("-d, --data")


def test_sha_without_devices(bench):
    for name in SAMPLES:
        bench.start(name, side="dpu", env={"DOCA_SOFT": "no"}).fails("DOCA_SOFT is 'no'")
