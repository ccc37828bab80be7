#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Programs of others on two cards in two network namespaces, which talk RoCE v2 by a relay of this process.

Arguments: with_card, doca_bench of 2.2 and of 3.0, and roce_pair.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import zlib

import namespaces

WITH_CARD = ""
BENCHES = {}  # doca_bench, by generation
ROCE_PAIR = ""
IPV4 = ("192.0.2.1", "192.0.2.2")
IPV6 = ("2001:db8::1", "2001:db8::2")
LIMIT = 120  # seconds


class Cards:
    """The machines and the cards in them: the server's first."""

    def __init__(self, mtu):
        self.machines = [namespaces.Machine([f"{IPV4[i]}/24", f"{IPV6[i]}/64"], mtu) for i in (0, 1)]
        self.relay = namespaces.Relay(*self.machines)
        self.processes = []

    def start(self, side, addresses, *command, options=(), environment=None):
        # A card that runs keeps its addresses and its namespace, so other ones are those of another card.
        name = f"net-{os.getpid()}-{self.machines[side].pid}-{'v6' if ':' in addresses[0] else 'v4'}"
        words = [WITH_CARD, "--profile", "connectx-5", "--card", name, *options]
        for address in addresses:
            words += ["--address", address]
        self.processes.append(subprocess.Popen(self.machines[side].command(*words, *command), text=True,
                                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                               stderr=subprocess.STDOUT, env=environment))
        return self.processes[-1]

    def end_programs(self):
        """Ends what a test that has failed leaves."""
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
        self.processes.clear()

    def close(self):
        self.end_programs()
        self.relay.close()
        for machine in self.machines:
            machine.close()


def listens(machine, port):
    """Whether somebody listens at a TCP port of the machine."""
    found = subprocess.run(machine.command("ss", "-Htln", f"sport = :{port}"), capture_output=True, text=True, check=True)
    return bool(found.stdout.strip())


class Network(unittest.TestCase):
    mtu = 1500

    def setUp(self):
        self.cards = Cards(self.mtu)
        self.addCleanup(self.cards.close)

    def pair(self, addresses, port, *command, client_options=(), expected=(0, 0)):
        """Runs a server and its client. Returns what they have written."""
        self.cards.end_programs()
        server = self.cards.start(0, [addresses[0]], *command)
        while not listens(self.cards.machines[0], port):
            self.assertIsNone(server.poll(), f"{command}: the server has ended early")
            time.sleep(0.01)
        # The programs exchange their details by IPv4; ibv_*_pingpong knows nothing else.
        client = self.cards.start(1, [addresses[1]], *command, *client_options, IPV4[0])
        texts = [process.communicate(timeout=LIMIT)[0] for process in (server, client)]
        self.assertEqual((server.returncode, client.returncode), expected,
                         f"{command} {client_options}:\n{texts[0]}\n{texts[1]}")
        return texts

    def pingpong(self, kind, addresses, *options, **more):
        return self.pair(addresses, 18515, f"ibv_{kind}_pingpong", "-d", "mlx5_0", "-g", "3", *options, **more)

    def perftest(self, name, addresses, *options, **more):
        return self.pair(addresses, 18515, name, "-d", "mlx5_0", "-x", "3", "-F", *options, **more)


