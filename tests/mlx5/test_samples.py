#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The DMA samples, as they are, on the host's and the DPU's side of a card made of software: two processes.

test_samples.py WITH_CARD FOLDER_OF_SAMPLES DOCA_CAPS PROFILE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WITH_CARD, SAMPLES, DOCA_CAPS, PROFILE = sys.argv[1:5]
CARD = f"test-samples-{PROFILE}"
TEXT = "across the PCIe, by the card alone"
TIME_LIMIT = 300
CAN_SHARE = PROFILE.startswith("bluefield")
HOST, DPU = "3b:00.0", "03:00.0"


def command(side, *arguments):
    return [WITH_CARD, "--profile", PROFILE, "--side", side, "--card", CARD, *map(str, arguments)]


def environment():
    return {key: value for key, value in os.environ.items() if not key.startswith("DOCA_")} | {"DOCA_SOFT": "0"}


def run(side, *arguments):
    return subprocess.run(command(side, *arguments), env=environment(), stdin=subprocess.DEVNULL, timeout=TIME_LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def card_counts():
    """Of the card: how many copies its engine has made, and how many ranges it has found by an alias."""
    status = run("host", "--fault", "status").stdout
    return {name: int(re.search(rf"{name} (\d+)", status)[1]) for name in ("dma-copies", "alias-uses")}


class Samples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="opendoca-mlx5-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.files = ("-d", self.folder / "export", "-b", self.folder / "buffer")
        # A card ends with its last program: what it counts has to last as long as the test.
        keeper = subprocess.Popen(command("host", "cat"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(lambda: (keeper.stdin.close(), keeper.wait(TIME_LIMIT)))

    def start_host(self):
        host = subprocess.Popen(command("host", f"{SAMPLES}/doca_dma_copy_host", "-p", HOST, "-t", TEXT, *self.files),
                                env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        self.addCleanup(lambda: host.poll() is None and host.kill())
        return host

    def test_local_copy(self):
        before = card_counts()
        result = run("host", f"{SAMPLES}/doca_dma_local_copy", "-p", HOST, "-t", TEXT)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("the two buffers are equal", result.stdout)
        copies = card_counts()["dma-copies"] - before["dma-copies"]
        self.assertEqual(copies, 2 if CAN_SHARE else 0, "the trial, and the copy")

    def test_host_and_dpu(self):
        host = self.start_host()
        output = []
        for line in host.stdout:
            output.append(line)
            if "Press Enter" in line:
                break
        if not CAN_SHARE:
            self.assertEqual(host.wait(TIME_LIMIT), 1)
            self.assertIn("export memory to a DPU", "".join(output))
            host.stdout.close()
            host.stdin.close()
            return
        before = card_counts()
        dpu = run("dpu", f"{SAMPLES}/doca_dma_copy_dpu", "-p", DPU, *self.files)
        after = card_counts()
        self.assertEqual(dpu.returncode, 0, dpu.stdout)
        self.assertIn(f"the text is: {TEXT}", dpu.stdout)
        self.assertEqual(after["dma-copies"] - before["dma-copies"], 2, "the trial, and the copy")
        self.assertEqual(after["alias-uses"] - before["alias-uses"], 1)
        host.communicate("\n", TIME_LIMIT)
        self.assertEqual(host.returncode, 0)
        # The host has gone, and its memory with it.
        late = run("dpu", f"{SAMPLES}/doca_dma_copy_dpu", "-p", DPU, *self.files)
        self.assertEqual(late.returncode, 1, late.stdout)
        self.assertIn("gets no access to key index", late.stdout)

    def test_doca_caps_says_by_what_and_why(self):
        sides = {"host": 2, "dpu": 2} if CAN_SHARE else {"host": 2}
        for side, count in sides.items():
            devices = json.loads(run(side, DOCA_CAPS, "--json").stdout)["devices"]
            self.assertEqual([device["provider"] for device in devices], ["mlx5"] * count)
            for device in devices:
                remarks = device["remarks"]
                self.assertEqual("copies by the DMA engine" in remarks, CAN_SHARE, remarks)
                self.assertEqual(any("no memory across the PCIe: " in remark for remark in remarks), not CAN_SHARE)
                self.assertEqual(device["capabilities"]["mmap_export_dpu"], CAN_SHARE)

    @unittest.skipUnless(CAN_SHARE, "there is no DPU's side")
    def test_representors_are_the_hosts_functions(self):
        manager, subfunction = json.loads(run("dpu", DOCA_CAPS, "--json").stdout)["devices"]
        self.assertEqual([(rep["function_type"], rep["pci_address"] or "") for rep in manager["representors"]],
                         [("PF", "0000:3b:00.0"), ("VF", ""), ("SF", "0000:03:00.0")])
        vuids = [rep["vuid"] for rep in manager["representors"]]
        self.assertEqual(vuids, ["MT2347XZ03201MLNXS0D0F0", "MT2347XZ03202MLNXS0D0F1", ""])
        self.assertEqual(subfunction["representors"], [])
        self.assertEqual(subfunction["function_type"], "SF")

    def test_listing_without_an_rdma_device_is_quick_and_loads_no_libmlx5(self):
        # Not on the card: this machine itself, if it has no device.
        if os.path.isdir("/sys/class/infiniband") and os.listdir("/sys/class/infiniband"):
            self.skipTest("this machine has RDMA devices")
        env = environment() | {"DOCA_SOFT": "1", "LD_DEBUG": "files"}
        result = subprocess.run([DOCA_CAPS], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=TIME_LIMIT)
        self.assertEqual(result.returncode, 0)
        self.assertIn("libibverbs", result.stderr, "the loader tells what it loads")
        self.assertNotIn("libmlx5", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
