#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""A program of the host and one of the DPU as people write them, on a machine on which nothing is set up.

    test_first_contact.py HOST DPU
"""
import os
import pathlib
import subprocess
import sys
import unittest

SKIPPED = 77
MINUTE = 60


def environment(**variables):
    """Nothing that says anything to the library, but for these."""
    return {name: value for name, value in os.environ.items() if not name.startswith("DOCA_")} | variables


class Dpu:
    """The DPU's program, as soon as it listens."""

    def __init__(self, *addresses, **variables):
        self.process = subprocess.Popen([DPU, *addresses], env=environment(**variables), text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.first_line = self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate(timeout=MINUTE)

    def finish(self):
        return self.process.wait(timeout=MINUTE), self.process.stderr.read()


def run_host(*address, **variables):
    return subprocess.run([HOST, *address], env=environment(**variables), capture_output=True, text=True,
                          timeout=MINUTE, check=False)


class FirstContact(unittest.TestCase):
    def meet(self, *host_address, rep, roles=({}, {})):
        with Dpu("03:00.0", rep, **roles[1]) as dpu:
            self.assertEqual(dpu.first_line, "listening\n", dpu.process.poll())
            host = run_host(*host_address, **roles[0])
            self.assertEqual((host.returncode, host.stdout), (0, "the DPU has read: memory of the host\n"), host.stderr)
            self.assertEqual(dpu.finish(), (0, ""))

    def test_addresses_that_samples_default_to(self):
        for address in "b1:00.0", "3b:00.0":
            with self.subTest(address=address):
                self.meet(address, rep=address)
        self.meet("b1:00.0", rep="0b:00.0")

    def test_the_first_device_that_copies(self):
        self.meet(rep="b1:00.0")

    def test_roles_separate_the_sides(self):
        host, dpu = {"DOCA_SOFT_ROLE": "host"}, {"DOCA_SOFT_ROLE": "dpu"}
        self.meet("b1:00.0", rep="b1:00.0", roles=(host, dpu))
        self.meet(rep="b1:00.0", roles=(host, dpu))
        for address in [], ["03:00.0"]:
            on_dpu = run_host(*address, **dpu)
            self.assertEqual(on_dpu.returncode, 1)
            self.assertIn("doca_comm_channel_ep_connect", on_dpu.stderr)
            self.assertIn("DOCA_ERROR_NOT_SUPPORTED", on_dpu.stderr)

    def test_an_address_that_nothing_has_is_explained(self):
        host = run_host("17:00.0")
        self.assertEqual(host.returncode, 1)
        lines = [line for line in host.stderr.splitlines() if "0000:17:00.0" in line]
        self.assertEqual(len(lines), 1, host.stderr)
        self.assertIn("pf0 (0000:0b:00.0, 0000:01:00.0, 0000:3b:00.0, 0000:b1:00.0)", lines[0])
        self.assertIn("DOCA_SOFT_TOPOLOGY", lines[0])
        self.assertIn("DOCA_SOFT_ROLE=dpu hides", run_host("b1:00.0", DOCA_SOFT_ROLE="dpu").stderr)

    def test_a_dpu_whose_host_does_not_come_says_so_once(self):
        with Dpu("03:00.0", "b1:00.0") as dpu:
            line = dpu.process.stderr.readline()
            self.assertIn("service 'first contact' on pf0 (0000:0b:00.0) waits for a client: none has come yet", line)
            dpu.process.kill()
            self.assertEqual(dpu.process.communicate(timeout=MINUTE)[1], "")


if __name__ == "__main__":
    HOST, DPU = sys.argv[1:3]
    del sys.argv[1:3]
    rdma_devices = pathlib.Path("/sys/class/infiniband")
    if rdma_devices.is_dir() and any(rdma_devices.iterdir()):
        print("this machine has RDMA devices, beside which software devices are not listed by themselves")
        sys.exit(SKIPPED)
    unittest.main()
