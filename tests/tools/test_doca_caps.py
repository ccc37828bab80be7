#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""doca_caps, as a user sees it.

    test_doca_caps.py DOCA_CAPS GENERATION

GENERATION is that of the API whose doca_caps it is: 2.2 or 3.0.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOPOLOGY = {"functions": [
    {"name": "port", "side": "dpu", "type": "pf", "pci": "17:00.0", "mac": "02:00:00:00:00:77"},
    {"name": "host", "side": "host", "type": "pf", "pci": "01:00.0", "parent": "port", "vuid": "HOSTVUID"},
]}

VERSIONS = {"2.2": "2.2.0080", "3.0": "3.0.0058"}
EXPORTS_MEMORY = {"2.2": "mmap_export_dpu", "3.0": "mmap_export_pci"}
EXPORTS_EVENTS = {"2.2": "sync_event_export_to_dpu", "3.0": "sync_event_export_to_remote_pci"}
# What a port of the DPU can do.
IN_BOTH = {
    "dma_memcpy": True, "dma_max_buf_size": 1 << 31, "dma_max_list_buf_num_elem": 1024,
    "sha": True, "sha_max_src_buffer_size": 1 << 31, "sha_max_list_buf_num_elem": 1024,
    "rdma_rc": True, "rdma_max_message_size": 1 << 31, "rdma_max_send_queue_size": 16384,
    "rdma_gid_table_size": 16, "rdma_atomics": True, "rdma_bridge": False,
    "sync_event": True, "sync_event_create_from_export": True,
    "rep_list_net": True, "rep_list_emulated": False, "hotplug_manager": False}
ONLY_IN = {
    "2.2": {"sha_hardware": "emulated", "rdma_max_recv_queue_size": 16384, "comm_channel": True,
            "compress_deflate": "emulated", "decompress_deflate": "emulated", "decompress_lz4": "emulated",
            "compress_max_buf_size": 1 << 27, "compress_max_list_buf_num_elem": 1024,
            "erasure_coding": "emulated", "ec_max_list_buf_num_elem": 1024,
            "sync_event_export_to_dpu": True, "mmap_export_dpu": True, "mmap_from_export_dpu": True},
    "3.0": {"compress_deflate": "emulated", "decompress_deflate": "emulated", "decompress_lz4_stream": "emulated",
            "decompress_lz4_block": "emulated", "compress_max_buf_size": 1 << 27, "compress_max_buf_list_len": 1024,
            "rdma_max_send_buf_list_len": 32, "comch_server": True, "comch_client": True, "comch_max_msg_size": 4080,
            "erasure_coding": "emulated", "ec_max_block_size": 1 << 27, "ec_max_buf_list_len": 1024,
            "aes_gcm": "emulated", "aes_gcm_max_buf_size": 1 << 27, "aes_gcm_max_list_buf_num_elem": 1024,
            "comch_consumer": True, "sync_event_export_to_remote_pci": True, "sync_event_export_to_remote_net": True,
            "mmap_export_pci": True, "mmap_create_from_export_pci": True}}