class Quiet(Network):
    mtu = 4200  # for a path MTU of 4096

    def test_messages_arrive_as_they_were_sent(self):
        for addresses in (IPV4, IPV6):
            for kind in ("rc", "uc", "srq"):
                for mtu in ("256", "4096"):
                    with self.subTest(kind=kind, mtu=mtu, addresses=addresses):
                        check = ["-c"] if kind != "srq" else []
                        self.pingpong(kind, addresses, "-m", mtu, "-n", "50", "-s", "10001", *check)
            self.pingpong("ud", addresses, "-n", "50", "-s", "1001", "-c")
        self.pingpong("rc", IPV4, "-n", "50", "-s", "10000", "-c", "-j")  # from and to device memory

    def test_the_port_has_the_addresses_and_the_mtu(self):
        text = self.cards.start(0, [IPV4[0]], "ibv_devinfo", "-d", "mlx5_0", "-v").communicate(timeout=LIMIT)[0]
        self.assertIn(f"GID[  3]:\t\t::ffff:{IPV4[0]}, RoCE v2", text)
        self.assertRegex(text, r"active_mtu:\s+4096")

    def test_all_operations(self):
        sizes = ("1", "4097", "65536", "1000000")
        for name, *options in (*((name, "-s", size) for name in ("ib_write_bw", "ib_read_bw", "ib_send_bw")
                                 for size in sizes), ("ib_atomic_bw",),
                               ("ib_write_bw", "-c", "UC", "-s", "65536"), ("ib_send_bw", "-c", "UD", "-s", "1024"),
                               ("ib_write_bw", "-q", "4", "-s", "100000"), ("ib_read_lat", "-s", "8"),
                               ("ib_atomic_lat", "-A", "CMP_AND_SWAP"), ("ib_write_lat", "-s", "8")):
            with self.subTest(name=name, options=options):
                self.perftest(name, IPV4, *options, "-n", "20")

    def test_a_card_is_idle_after_its_connections(self):
        holder = self.cards.start(0, [IPV4[0]], "sh", "-c", "echo runs; exec tail -f /dev/null")
        self.assertEqual(holder.stdout.readline(), "runs\n")
        self.cards.processes.remove(holder)  # end_programs() leaves it
        try:
            self.pingpong("rc", IPV4, "-n", "100")
            words = self.cards.start(0, [IPV4[0]], options=("--fault", "status")).communicate(timeout=LIMIT)[0].split()
            self.assertGreater(int(words[words.index("received-packets") + 1]), 100)
            stat = pathlib.Path("/proc", words[words.index("pid") + 1], "stat")

            def ticks():
                return sum(int(number) for number in stat.read_text(encoding="ascii").split()[13:15])

            # The timeouts of the connections, 67 ms and less, pass in this time.
            before = ticks()
            time.sleep(1)
            self.assertLess(ticks() - before, 20, "of 100 ticks in a second")
        finally:
            holder.kill()
            holder.wait()
            holder.stdout.close()

    def test_a_card_that_runs_keeps_its_addresses(self):
        holder = self.cards.start(0, [IPV4[0]], "sh", "-c", "echo runs; exec tail -f /dev/null")
        self.assertEqual(holder.stdout.readline(), "runs\n")
        for address, status, text in ((IPV4[0], 0, ""), ("mlx5_0=" + IPV4[0], 0, ""), ("mlx5_1=" + IPV4[0], 125, "it has"),
                                      ("192.0.2.77", 125, "without the address")):
            other = self.cards.start(0, [address], "true")
            written = other.communicate(timeout=LIMIT)[0]
            self.assertEqual(other.returncode, status, written)
            self.assertIn(text, written)


class Doca(Network):
    def test_rdma_of_both_generations(self):
        for generation, bench in BENCHES.items():
            with self.subTest(generation=generation):
                self.cards.end_programs()
                words = (bench, "rdma", "--device", "mlx5_0", "--wait", "0")
                environment = {**os.environ, "DOCA_SOFT": "0"}
                server = self.cards.start(0, [IPV4[0]], *words, "--server", environment=environment)
                port = server.stdout.readline().split()[-1]
                client = self.cards.start(1, [IPV4[1]], *words, "--connect", f"{IPV4[0]}:{port}", "--tests", "rate",
                                          "--sizes", "8,10000", "--rounds", "1", "--time", "0.02", "--pin", "none",
                                          environment=environment)
                text = client.communicate(timeout=LIMIT)[0]
                self.assertEqual(client.returncode, 0, text)
                self.assertNotIn("failed", text)
                for job in ("write", "read", "send", "fetch_add"):
                    self.assertRegex(text, rf"\b{job} +rate +polling +8 B")
                self.assertGreater(self.cards.relay.counts["passed"], 1000)


