#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Runs the steps of the workflow in docs/card.md, as they stand there.

test_workflow.py DOCUMENT FOLDER...

FOLDERs have what the steps run and what is installed by the first step, which is left out. The steps run in a network
of their own, because they use fixed ports. Exit status 77 says, with a reason, that there can be none.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("ibv_devinfo", "ibv_rc_pingpong", "ucx_perftest", "unshare", "ip")
SECONDS = 120


def steps_of(document):
    """(name, environment, script) of each step. This reads as much of YAML as the workflow uses."""
    workflow = re.search(r"^```yaml\n(.*?)^```", document, re.M | re.S)[1]
    steps = []
    for text in re.split(r"^ {6}- name: ", workflow, flags=re.M)[1:]:
        name, _, rest = text.partition("\n")
        environment = {}
        if variables := re.search(r"^ {8}env:\n((?: {10}.*\n)+)", rest, re.M):
            environment = dict(line.strip().split(": ", 1) for line in variables[1].splitlines())
        if lines := re.search(r"^ {8}run: \|\n((?: {10}.*\n?)+)", rest, re.M):
            script = re.sub(r"^ {10}", "", lines[1], flags=re.M)
        else:
            script = re.search(r"^ {8}run: (.*)$", rest, re.M)[1]
        steps.append((name, environment, script))
    return steps


def main():
    document, *folders = sys.argv[1:]
    for program in PROGRAMS:
        if shutil.which(program) is None:
            print(f"{program} is not installed: scripts/install_dependencies.sh card", file=sys.stderr)
            return 77
    in_own_network = ["unshare", "--map-root-user", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]
    tried = subprocess.run([*in_own_network, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        print(f"no network of its own can be made here: {tried.stderr.strip()}", file=sys.stderr)
        return 77

    path = os.pathsep.join([*folders, os.environ["PATH"]])
    first, *steps = steps_of(pathlib.Path(document).read_text(encoding="utf-8"))
    print(f"not run: {first[0]}")
    for name, environment, script in steps:
        print(f"== {name}", flush=True)
        # A card stays for a moment for the next program, which here is another user in another namespace.
        with tempfile.TemporaryDirectory() as own_cards:
            done = subprocess.run([*in_own_network, "sh", "-e", "-c", script], stdin=subprocess.DEVNULL,
                                  timeout=SECONDS, check=False,
                                  env={**os.environ, "PATH": path, "XDG_RUNTIME_DIR": own_cards, **environment})
        if done.returncode != 0:
            print(f"failed with status {done.returncode}: {name}")
            return 1
    if len(steps) < 3:
        print(f"only {len(steps)} steps were found in {document}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
