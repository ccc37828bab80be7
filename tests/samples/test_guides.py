#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The commands by which DOCA's guides build and run samples, in the tree of each generation at /opt/mellanox/doca.

    test_guides.py BUILD_DIR C_COMPILER
    test_guides.py --installed             the tree that a package has installed there, as root in a root of its own

The commands are typed as the guides have them, with their placeholders filled. The test runs in a mount namespace of its own, in
which /opt is empty but for the tree, and each side has a /tmp of its own; the machine's /opt is not changed. Without the
permission to make such a namespace it is skipped. With --installed nothing is in the environment but DOCA_SOFT and the tools' folder,
sudo is the real one, and only scp is a stand-in; tests/packages/guides_in_fresh_debian.sh runs that.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "abi"))

import tree
from program import Failure, Program

SKIPPED = 77
SDK = pathlib.Path("/opt/mellanox/doca")
TREES = pathlib.Path("/opt/trees")
SIDES = pathlib.Path("/opt/sides")
STAND_INS = pathlib.Path("/opt/stand-ins")
INSIDE = "OPENDOCA_TEST_IN_NAMESPACE"
IS_INSTALLED = sys.argv[1:2] == ["--installed"]

# Programs that the guides call, and that have nothing to do here.
PROGRAMS = {
    "sudo": '[ "$1" = apt ] || exec "$@"',
    # root@<DPU_IP>:/tmp
    "scp": f'cp "$1" {SIDES}/dpu/',
}

LOCAL_COPY = """
sudo apt install meson
cd /opt/mellanox/doca/samples/doca_dma/dma_local_copy
meson /tmp/build
ninja -C /tmp/build
cd /tmp/build
./doca_dma_local_copy -h
./doca_dma_local_copy -p 03:00.0
"""
COPY_HOST = """
cd /opt/mellanox/doca/samples/doca_dma/dma_copy_host
meson /tmp/build
ninja -C /tmp/build
cd /tmp/build
sudo ./doca_dma_copy_host -p 01:00.0
"""
COPY_HOST_OTHER_TERMINAL = """
scp /tmp/export_desc.txt root@192.168.100.2:/tmp
scp /tmp/buffer_info.txt root@192.168.100.2:/tmp
"""
COPY_DPU = """
cd /opt/mellanox/doca/samples/doca_dma/dma_copy_dpu
meson /tmp/build
ninja -C /tmp/build
cd /tmp/build
./doca_dma_copy_dpu -p 03:00.0
"""
RDMA = """
cd /opt/mellanox/doca/samples/doca_rdma/{name}
meson build
ninja -C build
./build/doca_{name} -h
"""
SYNC_EVENT = """
cd /opt/mellanox/doca/samples/doca_common/sync_event_{side}
meson build
ninja -C build
./build/doca_sync_event_{side} -h
"""
GRAPH = """
cd /opt/mellanox/doca/samples/doca_common/graph/
meson build
ninja -C build
cd build
./doca_graph
"""
# What the guides refer to, below samples/.
FILES = [
    *(f"doca_dma/{name}/{name}.c" for name in ("dma_local_copy", "dma_remote_copy_receiver", "dma_remote_copy_sender")),
    *(f"doca_rdma/{name}/{file}" for name in (
        "rdma_read_requester", "rdma_read_responder", "rdma_write_requester", "rdma_write_responder",
        "rdma_write_immediate_requester", "rdma_write_immediate_responder", "rdma_send", "rdma_receive",
        "rdma_send_immediate", "rdma_receive_immediate") for file in (f"{name}_sample.c", f"{name}_main.c", "meson.build")),
    *(f"doca_common/{name}/{file}" for name in ("sync_event_dpu", "sync_event_host", "graph")
      for file in (f"{name}_sample.c", f"{name}_main.c", "meson.build")),
]


class Tree(unittest.TestCase):
    """A tree at /opt/mellanox/doca, and the shells of users on each side of the PCIe."""

    generation = None
    version = None

    def setUp(self):
        if IS_INSTALLED and self.version != (SDK / "applications/VERSION").read_text(encoding="utf-8").strip():
            self.skipTest("the tree is that of the other generation")
        for side in "host", "dpu", "all":
            shutil.rmtree(SIDES / side, ignore_errors=True)
            (SIDES / side).mkdir(parents=True)
        self.sdk = SDK if IS_INSTALLED else TREES / self.generation

    def type(self, commands, side):
        """Starts a shell of a user who is logged in on that side, with what the profile files of DOCA's packages set."""
        environment = {"PATH": f"{STAND_INS}:{os.environ['PATH']}:{SDK}/tools", "HOME": "/tmp", "LC_ALL": "C.UTF-8",
                       "XDG_RUNTIME_DIR": "/opt/run", "DOCA_SOFT": "1", "DOCA_SOFT_ROLE": side}
        places = f"mount --bind {SIDES}/{side} /tmp"
        namespace = ["unshare", "--mount"]
        if IS_INSTALLED:
            namespace += ["--propagation", "unchanged"]  # / of the root is no mount, and what it lies in is private already
        else:
            environment |= {"CC": COMPILER, "PKG_CONFIG_PATH": f"{SDK}/{tree.libdir_of(BUILD_DIR)}/pkgconfig"}
            places = f"mount --bind {self.sdk} {SDK} && {places}"
        program = Program(side, [*namespace, "sh", "-c", f'{places} && exec sh -e -c "$1"', "sh", commands], environment)
        self.addCleanup(program.stop)
        return program

    def await_line(self, program, text):
        try:
            program.wait_for(text)
        except Failure as failure:
            self.fail(f"{failure}\n{program.text()}")

    def end(self, program, *texts):
        self.assertEqual(0, program.wait(), program.text())
        for text in texts:
            self.assertIn(text, program.text())

    def copies(self, text):
        """The first guide's steps, which are the same in both generations."""
        self.assertEqual(self.version, (self.sdk / "applications/VERSION").read_text(encoding="utf-8").strip())
        self.end(self.type(LOCAL_COPY, "dpu"), "-p, --pci-addr", text, "Sample finished successfully")
        host = self.type(COPY_HOST, "host")
        self.await_line(host, "[Pp]ress Enter")
        self.end(self.type(COPY_HOST_OTHER_TERMINAL, "host"))
        shutil.rmtree(SIDES / "dpu/build")
        self.end(self.type(COPY_DPU, "dpu"), text, "Sample finished successfully")
        host.press_enter()
        self.end(host, "Sample finished successfully")

    def has_tools(self):
        self.end(self.type("command -v doca_caps\ndoca_caps\ndoca_bench --version\nls /opt/mellanox/doca/tools/doca_lib_dir/", "dpu"),
                 "/usr/bin/doca_caps" if IS_INSTALLED else f"{SDK}/tools/doca_caps", "0000:03:00.0", "libdoca_common.so")


