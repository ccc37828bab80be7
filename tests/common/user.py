# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The environment in which users start programs."""
import os


def environment(**variables):
    """That of this process without what belongs to DOCA, and these variables.

    Programs of the build know where their libraries are. The path that meson sets has those of both generations, so that a
    program could get the other one's. With OPENDOCA_TEST_STRICT=1 software devices are strict (docs/strict.md).
    """
    if os.environ.get("OPENDOCA_TEST_STRICT") == "1":
        variables = {"DOCA_SOFT_STRICT": "1"} | variables
    return {name: value for name, value in os.environ.items()
            if not name.startswith("DOCA_") and name != "LD_LIBRARY_PATH"} | variables
