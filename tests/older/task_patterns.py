# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What programs of DOCA 2.5 to 2.8 do, in the form of patterns.py."""

import patterns

PROGRAMS = "tasks"
INCLUDE = "include/3.0"
LIBRARIES = {"common": "src/core/v3", **{name: f"src/{name}/v3" for name in
             ("dma", "argp", "comch", "sha", "rdma", "compress", "erasure_coding")}}

LEVELS = [20500, 20600, 20700, 20800]
KNOWN, EVERY = LEVELS[:2], LEVELS  # the levels whose facts are known, and those with what is inferred

SINGLE = [
    ("local_copy", EVERY),
    ("all_headers", EVERY),
    ("rdma_one_connection", KNOWN),
    ("sync_event", EVERY),
    ("digest", EVERY),
    ("compress", EVERY),
    ("erasure_coding", EVERY),
    ("names_and_values", EVERY),
    ("limits", [20500]),
    ("mixed", KNOWN),
]
ARGUMENTS = {}
OTHER_FILES = {"mixed": ["mixed_today.c"]}
CXX_STANDARDS = ["c++17", "c++20"]

HOST, DPU = "0b:00.0", "03:00.0"
ROLES = {HOST: "host", DPU: "dpu"}
BORROWED = {"cc_server": patterns, "cc_client": patterns}
WITH_DESCRIPTOR = {"exporter", "event_host"}
PAIRS = [
    ("host exports", ("exporter", HOST), ("importer", DPU), [(n, n) for n in LEVELS]),
    ("sync event", ("event_host", HOST), ("event_dpu", DPU), [(n, n) for n in LEVELS]),
    ("messages", ("message_server", None), ("message_client", None),
     [(n, n) for n in LEVELS] + [(20500, 20800), (20700, 20600)]),
    ("endpoints", ("endpoint_server", None), ("endpoint_client", None), [(n, n) for n in LEVELS]),
    ("endpoints, one of jobs", ("cc_server", None), ("endpoint_client", None), [(20002, 20500), (10500, 20600)]),
    ("endpoints, one of jobs", ("endpoint_server", None), ("cc_client", None), [(20500, 20002), (20600, 10500)]),
]
