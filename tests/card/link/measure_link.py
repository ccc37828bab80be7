#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What the link costs: reads of the host's memory by the DPU's DMA engine, one at a time, with both sides on one card and with a
link between two. The two take turns, and the smallest time of each counts.

    measure_link.py WITH_CARD LINK_PAIR [ROUNDS]
"""
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile

WITH_CARD, LINK_PAIR = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
SIZES = ((8, 500), (1 << 20, 30))  # bytes, and reads of one round
PORT = 46100 + os.getpid() % 1000


class Pair:
    """A program on each side; that of the DPU has an alias of the host's key."""

    def __init__(self, folder, options):
        self.programs = {
            side: subprocess.Popen([WITH_CARD, "--side", side, *options(side), LINK_PAIR, side, device, str(1 << 20)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "XDG_RUNTIME_DIR": folder})
            for side, device in (("host", "mlx5_0"), ("dpu", "mlx5_1"))}
        for program in self.programs.values():
            program.stdout.readline()  # "ready"
        key = self.ask("host", "share")
        while self.ask("dpu", f"open {key}") != "opened":
            pass  # the sides are not connected yet

    def ask(self, side, line):
        program = self.programs[side]
        program.stdin.write(line + "\n")
        program.stdin.flush()
        return program.stdout.readline().strip()

    def end(self):
        for program in self.programs.values():
            program.communicate()


def main():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        key = pathlib.Path(folder) / "key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(32))
        pairs = {"one card": Pair(folder, lambda side: ["--card", "one"]),
                 "link by unix": Pair(folder, lambda side: ["--card", f"u-{side}", "--link", f"unix:{folder}/link"]),
                 "link by tls": Pair(folder, lambda side: ["--card", f"t-{side}", "--link", f"tls:127.0.0.1:{PORT}",
                                                           "--key", str(key)])}
        least = {}
        for _ in range(ROUNDS):
            for name, pair in pairs.items():
                for size, count in SIZES:
                    time = int(pair.ask("dpu", f"time {size} {count}"))
                    least[name, size] = min(time, least.get((name, size), time))
        for (name, size), time in least.items():
            print(f"{name:12} {size:8} B {time:9} ns {size * 1000 / time:9.1f} MB/s "
                  f"{time / least['one card', size]:6.2f} times one card")
        for pair in pairs.values():
            pair.end()


main()
