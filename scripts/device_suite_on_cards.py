#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Runs `meson test --suite device`, as the owner of a card does, on each card made of software and on each of its sides, one
after the other, and prints a table: docs/hardware.md. A side takes 10 to 20 minutes.

device_suite_on_cards.py [--build BUILD] [CARD...]

BUILD is a build tree, default build. A CARD is a profile, as "connectx-5", or a side of one, as "bluefield-3:dpu"; default
all. What a suite has printed is in BUILD/meson-logs/device-PROFILE-SIDE.txt. In the environment are what the suite itself
knows, OPENDOCA_TEST_PARTS and others: docs/testing.md. Exits 0 only if all that ran has passed.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
CARDS = ["bluefield-3:host", "bluefield-3:dpu", "bluefield-2:host", "bluefield-2:dpu", "connectx-7:host", "connectx-5:host",
         "infiniband:host"]
ROW = "{:<18}{:>8}{:>8}{:>9}{:>12}{:>9}"
TOTAL = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped, (\d+) of them as exceptions of the device$", re.M)


def run(card, build):
    """Runs the suite on one side of a card. Returns the counts as texts (None if it did not run to its end), the lines of
    the tests that have failed, and meson's exit status."""
    name = "device-" + card.replace(":", "-")
    profile, side = card.split(":")
    for old in (build / "meson-logs").glob(f"{name}.*"):
        old.unlink()
    status = subprocess.run(
        [SOURCE / "scripts/with_card", "--profile", profile, "--side", side, "--card", f"{name}-{os.getpid()}", "--",
         "meson", "test", "-C", build, "--no-rebuild", "--suite", "device", "--logbase", name],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={**os.environ, "OPENDOCA_BUILD": str(build)}, check=False).returncode
    try:
        log = (build / "meson-logs" / f"{name}.txt").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None, [], status
    total = TOTAL.search(log)
    return total and total.groups(), re.findall(r"^failed: .*", log, re.M), status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("cards", nargs="*", metavar="CARD")
    arguments = parser.parse_args()
    cards = [known for known in CARDS if not arguments.cards or known in arguments.cards
             or known.partition(":")[0] in arguments.cards]
    if unknown := [card for card in arguments.cards if not any(known == card or known.startswith(card + ":") for known in CARDS)]:
        parser.error(f"no such card: {', '.join(unknown)}")
    is_good = True
    print(ROW.format("card and side", "passed", "failed", "skipped", "exceptions", "minutes"), flush=True)
    for card in cards:
        begin = time.monotonic()
        counts, failed, status = run(card, arguments.build.resolve())
        minutes = f"{(time.monotonic() - begin) / 60:.1f}"
        is_good = is_good and counts is not None and counts[1] == "0" and counts[0] != "0" and status == 0
        print(ROW.format(card, *(counts or ("did not", "run to", "its end", "")), minutes), flush=True)
        for line in failed or ([f"meson test ends with {status}"] if status != 0 else []):
            print(f"    {line}", flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