class Generation22(Tree):
    generation = "2.2"
    version = "2.2.0080"

    def test_each_file_is_where_the_guides_name_it(self):
        for name in FILES:
            self.assertTrue((self.sdk / "samples" / name).is_file(), name)

    def test_tools_are_in_path(self):
        self.has_tools()

    def test_copies(self):
        self.copies("This text has travelled by DMA")

    def test_rdma_read(self):
        responder, requester = (self.type(RDMA.format(name=f"rdma_read_{role}") + f"./build/doca_rdma_read_{role} {options}\n", "all")
                                for role, options in (("responder", "-ld /tmp/b -re /tmp/a -m /tmp/b.mmap"),
                                                      ("requester", "-ld /tmp/a -re /tmp/b -m /tmp/b.mmap")))
        for side in responder, requester:
            self.await_line(side, "Copy the files from the remote side to here, and press Enter")
        for side in responder, requester:
            side.press_enter()
        self.end(requester, "-ld, --local-descriptor-path", "Hi DOCA RDMA!", "Sample finished successfully")
        responder.press_enter()
        self.end(responder, "--read-string", "Sample finished successfully")

    def test_sync_events(self):
        dpu = self.type(SYNC_EVENT.format(side="dpu") + "./build/doca_sync_event_dpu -d 03:00.0 -r 0b:00.0\n", "dpu")
        self.await_line(dpu, "The service 'sync_event_cc' listens")
        host = self.type(SYNC_EVENT.format(side="host") + "./build/doca_sync_event_host -d 0b:00.0\n", "host")
        for side in dpu, host:
            self.end(side, "--qdepth", "The other side has signalled", "Sample finished successfully")

    def test_graph(self):
        self.end(self.type(GRAPH, "dpu"), "Sample finished successfully")


class Generation30(Tree):
    generation = "3.0"
    version = "3.0.0058"

    def test_tools_are_in_path(self):
        self.has_tools()

    def test_copies(self):
        self.copies("This is a sample piece of text")


def enter():
    """Starts this test again in a mount namespace of its own. There it is root, or the only user that exists."""
    options = [] if os.geteuid() == 0 else ["--map-root-user"]
    probe = subprocess.run(["unshare", *options, "--mount", "mount", "-t", "tmpfs", "none", "/opt"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True, check=False)
    if probe.returncode != 0 or pathlib.Path("/opt") in pathlib.Path(BUILD_DIR).resolve().parents:
        print("skipped: no mount namespace with another /opt:", probe.stderr.strip() or "the build folder is there")
        sys.exit(SKIPPED)
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", *options, "--mount", sys.executable, *sys.argv])


def prepare():
    """Makes the two trees in /opt, and the place of the one that a shell sees."""
    subprocess.run(["mount", "-t", "tmpfs", "none", "/opt"], check=True)
    installed = tree.install(BUILD_DIR, "/opt/staging")
    SDK.mkdir(parents=True)
    at_prefix = tree.build_options(BUILD_DIR)["prefix_generation"]
    other = "2.2" if at_prefix == "3.0" else "3.0"
    shutil.copytree(installed.prefix / "lib/opendoca" / other, TREES / other, symlinks=True)
    shutil.move(installed.prefix, TREES / at_prefix)
    make_stand_ins(PROGRAMS)


def make_stand_ins(programs):
    for name, text in programs.items():
        STAND_INS.mkdir(exist_ok=True)
        (STAND_INS / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (STAND_INS / name).chmod(0o755)
    pathlib.Path("/opt/run").mkdir(mode=0o700, exist_ok=True)


if __name__ == "__main__":
    if IS_INSTALLED:
        make_stand_ins({"scp": PROGRAMS["scp"]})
        unittest.main(argv=sys.argv[:1] + sys.argv[2:])
    BUILD_DIR, COMPILER = sys.argv[1:3]
    if INSIDE not in os.environ:
        enter()
    prepare()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
