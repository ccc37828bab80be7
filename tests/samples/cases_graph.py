# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The graph sample: digests next to another program's SHA-256, and copies."""

import hashlib

NUM_INSTANCES = 5


def test_graph(bench):
    for arguments, env in (((), {}), (("--busy",), {}), ((), {"DOCA_SOFT_DEFER": "1"})):
        program = bench.start("graph", *arguments, side="all", env=env)
        lines = []
        for number in range(NUM_INSTANCES):
            text = f"Text number {number} is hashed and copied"
            digest = hashlib.sha256(text.encode()).hexdigest()
            lines += [f"Instance {number}: SHA-256 of '{text}': {digest}",
                      f"Instance {number}: the copy is equal to its source",
                      f"Instance {number} has ended: "]
        program.succeeds("Starting the sample", *lines)


def test_graph_refuses_arguments(bench):
    bench.start("graph", "-p", "03:00.0", side="all").fails("The arguments cannot be used")


def test_graph_without_devices(bench):
    bench.start("graph", side="all", env={"DOCA_SOFT": "no"}).fails("DOCA_SOFT is 'no'")