def run(*arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DOCA_")}
    # Software devices also where the machine has others; only they are looked at.
    environment |= {"DOCA_SOFT": "1"} | variables
    return subprocess.run([DOCA_CAPS, *arguments], env=environment, capture_output=True, text=True, timeout=300,
                          check=False)


class DocaCaps(unittest.TestCase):
    def soft_devices(self, **variables):
        result = run("--json", **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {device["ibdev"]: device for device in json.loads(result.stdout)["devices"]
                if device["provider"] == "soft"}

    def with_topology(self, text):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path = pathlib.Path(directory.name) / "topology.json"
        path.write_text(text, encoding="utf-8")
        return {"DOCA_SOFT_TOPOLOGY": str(path)}

    def test_table_has_a_row_for_each_device_and_representor(self):
        result = run("--all")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        lines = result.stdout.splitlines()
        title = next(line for line in lines if "PCI address" in line)
        row = next(line for line in lines if "soft_p0 " in line)
        for column, value in {"PCI address": "0000:03:00.0", "ibdev": "soft_p0", "interface": "p0",
                              "provider": "soft", "type": "PF", "IPv4": "198.18.0.1", "LID": "-"}.items():
            self.assertTrue(row[title.index(column):].startswith(value), f"{column}:\n{title}\n{row}")
        below = lines[lines.index(row) + 1:]
        self.assertIn("acts as 0000:0b:00.0 towards the DPU", below[0])
        self.assertIn("representor 0000:0b:00.0  PF  net  pf0hpf", below[1])
        self.assertEqual(sum("representor 0000:" in line for line in lines), 7)

    def test_it_names_the_release_of_opendoca(self):
        release = re.search(r"^  version: '(\d+\.\d+\.\d+)'", (SOURCE_ROOT / "meson.build").read_text(encoding="utf-8"), re.M)[1]
        line = f"opendoca {release}, with the API of DOCA {VERSIONS[GENERATION]}\n"
        self.assertEqual(line.replace("opendoca", "doca_caps (opendoca)", 1), run("--version").stdout)
        self.assertTrue(run().stdout.startswith(line))
        self.assertEqual(release, json.loads(run("--json").stdout)["release"])
        # Once, before all else that the library logs.
        named = [index for index, said in enumerate(run("-v").stderr.splitlines()) if f"opendoca {release}" in said]
        self.assertEqual([0], named)

    def test_table_says_what_each_device_supports(self):
        blocks = run("--all").stdout.split("\n\n")
        block = next(b for b in blocks if "DMA memcpy" in b and " soft_pf0" in b)
        title = next(line for line in block.splitlines() if " soft_pf0" in line)
        end_of = {name: title.index(name) + len(name) for name in title.split()}

        def value(row, device):
            line = next(line for line in block.splitlines() if line.strip().startswith(row))
            return line[:end_of[device]].split()[-1]

        self.assertEqual(value("DMA memcpy", "soft_p0"), "yes")
        self.assertEqual(value("buffers of a list", "soft_p0"), "1024")
        if GENERATION == "2.2":
            self.assertEqual(value("in hardware", "soft_p0"), "emulated")
            self.assertEqual(value("in hardware", "soft_p0s0"), "-")
        else:
            self.assertEqual(value("Comch server", "soft_p0"), "yes")
            self.assertEqual(value("Comch server", "soft_pf0"), "-")
            self.assertEqual(value("Comch client", "soft_pf0"), "yes")
        self.assertEqual(value("export to the DPU", "soft_p0"), "yes")
        self.assertEqual(value("export to the DPU", "soft_p0s0"), "-")
        self.assertEqual(value("export to the DPU", "soft_pf0"), "yes")
        self.assertEqual(value("import on the DPU", "soft_p0"), "yes")
        self.assertEqual(value("import on the DPU", "soft_p0s0"), "-")
        self.assertEqual(value("import on the DPU", "soft_pf0"), "yes")

    def test_json_has_the_same(self):
        devices = self.soft_devices()
        self.assertEqual(len(devices), 9)
        port, vf = devices["soft_p0"], devices["soft_pf0vf0"]
        self.assertEqual(port["pci_address"], "0000:03:00.0")
        self.assertEqual(port["interface"], "p0")
        self.assertEqual(port["function_type"], "PF")
        self.assertEqual(port["mac"], "02:0d:0c:a0:00:01")
        self.assertEqual(port["ipv6"], "fe80::d:cff:fea0:1")
        self.assertIsNone(port["lid"])
        self.assertEqual((port["link_layer"], port["port_active"]), ("Ethernet", True))
        self.assertEqual(port["gids"], {"0": "fe80::d:cff:fea0:1", "1": "::ffff:198.18.0.1"})
        self.assertEqual(vf["function_type"], "VF")
        self.assertEqual(devices["soft_p0s0"]["function_type"], "SF")
        self.assertEqual([(device["active_rate"], device["vhca_id"], device["sf_index"])
                          for device in (port, devices["soft_p0s0"])], [(10**11, 1, None), (10**11, 3, 0)])
        self.assertEqual(port["capabilities"], IN_BOTH | ONLY_IN[GENERATION])
        self.assertTrue(vf["capabilities"][EXPORTS_MEMORY[GENERATION]])
        self.assertEqual((port["acts_as"], vf["acts_as"]), ("0000:0b:00.0", None))
        if GENERATION == "2.2":
            self.assertFalse(vf["capabilities"]["sha_hardware"])
        self.assertEqual([(rep["pci_address"], rep["function_type"], rep["kind"]) for rep in port["representors"]],
                         [("0000:0b:00.0", "PF", "net"), ("0000:0b:00.2", "VF", "net"),
                          ("0000:0b:00.3", "VF", "net"), ("0000:03:00.0", "SF", "net")])
        self.assertEqual(vf["representors"], [])

    def test_role_decides_what_is_seen(self):
        self.assertEqual(set(self.soft_devices(DOCA_SOFT_ROLE="dpu")),
                         {"soft_p0", "soft_p1", "soft_p0s0", "soft_p1s0"})
        self.assertEqual(set(self.soft_devices(DOCA_SOFT_ROLE="host")),
                         {"soft_pf0", "soft_pf1", "soft_pf0vf0", "soft_pf0vf1", "soft_pf1vf0"})

    def test_role_decides_whether_a_port_acts_for_the_host(self):
        port = self.soft_devices(DOCA_SOFT_ROLE="dpu")["soft_p0"]
        self.assertIsNone(port["acts_as"])
        self.assertTrue(port["capabilities"][EXPORTS_MEMORY[GENERATION]])
        self.assertTrue(port["capabilities"][EXPORTS_EVENTS[GENERATION]])
        self.assertNotIn("acts as", run("--all", DOCA_SOFT_ROLE="dpu").stdout)

    def test_topology_of_a_file_is_shown(self):
        devices = self.soft_devices(**self.with_topology(json.dumps(TOPOLOGY)))
        self.assertEqual(set(devices), {"soft_port", "soft_host"})
        self.assertEqual(devices["soft_port"]["mac"], "02:00:00:00:00:77")
        self.assertEqual(devices["soft_port"]["representors"],
                         [{"pci_address": "0000:01:00.0", "function_type": "PF", "kind": "net", "interface": "pf0hpf",
                           "vhca_id": 2, "vuid": "HOSTVUID"}])

    def test_no_list_of_devices_is_a_failure_that_says_why(self):
        for variables, reason in [(self.with_topology("{ no JSON"), "topology.json, line 1"),
                                  ({"DOCA_SOFT_TOPOLOGY": "/nowhere"}, "/nowhere"),
                                  ({"DOCA_SOFT_ROLE": "router"}, "router")]:
            for arguments in [], ["--json"]:
                result = run(*arguments, **variables)
                self.assertEqual(result.returncode, 1)
                self.assertIn(reason, result.stderr)
                self.assertIn("doca_caps: listing the devices: DOCA_ERROR_", result.stderr)
                self.assertEqual(result.stdout, "")

    def test_every_check_of_access_has_a_verdict(self):
        result = run("--json")
        checks = {c["check"]: c for c in json.loads(result.stdout)["cross_process_access"]}
        self.assertEqual(set(checks), {
            "user", "yama", "dumpable", "pid_namespace", "hidepid", "memfd_sealing", "pidfd_open", "membarrier",
            "process_vm_readv", "shared_memory", "ordinary_memory"})
        for check in checks.values():
            self.assertIn(check["status"], ["OK", "limited", "blocked"])
            self.assertTrue(check["found"])
            self.assertEqual(check["fix"] is None, check["status"] == "OK", check)
        self.assertIn(f"user {os.geteuid()}", checks["user"]["found"])
        text = run("--all").stdout
        for check in checks.values():
            self.assertIn(f"{check['status']:<{max(len(c['status']) for c in checks.values())}}  {check['found']}",
                          text)

    def test_short_list_has_a_line_for_each_device(self):
        result = run()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertRegex(lines[1], r"^(Ready|Missing): .*software devices")
        title = next(line for line in lines if line.startswith("device "))
        rows = {line.split()[0]: line for line in lines if line.startswith("soft_")}
        self.assertEqual(set(rows), set(self.soft_devices()))
        can = title.index("can do")
        self.assertTrue(rows["soft_p0"][title.index("PCI address"):].startswith("0000:03:00.0"))
        self.assertEqual(rows["soft_pf0"][can:],
                         {"2.2": "DMA, SHA, compress, EC, RDMA, Comm Channel, sync events, export, import",
                          "3.0": "DMA, SHA, compress, EC, AES, RDMA, Comch, sync events, export, import"}[GENERATION])
        self.assertTrue(rows["soft_p0"][can:].endswith("sync events, export, import, representors"))
        self.assertLessEqual(max(len(row) for row in rows.values()), 170)

    def test_one_device_is_found_by_each_of_its_names(self):
        texts = {name: run("--device", name).stdout for name in ("soft_pf0", "pf0", "0000:0b:00.0", "0B:00.0")}
        self.assertEqual(len(set(texts.values())), 1, texts)
        text = texts["pf0"]
        self.assertTrue(text.startswith("soft_pf0, provider soft\n"))
        for line in ["PCI address +0000:0b:00.0", "MAC +02:0d:0c:a0:00:05", "export to the DPU +yes", "import on the DPU +yes"]:
            self.assertRegex(text, rf"(?m)^  {line}$")
        self.assertEqual(run("-p", "0b:00.0").stdout, text)
        # A subfunction is where its port is.
        self.assertEqual(re.findall(r"(?m)^(\S+), provider", run("-d", "03:00.0").stdout), ["soft_p0", "soft_p0s0"])
        self.assertEqual([d["ibdev"] for d in json.loads(run("-d", "pf0", "--json").stdout)["devices"]], ["soft_pf0"])
        result = run("-d", "pf7")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("no device 'pf7'", result.stderr)

    def test_what_is_missing_is_explained(self):
        devices = self.soft_devices()
        for device in devices.values():
            lacking = {key for key, value in device["capabilities"].items() if value is False}
            self.assertEqual(set(device["lacks"]), lacking)
            self.assertTrue(all(device["lacks"].values()), device["lacks"])
        self.assertIn("libibverbs", devices["soft_p0"]["lacks"]["rdma_bridge"])
        self.assertNotIn(EXPORTS_MEMORY[GENERATION], devices["soft_p0"]["lacks"])
        alone = self.soft_devices(DOCA_SOFT_ROLE="dpu")["soft_p0"]["lacks"]
        self.assertNotIn(EXPORTS_MEMORY[GENERATION], alone)
        self.assertIn("it is a subfunction of the DPU", devices["soft_p0s0"]["lacks"][EXPORTS_MEMORY[GENERATION]])
        text = run("--explain").stdout
        self.assertIn("soft_p0, soft_p1: missing\n", text)
        for reason in devices["soft_p0s0"]["lacks"].values():
            self.assertIn(f"  {reason}\n", text)
        one = run("--explain", "--device", "pf0").stdout
        self.assertTrue(one.startswith("soft_pf0: missing\n"))
        without_pf = {"functions": [{"name": "port", "side": "dpu", "type": "pf", "pci": "17:00.0",
                                     "sha_hardware": False}]}
        lone = self.soft_devices(**self.with_topology(json.dumps(without_pf)))["soft_port"]["lacks"]
        self.assertNotIn(EXPORTS_MEMORY[GENERATION], lone)
        if GENERATION == "2.2":
            self.assertIn("topology.json", run("--explain", **self.with_topology(json.dumps(without_pf))).stdout)
        without_pf["functions"][0]["engines"] = "bluefield-2"
        lone = self.soft_devices(**self.with_topology(json.dumps(without_pf)))["soft_port"]
        lz4, limits = {"2.2": ("decompress_lz4", "ec_max_list_buf_num_elem"),
                       "3.0": ("decompress_lz4_stream", "ec_max_block_size")}[GENERATION]
        for lack in "erasure_coding", lz4:
            self.assertIn("topology.json", lone["lacks"][lack])
        self.assertNotIn(limits, {key for key, value in lone["capabilities"].items() if value})
        without_pf["functions"][0]["engines"] = "bluefield-3"
        lone = self.soft_devices(**self.with_topology(json.dumps(without_pf)))["soft_port"]
        self.assertIn("topology.json", lone["lacks"]["compress_deflate"])
        self.assertEqual(lone["capabilities"]["compress_max_buf_size"], 1 << 21)

    def test_configuration_in_force(self):
        lines = run("--config", DOCA_SOFT_ROLE="host", DOCA_SOFT_ROEL="dpu").stdout.splitlines()
        self.assertRegex(next(line for line in lines if "DOCA_SOFT=" in line), r"^  DOCA_SOFT=1 ")
        self.assertRegex(next(line for line in lines if "DOCA_SOFT_DEFER=" in line), r"^  # DOCA_SOFT_DEFER= ")
        self.assertRegex(next(line for line in lines if "_ROEL" in line), r"^  DOCA_SOFT_ROEL=dpu +opendoca does not read it")
        self.assertIn("  role      host", lines)
        self.assertIn("  topology  built in", lines)
        self.assertTrue(any("libdoca_common.so.2" in line for line in lines))
        topology = self.with_topology(json.dumps(TOPOLOGY))
        report = json.loads(run("--json", **topology).stdout)
        self.assertEqual(report["in_force"]["topology"], topology["DOCA_SOFT_TOPOLOGY"])
        self.assertEqual(report["environment"]["DOCA_SOFT"], "1")
        self.assertNotIn("DOCA_SOFT_ROLE", report["environment"])

    def test_every_variable_is_shown_and_in_the_manual(self):
        read = {name for folder in ("src", "tools/doca_trace") for path in (SOURCE_ROOT / folder).rglob("*.cpp")
                for name in re.findall(r'getenv\("(\w+)"\)', path.read_text(encoding="utf-8"))}
        self.assertIn("DOCA_SOFT", read)
        shown = set(re.findall(r"(?m)^  (?:# )?(\w+)=", run("--config").stdout))
        self.assertEqual(shown, read)
        manual = (SOURCE_ROOT / "packaging/man/opendoca.7").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"(?m)^\.It Ev (\w+)$", manual)), read)

    def test_the_check_is_one_line_and_a_status(self):
        result = run("--check")
        self.assertEqual(result.stdout.count("\n"), 1)
        missing = json.loads(run("--json").stdout)["missing"]
        self.assertEqual(result.returncode, 1 if missing else 0)
        self.assertTrue(result.stdout.startswith("Missing: " if missing else "Ready: "), result.stdout)
        for lack in missing:
            self.assertIn(f"{lack['what']} ({lack['remedy']})", result.stdout)

    def test_options_of_nvidias(self):
        devices = run("--list-devs").stdout
        self.assertEqual(devices.count("PCI: "), len(json.loads(run("--json").stdout)["devices"]))
        self.assertRegex(devices, r"PCI: 0000:03:00.0\n    ibdev_name +soft_p0\n    iface_name +p0\n    mac_addr +02:")
        representors = run("--list-rep-devs").stdout
        self.assertEqual(representors.count("PCI: "), 7)
        self.assertRegex(representors,
                         r"PCI: 0000:0b:00.2\n    pci_func_type +VF\n    vuid +\S+vf0\n    iface_name +pf0vf0\n    vhca_id +7\n"
                         r"    dev +soft_p0\n")
        self.assertRegex(devices, r"    active_rate +100000000000\n    vhca_id +1\n    sf_index +-\n")
        self.assertEqual(set(run("--list-libs").stdout.split()),
                         {"doca_argp", "doca_common", "doca_compress", "doca_dma", "doca_erasure_coding", "doca_rdma", "doca_sha",
                          *{"2.2": ["doca_comm_channel"], "3.0": ["doca_comch", "doca_aes_gcm"]}[GENERATION]})

    def test_verbose_shows_what_the_library_logs(self):
        self.assertIn("[DOCA]", run("-v").stderr)

    def test_command_line(self):
        for arguments in ["-h"], ["--help"]:
            result = run(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("Usage: doca_caps", result.stdout)
            self.assertIn("--json", result.stdout)
        for arguments in ["--nope"], ["-x"], ["word"], ["--json=1"]:
            result = run(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stdout, "")
            self.assertIn(arguments[0].split("=")[0], result.stderr)
            self.assertIn("Usage: doca_caps", result.stderr)


if __name__ == "__main__":
    DOCA_CAPS = sys.argv.pop(1)
    GENERATION = sys.argv.pop(1)
    unittest.main()