class Libraries(Network):
    mtu = 4200

    @unittest.skipUnless(shutil.which("ucx_perftest"), "ucx_perftest is not installed")
    def test_ucx(self):
        variables = {"UCX_NET_DEVICES": "mlx5_0:1", "UCX_IB_GID_INDEX": "3"}
        for transport, test, size in (("rc_x", "tag_bw", 65536), ("rc_v", "ucp_put_bw", 65536), ("rc_x", "ucp_get", 8),
                                      ("rc_x", "ucp_fadd", 8), ("ud_v", "tag_bw", 8192)):
            with self.subTest(transport=transport, test=test):
                passed = self.cards.relay.counts["passed"]
                texts = self.pair(IPV4, 13337, "env", *(f"{name}={value}" for name, value in variables.items()),
                                  f"UCX_TLS={transport}", "ucx_perftest", "-t", test, "-s", str(size), "-n", "100",
                                  "-w", "10", "-f")
                self.assertRegex(texts[1], r"(?m)^(?:Final:)?\s*100\s")
                self.assertGreater(self.cards.relay.counts["passed"] - passed, 100)

    @unittest.skipUnless(shutil.which("fi_pingpong"), "fi_pingpong is not installed")
    def test_libfabric(self):
        for endpoint in ("msg", "dgram"):
            with self.subTest(endpoint=endpoint):
                passed = self.cards.relay.counts["passed"]
                texts = self.pair(IPV4, 47592, "env", "FI_VERBS_GID_IDX=3", "fi_pingpong", "-p", "verbs", "-e", endpoint,
                                  "-I", "20", "-c")
                self.assertRegex(texts[1], r"(?m)^1k\s+20\s+=20\s")
                self.assertGreater(self.cards.relay.counts["passed"] - passed, 100)


class Disturbed(Network):
    def pingpong(self, *arguments, **more):
        """As of the others. A program that has received its last message ends, and its queue pair with it: if the
        acknowledgement is lost, which a full queue of the relay suffices for, its peer's last request finds nobody.
        """
        for _ in range(2):
            try:
                return super().pingpong(*arguments, **more)
            except AssertionError as failure:
                if "(1, 0) != (0, 0)" not in str(failure) or "transport retry counter exceeded" not in str(failure):
                    raise
        return super().pingpong(*arguments, **more)

    def test_reliable_connections_survive_loss_repetition_disorder_and_corruption(self):
        # A pingpong does not wait for the acknowledgement of its last message: the end of each is calm.
        relay = self.cards.relay
        for addresses in (IPV4, IPV6):
            relay.disturb(0.01, 4000)
            self.pingpong("rc", addresses, "-c", "-n", "100", "-s", "60000")
        relay.disturb(0.01, 4000)
        self.pingpong("srq", IPV4, "-e", "-n", "200", "-s", "60000")
        for name in ("ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_atomic_bw"):
            relay.disturb(0.01, 2000)
            self.perftest(name, IPV4, "-n", "50", *(["-s", "65536"] if name != "ib_atomic_bw" else []))
        for what, count in relay.counts.items():
            self.assertGreater(count, 10, f"{what}: {relay.counts}")

    def test_answers_and_memory_are_right(self):
        for mtu in ("256", "1024"):
            self.cards.relay.disturb(0.01, 3000)
            self.pair(IPV4, 18515, ROCE_PAIR, "mlx5_0", "3", mtu, "14", "7", "50", "18515")

    def test_an_acknowledgement_behind_other_packets_is_not_late(self):
        """A card that did not run for longer than the timeout looks at what has come before it sends again."""
        words = (ROCE_PAIR, "mlx5_0", "3", "1024", "17", "0", "200", "18515")  # 0.54 s, no retry
        server = self.cards.start(0, [IPV4[0]], *words)
        while not listens(self.cards.machines[0], 18515):
            self.assertIsNone(server.poll())
            time.sleep(0.01)
        client = self.cards.start(1, [IPV4[1]], *words, IPV4[0])
        while self.cards.relay.counts["passed"] < 200:
            self.assertIsNone(client.poll())
            time.sleep(0.01)
        pids = []
        for side in (0, 1):
            status = self.cards.start(side, [IPV4[side]], options=("--fault", "status")).communicate(timeout=LIMIT)[0].split()
            pids.append(int(status[status.index("pid") + 1]))
        for pid in pids:
            self.addCleanup(os.kill, pid, signal.SIGCONT)
        os.kill(pids[0], signal.SIGSTOP)
        time.sleep(0.02)  # a request is in flight by then
        os.kill(pids[1], signal.SIGSTOP)
        passed = self.cards.relay.counts["passed"]
        subprocess.run(self.cards.machines[0].command(sys.executable, "-c", MANY_PACKETS, IPV4[1]), check=True, timeout=LIMIT)
        while self.cards.relay.counts["passed"] < passed + 500:  # 128 are read at a time
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGCONT)  # its acknowledgement comes behind these packets
        time.sleep(1)
        os.kill(pids[1], signal.SIGCONT)
        texts = [process.communicate(timeout=LIMIT)[0] for process in (server, client)]
        self.assertEqual((server.returncode, client.returncode), (0, 0), texts)

    def test_a_peer_that_is_cut_off_ends_with_exhausted_retries(self):
        server = self.cards.start(0, [IPV4[0]], "ibv_rc_pingpong", "-d", "mlx5_0", "-g", "3", "-n", "100000000")
        while not listens(self.cards.machines[0], 18515):
            time.sleep(0.01)
        client = self.cards.start(1, [IPV4[1]], "ibv_rc_pingpong", "-d", "mlx5_0", "-g", "3", "-n", "100000000", IPV4[0])
        while self.cards.relay.counts["passed"] < 1000:
            self.assertIsNone(client.poll())
            time.sleep(0.01)
        self.cards.relay.is_cut = True
        # One of them waits for an acknowledgement; the other one may wait for messages for ever.
        while server.poll() is None and client.poll() is None:
            time.sleep(0.01)
        ended = client if server.poll() is None else server
        self.assertIn("transport retry counter exceeded", ended.communicate()[0])


