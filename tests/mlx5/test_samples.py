#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The samples of both generations, as they are, on the host's and the DPU's side of a card made of software: two processes.

test_samples.py WITH_CARD FOLDER_OF_SAMPLES DOCA_CAPS V3_SYNC_EVENT PROFILE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

WITH_CARD, SAMPLES, DOCA_CAPS, V3_SYNC_EVENT, PROFILE = sys.argv[1:6]
CARD = f"test-samples-{PROFILE}"
TEXT = "across the PCIe, by the card alone"
TIME_LIMIT = 300
CAN_SHARE = PROFILE.startswith("bluefield")
HOST, HOST_VF, DPU = "3b:00.0", "3b:00.2", "03:00.0"


def command(side, *arguments):
    return [WITH_CARD, "--profile", PROFILE, "--side", side, "--card", CARD, *map(str, arguments)]


def run(side, *arguments):
    return subprocess.run(command(side, *arguments), env=environment(DOCA_SOFT="0"), stdin=subprocess.DEVNULL, timeout=TIME_LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def sample_file(name):
    return f"3.0/doca_{name}" if name.startswith("v3_") else f"doca_{name}"


def card_counts():
    """Of the card: copies of its engine, ranges that it has found by an alias, bytes in messages of queue pairs."""
    status = run("host", "--fault", "status").stdout
    return {name: int(re.search(rf"{name} (\d+)", status)[1]) for name in ("dma-copies", "alias-uses", "message-bytes")}


class Samples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="opendoca-mlx5-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.files = ("-d", self.folder / "export", "-b", self.folder / "buffer")
        # A card ends with its last program: what it counts has to last as long as the test.
        keeper = subprocess.Popen(command("host", "cat"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(lambda: (keeper.stdin.close(), keeper.wait(TIME_LIMIT)))

    def start(self, side, sample, *arguments):
        program = subprocess.Popen(command(side, f"{SAMPLES}/{sample_file(sample)}", *arguments), env=environment(DOCA_SOFT="0"),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(lambda: program.poll() is None and program.kill())
        return program

    def start_host(self):
        return self.start("host", "dma_copy_host", "-p", HOST, "-t", TEXT, *self.files)

    def says(self, program, text):
        """Waits for it; then what was said so far."""
        said = ""
        for line in program.stdout:
            said += line
            if text in line:
                return said
        self.fail(f"{text!r} was not said, but:\n{said}")

    def succeeds(self, program, *texts):
        said = program.communicate(timeout=TIME_LIMIT)[0]
        self.assertEqual(program.returncode, 0, said)
        for text in texts:
            self.assertIn(text, said)

    def test_local_copy(self):
        before = card_counts()
        result = run("host", f"{SAMPLES}/doca_dma_local_copy", "-p", HOST, "-t", TEXT)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("the two buffers are equal", result.stdout)
        copies = card_counts()["dma-copies"] - before["dma-copies"]
        self.assertEqual(copies, 2 if CAN_SHARE else 0, "the trial, and the copy")

    def test_host_and_dpu(self):
        host = self.start_host()
        if not CAN_SHARE:
            output = host.communicate(timeout=TIME_LIMIT)[0]
            self.assertEqual(host.returncode, 1)
            self.assertIn("export memory to a DPU", output)
            return
        self.says(host, "Press Enter")
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
        self.assertIn("has no access to key index", late.stdout)

    def test_local_copy_of_3_0(self):
        before = card_counts()
        self.succeeds(self.start("host", "v3_dma_local_copy", "-p", HOST, "-t", TEXT), f"Copied {len(TEXT) + 1} bytes: {TEXT}")
        self.assertEqual(card_counts()["dma-copies"] - before["dma-copies"], 2 if CAN_SHARE else 0, "the trial, and the copy")

    def test_host_and_dpu_of_3_0(self):
        host = self.start("host", "v3_dma_copy_host", "-p", HOST, "-t", TEXT, *self.files)
        if not CAN_SHARE:
            output = host.communicate(timeout=TIME_LIMIT)[0]
            self.assertEqual(host.returncode, 1)
            self.assertIn(f"No device at {HOST} that suits", output)
            return
        self.says(host, "press Enter")
        before = card_counts()
        self.succeeds(self.start("dpu", "v3_dma_copy_dpu", "-p", DPU, *self.files),
                      f"Copied {len(TEXT) + 1} bytes of the host: {TEXT}")
        after = card_counts()
        self.assertEqual(after["dma-copies"] - before["dma-copies"], 2, "the trial, and the copy")
        self.assertEqual(after["alias-uses"] - before["alias-uses"], 1)
        host.communicate("\n", TIME_LIMIT)
        self.assertEqual(host.returncode, 0)

    def test_one_program_each_of_3_0(self):
        for name, text in {"pe_polling": "16 copies have ended well", "pe_event": "16 copies have ended well",
                           "pe_multi_context": "64 copies have ended well", "pe_task_resubmit": "16 copies have ended well",
                           "pe_reactive": "16 copies have ended well", "pe_async_stop": "The context was stopping and is idle",
                           "pe_task_error": "2 copies have ended well, and 14 have failed",
                           "graph": "Compared 2 copies: Success", "sha_create": "SHA-256 of 16 bytes",
                           "sha_partial_create": "Hashed 64 bytes"}.items():
            with self.subTest(name=name):
                self.succeeds(self.start("host", f"v3_{name}"), text, "Sample finished successfully")

    def test_rdma_of_3_0(self):
        # The first says where its details are to be, and where the other's are, and what it shares beside them.
        shared = self.folder / "shared"
        for first, second, of_both, text in (("send", "receive", (), f"Received {len(TEXT)} bytes: {TEXT}"),
                                             ("write_requester", "write_responder", ("-m", shared), f"has written: {TEXT}"),
                                             ("sync_event_requester", "sync_event_responder", ("-se", shared), "")):
            with self.subTest(first=first):
                names = [self.folder / f"{first}-{side}" for side in "ab"]
                of_first = ("-s", TEXT) if TEXT in text else ()
                sides = [self.start("host", f"v3_rdma_{first}", "-d", "mlx5_0", "-ld", names[0], "-re", names[1], *of_both, *of_first),
                         self.start("host", f"v3_rdma_{second}", "-d", "mlx5_1", "-ld", names[1], "-re", names[0], *of_both)]
                for side in sides:
                    self.says(side, "press Enter")
                for side in reversed(sides):
                    side.stdin.write("\n")
                    side.stdin.flush()
                self.succeeds(sides[0], "Sample finished successfully")
                if of_both:
                    self.says(sides[1], "Wait until the requester has finished")
                    said = sides[1].communicate("\n", TIME_LIMIT)[0]
                    self.assertEqual(sides[1].returncode, 0, said)
                    self.assertIn(text, said)
                else:
                    self.succeeds(sides[1], text)

    def test_sync_event_of_3_0(self):
        host = subprocess.Popen(command("host", V3_SYNC_EVENT, "host"), env=environment(DOCA_SOFT="0"), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        dpu = subprocess.run(command("dpu" if CAN_SHARE else "host", V3_SYNC_EVENT, "dpu"), env=environment(DOCA_SOFT="0"),
                             stdin=host.stdout, timeout=TIME_LIMIT, stderr=subprocess.PIPE, text=True)
        errors = host.communicate(timeout=TIME_LIMIT)[1]
        self.assertEqual(host.returncode, 0 if CAN_SHARE else 1, errors)
        self.assertEqual(dpu.returncode, host.returncode, dpu.stderr)
        if not CAN_SHARE:
            self.assertIn("cannot export sync events to a DPU", errors)
            self.assertIn("exporting: DOCA_ERROR_NOT_SUPPORTED", errors)

    def test_every_program_on_the_card_has_its_network(self):
        ask = ("sh", "-c", "echo $DOCA_COMM_CHANNEL_ADDRESS")
        address = run("host", *ask).stdout
        self.assertEqual(address.startswith("127."), CAN_SHARE)
        by_name = subprocess.run([WITH_CARD, "--card", CARD, *ask], env=environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, text=True, check=True, timeout=TIME_LIMIT)
        self.assertEqual(by_name.stdout, address, "though it does not name the profile")

    def test_comm_channel(self):
        if not CAN_SHARE:
            client = run("host", f"{SAMPLES}/doca_cc_client", "-p", HOST)
            self.assertEqual(client.returncode, 1)
            self.assertIn("neither tmfifo_net0 nor DOCA_COMM_CHANNEL_ADDRESS", client.stdout)
            return
        lonely = run("host", f"{SAMPLES}/doca_cc_client", "-p", HOST)
        self.assertEqual(lonely.returncode, 1)
        self.assertIn("does it listen on the DPU?", lonely.stdout)
        server = self.start("dpu", "cc_server", "-p", DPU, "-r", HOST)
        self.says(server, "The service 'cc_sample_server' listens")
        other = run("host", f"{SAMPLES}/doca_cc_client", "-p", "3b:00.2")
        self.assertEqual(other.returncode, 1, "another function of the host is not whom the service is for")
        self.succeeds(self.start("host", "cc_client", "-p", HOST, "-t", "x" * 4079),
                      "The server says: Greetings from the DPU")
        self.succeeds(server, "The client says: " + "x" * 4079)

    @unittest.skipUnless(CAN_SHARE, "there is no DPU's side")
    def test_services_choose_a_vf_by_its_address(self):
        server = self.start("dpu", "cc_server", "-p", DPU, "-r", HOST_VF)
        self.says(server, "The service 'cc_sample_server' listens")
        other = run("host", f"{SAMPLES}/doca_cc_client", "-p", HOST)
        self.assertEqual(other.returncode, 1, "the PF is not the function that the service is for")
        self.succeeds(self.start("host", "cc_client", "-p", HOST_VF, "-t", TEXT), "The server says: Greetings from the DPU")
        self.succeeds(server, f"The client says: {TEXT}")
        server = self.start("dpu", "v3_comch_ctrl_path_server", "-p", DPU, "-r", HOST_VF)
        self.says(server, "The server was idle and is running")
        self.succeeds(self.start("host", "v3_comch_ctrl_path_client", "-p", HOST_VF, "-t", TEXT), "Sample finished successfully")
        self.succeeds(server, f"Message received: {TEXT}")

    @unittest.skipUnless(CAN_SHARE, "sync events are exported to a DPU")
    def test_sync_events(self):
        for arguments, signal in ((), "set the value to 2"), (("--async", "--atomic"), "added 1 to 1"):
            with self.subTest(arguments=arguments):
                uses = card_counts()["alias-uses"]
                dpu = self.start("dpu", "sync_event_dpu", "-d", DPU, "-r", HOST, *arguments)
                self.says(dpu, "The service 'sync_event_cc' listens")
                self.succeeds(self.start("host", "sync_event_host", "-d", HOST, *arguments),
                              "Sent the export of the sync event", "The other side has signalled")
                self.succeeds(dpu, "Received the export of a sync event", "The other side has signalled", signal)
                self.assertGreaterEqual(card_counts()["alias-uses"], uses + 2, "a look, and the signal")

    @unittest.skipUnless(CAN_SHARE, "there is no DPU's side")
    def test_comch_of_3_0(self):
        server = self.start("dpu", "v3_comch_ctrl_path_server", "-p", DPU, "-r", HOST)
        self.says(server, "The server was idle and is running")
        self.succeeds(self.start("host", "v3_comch_ctrl_path_client", "-p", HOST, "-t", TEXT),
                      f"The server has got {len(TEXT)} bytes", "Sample finished successfully")
        self.succeeds(server, f"Message received: {TEXT}")

    @unittest.skipUnless(CAN_SHARE, "there is no DPU's side")
    def test_comch_fast_path_of_3_0(self):
        before = card_counts()["message-bytes"]
        server = self.start("dpu", "v3_comch_data_path_high_speed_server", "-p", DPU, "-r", HOST)
        self.says(server, "The server was idle and is running")
        self.succeeds(self.start("host", "v3_comch_data_path_high_speed_client", "-p", HOST, "-t", TEXT),
                      "Sent 10 messages", "Sample finished successfully")
        self.succeeds(server, f"Received 10 messages, the last one: {TEXT}")
        self.assertGreaterEqual(card_counts()["message-bytes"], before + 10 * len(TEXT), "consumers' go by the card alone")

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
                self.assertEqual("mmap_export_dpu" in device["lacks"], not CAN_SHARE)
                hardware = device["hardware"]
                self.assertRegex(hardware["firmware"], r"^\d+\.\d+\.\d+$")
                self.assertTrue(hardware["driver"].startswith("mlx5_core"), hardware)
                self.assertEqual((hardware["state"], hardware["physical_state"]), ("ACTIVE", "LinkUp"))
                self.assertRegex(hardware["rate"], r"^\d+ Gb/sec")
                self.assertIn(hardware["rdma_mtu"], [256 << i for i in range(5)] if device["capabilities"]["rdma_rc"] else [None])
                self.assertEqual(any("Comm Channel by queue pairs of mlx5_" in remark and "TCP at 127." in remark
                                     for remark in remarks), CAN_SHARE)
                is_known = any(remark.startswith("VUID MT2347XZ0320") for remark in remarks)
                self.assertEqual(is_known, device["function_type"] != "SF", "an SF's only its e-switch's manager can ask for")

    @unittest.skipUnless(CAN_SHARE, "there is no DPU's side")
    def test_representors_are_the_hosts_functions(self):
        manager, subfunction = json.loads(run("dpu", DOCA_CAPS, "--json").stdout)["devices"]
        self.assertEqual([(rep["function_type"], rep["pci_address"] or "") for rep in manager["representors"]],
                         [("PF", "0000:3b:00.0"), ("VF", "0000:3b:00.2"), ("SF", "0000:03:00.0")])
        vuids = [rep["vuid"] for rep in manager["representors"]]
        self.assertEqual(vuids, ["MT2347XZ03201MLNXS0D0F0", "MT2347XZ03202MLNXS0D0F1", "MT2347XZ03206MLNXS0D1F32772"])
        self.assertEqual(subfunction["representors"], [])
        self.assertEqual(subfunction["function_type"], "SF")

    def test_listing_without_an_rdma_device_is_quick_and_loads_no_libmlx5(self):
        # Not on the card: this machine itself, if it has no device.
        if os.path.isdir("/sys/class/infiniband") and os.listdir("/sys/class/infiniband"):
            self.skipTest("this machine has RDMA devices")
        env = environment(DOCA_SOFT="0") | {"DOCA_SOFT": "1", "LD_DEBUG": "files"}
        result = subprocess.run([DOCA_CAPS], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=TIME_LIMIT)
        self.assertEqual(result.returncode, 0)
        self.assertIn("libibverbs", result.stderr, "the loader tells what it loads")
        self.assertNotIn("libmlx5", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
