#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The card as a new user has it: installed by `meson install --tags card`, used without privilege, and with neither
source nor build tree in reach.

    test_installed.py BUILD_DIR

Exit status 77 says, with a reason, that this cannot be tried here.
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("ibv_devinfo", "ib_write_bw", "ucx_perftest", "unshare", "setpriv")
HERE = pathlib.Path(__file__).resolve().parent
NOBODY = 65534
MEMORY_OF_UCX = 256 << 20  # more than it registers


def try_as_user():
    """What the new user does. The judges' modules are beside this file by then."""
    from card import Card, Failed  # pylint: disable=import-outside-toplevel

    def gid(port):
        return str(port.roce_v2_gid)

    capabilities = re.search(r"CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text(encoding="ascii"))[1]
    if int(capabilities, 16) != 0:
        raise Failed(f"user {os.geteuid()} has the capabilities {capabilities}")
    with_card = shutil.which("with_card")
    print(f"== {with_card} --profile bluefield-3 ibv_devinfo -v")
    card = Card(with_card, "bluefield-3")
    names = [device.name for device in card.devices()]
    if names != ["mlx5_0", "mlx5_1"]:
        raise Failed(f"the devices are {names}")
    print("== ib_write_bw, from the host to the DPU")
    for output in card.run_pair("ib_write_bw", lambda port: ["-d", port.device, "-x", gid(port), "-F", "-n", "200",
                                                             "-t", "64"], ("host", "dpu")):
        if not re.search(r"^\s*65536\s+200\s", output, re.M):
            raise Failed(f"ib_write_bw has no row of results:\n{output}")
    locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if locked != resource.RLIM_INFINITY and locked < MEMORY_OF_UCX:
        print(f"== without UCX, which registers more than the {locked} bytes that this user may lock")
        return
    print("== ucx_perftest over rc_mlx5")
    _, output = Card(with_card, "bluefield-2").run_pair(
        "ucx_perftest", lambda port: ["-t", "am_lat", "-x", "rc_mlx5", "-d", f"{port.device}:{port.number}", "-n", "50",
                                      "-w", "10", "-f"],
        environment=lambda port: {"UCX_IB_GID_INDEX": gid(port)})
    if not re.search(r"^(?:Final:)?\s*50\s", output, re.M):
        raise Failed(f"ucx_perftest does not tell of 50 iterations:\n{output}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    source = HERE.parent.parent
    for program in PROGRAMS:
        if shutil.which(program) is None:
            print(f"{program} is not installed: scripts/install_dependencies.sh card", file=sys.stderr)
            return 77
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    tried = subprocess.run([*unshare, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        print(f"no mounts of its own can be made here: {tried.stderr.strip()}", file=sys.stderr)
        return 77
    # Not where TMPDIR says: that may be below what is hidden, and names of sockets are short.
    with tempfile.TemporaryDirectory(prefix="installed-", dir="/tmp") as place:
        root, tools, cards = (pathlib.Path(place, name) for name in ("root", "test", "cards"))
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--tags", "card", "--destdir", root],
                       check=True, stdout=subprocess.DEVNULL)
        with_card, = root.rglob("bin/with_card")
        shutil.copytree(HERE / "judges", tools)
        shutil.copy(__file__, tools)
        cards.mkdir(mode=0o700)
        pathlib.Path(place).chmod(0o755)
        user = os.geteuid() or NOBODY
        if user == NOBODY:
            os.chown(cards, NOBODY, NOBODY)
        hide = "".join(f"mount -t tmpfs none '{tree}' && " for tree in sorted({source, build}, reverse=True))
        # As docs/card.md advises users of UCX. Raising the hard limit needs CAP_SYS_RESOURCE, which root may lack.
        try:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except ValueError:
            most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
        # Who is not root is root in the namespace of its own: without capabilities that is a user like any other.
        no_privilege = ["setpriv", "--clear-groups", f"--reuid={NOBODY}", f"--regid={NOBODY}"] if user == NOBODY else \
            ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        done = subprocess.run(
            [*unshare, "sh", "-c", f"{hide}exec \"$@\"", "sh", *no_privilege, "env", "-i",
             f"PATH={with_card.parent}:/usr/bin:/bin", f"XDG_RUNTIME_DIR={cards}", "python3", "-B",
             tools / pathlib.Path(__file__).name], stdin=subprocess.DEVNULL, cwd="/", check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) > 1 else try_as_user())