def icrc(source, destination, source_port, packet):
    """The ICRC of an IPv4 packet with ID 0, by the words of annex A17."""
    size = len(packet) + 4
    header = b"\xff" * 8 + b"\x45\xff" + (28 + size).to_bytes(2, "big") + b"\0\0\x40\0\xff\x11\xff\xff"
    header += socket.inet_aton(source) + socket.inet_aton(destination)
    header += source_port.to_bytes(2, "big") + (4791).to_bytes(2, "big") + (8 + size).to_bytes(2, "big") + b"\xff\xff"
    return zlib.crc32(header + packet[:4] + b"\xff" + packet[5:]).to_bytes(4, "little")


MANY_PACKETS = """
import socket, sys, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1000):
    sender.sendto(bytes(16), (sys.argv[1], 4791))
    if i % 50 == 0:
        time.sleep(0.01)  # the queue of the device is short
"""

HOSTILE = """
import random, socket, sys
sys.path.insert(0, sys.argv[1])
from test_network import icrc
source, destination, seed = sys.argv[2], sys.argv[3], int(sys.argv[4])
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO: the ID is 0
sender.bind((source, 0))
port = sender.getsockname()[1]
values = random.Random(seed)
for i in range(20000):
    size = values.choice((12, 16, 20, 28, 40, 44, 300, 1068))
    packet = bytearray(values.randbytes(size))
    packet[0] = values.choice((0, 0x20, 0x60)) | values.randrange(32)
    packet[1] &= 0xf0
    packet[2:4] = b"\\xff\\xff"
    packet[4:8] = (0x100 + values.randrange(64)).to_bytes(4, "big")
    if i % 2:
        packet[9:12] = values.randrange(4).to_bytes(3, "big")  # near to the PSNs of the queue pairs
    packet = bytes(packet)
    sender.sendto(packet + (icrc(source, destination, port, packet) if i % 8 else b"\\0\\0\\0\\0"), (destination, 4791))
"""


class Hostile(Network):
    def test_random_packets_do_not_end_a_card(self):
        """They have the address of the peer and a right ICRC. What they may break is a connection."""
        folder = str(pathlib.Path(__file__).resolve().parent)
        server = self.cards.start(0, [IPV4[0]], "ib_write_bw", "-d", "mlx5_0", "-x", "3", "-F", "-q", "16")
        while not listens(self.cards.machines[0], 18515):
            time.sleep(0.01)
        client = self.cards.start(1, [IPV4[1]], "ib_write_bw", "-d", "mlx5_0", "-x", "3", "-F", "-q", "16", "-n", "10000000",
                                  IPV4[0])
        while self.cards.relay.counts["passed"] < 500:
            self.assertIsNone(client.poll())
            time.sleep(0.01)
        for seed in range(3):
            subprocess.run(self.cards.machines[1].command(sys.executable, "-c", HOSTILE, folder, IPV4[1], IPV4[0], str(seed)),
                           check=True, timeout=LIMIT)
        self.assertIsNone(server.poll())
        self.cards.end_programs()
        self.pingpong("rc", IPV4, "-c", "-n", "50")
        self.pingpong("ud", IPV4, "-c", "-n", "50", "-s", "1000")


if __name__ == "__main__":
    WITH_CARD, BENCHES["2.2"], BENCHES["3.0"], ROCE_PAIR = (os.path.abspath(path) for path in sys.argv[-4:])
    del sys.argv[-4:]
    namespaces.skip_without_namespaces()
    unittest.main()
