#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The table of providers in the documentation is what doca_caps says on this machine.

    test_providers.py DOCA_CAPS GENERATION docs/providers.md [--write]

The page has a table for each generation of the API, below a heading that ends with its number. A column is compared
where the device that its name stands for below is present; --write replaces those columns. For mlx5 devices that is a
card made of software, with the profile in OPENDOCA_TEST_PROFILE, on the side that this runs on.
"""
import json
import os
import pathlib
import subprocess
import sys

COLUMNS = {"software: DPU port": "soft_p0", "software: subfunction": "soft_p0s0",
           "software: host function": "soft_pf0", "verbs: Soft-RoCE": "rxe0"}
# On a card made of software: profile, side and device.
PROFILES = {f"mlx5: {title}": place for title, place in
            {"BlueField-3": ("bluefield-3", "host", "mlx5_0"), "BlueField-2": ("bluefield-2", "host", "mlx5_0"),
             "ConnectX-7": ("connectx-7", "host", "mlx5_0"), "ConnectX-5": ("connectx-5", "host", "mlx5_0"),
             "BlueField, the DPU's port": ("bluefield-3", "dpu", "mlx5_0"),
             "BlueField, the DPU's subfunction": ("bluefield-3", "dpu", "mlx5_1")}.items()}


def cell(device, key):
    value = device["capabilities"][key]
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, str):
        return value
    # Of a verbs device, a limit is its own or its kernel's.
    return f"{value:,}" if device["provider"] == "soft" else "its own"


def columns_here(doca_caps):
    profile = os.environ.get("OPENDOCA_TEST_PROFILE")
    side = pathlib.PurePath(os.environ.get("OPENDOCA_CARD_SIDE", "")).name
    columns = {title: place[2] for title, place in PROFILES.items() if place[:2] == (profile, side)} if profile else COLUMNS
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DOCA_SOFT")}
    environment["DOCA_SOFT"] = "0" if profile else "1"
    report = json.loads(subprocess.run([doca_caps, "--json"], env=environment, stdout=subprocess.PIPE, check=True,
                                       timeout=300).stdout)
    devices = {device["ibdev"]: device for device in report["devices"]}
    return {title: {key: cell(devices[name], key) for key in devices[name]["capabilities"]}
            for title, name in columns.items() if name in devices}


def split(line):
    return [part.strip() for part in line.strip().strip("|").split("|")]


def columns_of(lines):
    if not lines:
        return {}
    titles = split(lines[0])[1:]
    rows = {split(line)[0].strip("`"): split(line)[1:] for line in lines[2:]}
    return {title: {key: cells[i] for key, cells in rows.items()} for i, title in enumerate(titles)}


def table_of(columns):
    keys = next(iter(columns.values()))
    lines = ["| capability | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| `{key}` | " + " | ".join(column.get(key, "?") for column in columns.values()) + " |" for key in keys]
    return lines


def place_of_table(lines, generation):
    """Where the table of this generation begins and ends."""
    heading = next(i for i, line in enumerate(lines) if line.startswith("## ") and line.endswith(f"DOCA {generation}"))
    end = next((i for i in range(heading + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
    rows = [i for i in range(heading, end) if lines[i].startswith("|")]
    return (rows[0], rows[-1] + 1) if rows else (heading + 2, heading + 2)


def main():
    doca_caps, generation, path = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    lines = path.read_text(encoding="utf-8").splitlines()
    start, end = place_of_table(lines, generation)
    table = lines[start:end]
    written, here = columns_of(table), columns_here(doca_caps)
    if "--write" in sys.argv:
        merged = {title: (written | here)[title] for title in COLUMNS | PROFILES if title in written | here}
        lines[start:end] = table_of(merged)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return 0
    stale = [f"{title}, {key}: '{written.get(title, {}).get(key)}' is written, and doca_caps says '{value}'"
             for title, column in here.items() for key, value in column.items()
             if written.get(title, {}).get(key) != value]
    stale += [f"{key}: doca_caps has no such capability"
              for title, column in here.items() for key in written.get(title, {}) if key not in column]
    print("\n".join(stale) or f"looked at: {', '.join(here)}")
    if stale:
        print(f"{path} is stale: {sys.argv[0]} {doca_caps} {generation} {path} --write")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
