# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What programs of the older levels do, a program for each: name, levels, and how it is run."""

# Where the programs, the headers and the libraries are.
PROGRAMS = "programs"
INCLUDE = "include"
LIBRARIES = {"common": "src/core", "dma": "src/dma", "argp": "src/argp", "comm_channel": "src/comm_channel", "sha": "src/sha"}

LEVELS = [10300, 10400, 10500, 20002]
OLDEST, NEWER, EVERY = LEVELS[:2], LEVELS[2:], LEVELS

# One process: program, levels.
SINGLE = [
    ("find_device", NEWER),
    ("device_queries", NEWER),
    ("emulated_filters", [10300, 10400, 10500]),
    ("device_properties", OLDEST),
    ("remotes", [10300]),
    ("rep_properties", OLDEST),
    ("local_copy_1_3", OLDEST),
    ("local_copy_1_5", NEWER),
    ("local_copy_2_0", [20002]),
    ("many_jobs", EVERY),
    ("overwriting", EVERY),
    ("many_ranges", EVERY),
    ("sleeping", EVERY),
    ("threads", EVERY),
    ("names_and_values", EVERY),
    ("digest", NEWER),
    ("keys", [10300, 10400, 10500]),
    ("export_faults", EVERY),
    ("logging", EVERY),
    ("arguments", EVERY),
    ("mixed", EVERY),
    ("copy", EVERY),
    ("export_pointers", OLDEST),
]
ARGUMENTS = {"arguments": ["-p", "03:00.0", "-l", "64", "-f", "--log-level", "60"]}
OTHER_FILES = {"mixed": ["mixed_today.c"]}
CXX_STANDARDS = ["c++17", "c++20"]

# Two processes: first program and its argument, second and its argument, levels of the one, of the other.
HOST, DPU, OTHER_HOST = "0b:00.0", "03:00.0", "0b:00.1"
ROLES = {HOST: "host", OTHER_HOST: "host", DPU: "dpu"}  # of a process with this argument
BORROWED = {}  # programs of other levels in PAIRS, with the module that has them
WITH_DESCRIPTOR = {"exporter"}  # first programs that write bytes after their line
PAIRS = [
    ("host exports", ("exporter", HOST), ("importer", DPU), [(n, n) for n in LEVELS]),
    ("DPU exports", ("exporter", DPU), ("importer", HOST), [(n, n) for n in LEVELS] + [(10500, 20002), (20002, 10400)]),
    ("text meets bytes", ("exporter", HOST), ("importer", DPU), [(10300, 10500), (10500, 10300), (20002, 10300)]),
    ("other port", ("exporter", DPU), ("importer_refused", OTHER_HOST), [(n, n) for n in LEVELS]),
    ("blocking channel", ("cc_blocking_server", None), ("cc_blocking_client", None), [(10300, 10300)]),
    ("channel", ("cc_server", None), ("cc_client", None), [(n, n) for n in LEVELS] + [(10300, 20002)]),
]
