#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Attacks a card with a network by packets: random, mutated, repeated, truncated, in wrong order, with wrong numbers,
keys, lengths and addresses, most of them with a right ICRC; by IPv4 and IPv6.

    fuzz_packets.py [--seconds N] [--seed N] WITH_CARD FUZZED_PROGRAM ROCE_PAIR

The card runs in a network namespace, and this process is its network: it reads what the card sends and writes what it
gets, as whole IP packets. FUZZED_PROGRAM has queue pairs and memory on the card, whose peer is played here. In between,
ROCE_PAIR talks to another card, and its packets are changed on the way. What must hold:

- the card lives and answers, and no sanitizer that it was built with reports anything, leaks included
- no byte changes that no key allows to change, and none that must not be read is in any packet of the card
- afterwards honest queue pairs work, and the card is idle and has neither more descriptors nor much more memory

Packets are chosen by the seed. Where something fails, the last packets are left in a file for Wireshark.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

import namespaces
from fuzz_kinds import (ACK, ADD, ATOMIC_ACK, DETH, HEADERS, READ, RESPONSE_FIRST, RESPONSE_LAST, RESPONSE_MIDDLE,
                        RESPONSE_ONLY, SECRET, SEND_ONLY, SEND_ONLY_INV, SWAP, UD, WITHOUT_SECRET, WRITE_FIRST,
                        WRITE_LAST, WRITE_MIDDLE, Envelope, Generator, Target, distance, packet, split)

CARD = {4: "192.0.2.1", 6: "2001:db8::1"}
OTHER_CARD = {4: "192.0.2.2", 6: "2001:db8::2"}
PEER = {4: "192.0.2.66", 6: "2001:db8::66"}  # played here
DEVICE = {4: "mlx5_0", 6: "mlx5_1"}
LOCAL_PEER = "192.0.2.77"  # on the machine of the card, so that the kernel joins its datagrams (UDP_GRO)
LIMIT = 60  # seconds: whatever takes longer hangs
NAMES = {RESPONSE_FIRST: "read response", RESPONSE_MIDDLE: "read response", RESPONSE_LAST: "read response",
         RESPONSE_ONLY: "read response", ATOMIC_ACK: "atomic response", READ: "read of the program",
         SWAP: "atomic of the program", ADD: "atomic of the program"}
NAK_NAMES = {0x60: "NAK sequence", 0x61: "NAK invalid request", 0x62: "NAK access", 0x63: "NAK operation"}
# What a second of fuzzing sees hundreds of. Without one of these the fuzzer does not test what it is for.
EXPECTED_OUTCOMES = ("ACK", "read response", "atomic response", "NAK sequence", "NAK invalid request", "NAK access",
                     "NAK not ready", "read of the program", "atomic of the program", "joined datagrams")


# Sends lines of a size and hexadecimal digits, each as one buffer that the kernel cuts into datagrams of this size
# (UDP_SEGMENT).
JOINED = """
import socket, struct, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
sender.bind((sys.argv[1], 4791))
for line in sys.stdin:
    size, digits = line.split()
    try:
        sender.sendmsg([bytes.fromhex(digits)], [(socket.IPPROTO_UDP, 103, struct.pack("H", int(size)))], 0,
                       (sys.argv[2], 4791))
    except OSError:
        pass  # a size that the kernel refuses
"""


class Failure(Exception):
    """A requirement that did not hold."""


def have_ended(processes):
    return all(process.poll() is not None for process in processes)


class Card:
    """A card in a namespace of its own, and the programs on it."""

    def __init__(self, with_card, name, machine, addresses, environment):
        self.words = [with_card, "--profile", "connectx-5", "--card", name]
        for version, address in addresses.items():
            self.words += ["--address", f"{DEVICE[version]}={address}"]
        self.name, self.machine, self.environment, self.control, self.pid = name, machine, environment, None, 0

    def start(self, *command, **more):
        return subprocess.Popen(self.machine.command(*self.words, *command), text=True, env=self.environment,
                                stdout=subprocess.PIPE, **more)

    def connect(self):
        folder = pathlib.Path(self.environment["XDG_RUNTIME_DIR"], "opendoca-cards", self.name)
        self.control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(LIMIT)
        self.control.connect(str(folder / "control"))
        self.pid = int(self.status()["pid"])

    def ask(self, request):
        """Sends a line to the card's control socket. Returns the words of its answer."""
        try:
            self.control.send(request.encode())
            words = self.control.recv(4096).decode().split()
        except OSError as error:
            raise Failure(f"the card does not answer: {error}") from error
        if not words or words[0] != "ok":
            raise Failure(f"the card has ended, or refuses '{request}': {words}")
        return words

    def status(self):
        words = self.ask("status")
        return dict(zip(words[1::2], words[2::2]))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def memory(self):
        """Resident memory in MiB."""
        pages = int(pathlib.Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 2**20

    def processor_time(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Fuzzer:
    def __init__(self, arguments, folder):
        self.values = random.Random(arguments.seed)
        self.arguments, self.folder = arguments, folder
        log = f"log_path={folder}/report"
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder),
                            "ASAN_OPTIONS": f"{log}:detect_leaks=1:quarantine_size_mb=16:handle_abort=1",
                            "UBSAN_OPTIONS": f"{log}:halt_on_error=1:print_stacktrace=1"}
        self.machines = [namespaces.Machine([f"{CARD[4]}/24", f"{LOCAL_PEER}/24", f"{CARD[6]}/64"], 4200),
                         namespaces.Machine([f"{OTHER_CARD[4]}/24", f"{OTHER_CARD[6]}/64"], 4200)]
        self.card = Card(arguments.with_card, "a", self.machines[0], CARD, self.environment)
        self.other = Card(arguments.with_card, "b", self.machines[1], OTHER_CARD, self.environment)
        self.targets = [Target(version, Envelope(PEER[version], CARD[version])) for version in (4, 6)]
        self.generator = Generator(self.values, self.targets)
        self.sent, self.outcomes = collections.Counter(), collections.Counter()
        self.log = collections.deque(maxlen=4000)
        self.written = 0  # datagrams to UDP port 4791 of the card
        self.answer = {}
        self.program = None
        self.pairs = collections.Counter()
        self.share = 0.0  # of the packets between the cards that are changed
        self.peers = {socket.inet_pton(socket.AF_INET6 if version == 6 else socket.AF_INET, address)
                      for version, address in PEER.items()}

    # The program.

    def start(self):
        self.program = self.card.start(self.arguments.fuzzed_program, "::ffff:" + PEER[4], PEER[6],
                                       stdin=subprocess.PIPE)
        self.command("check")
        self.card.connect()

    def command(self, line):
        try:
            self.program.stdin.write(line + "\n")
            self.program.stdin.flush()
        except OSError as error:
            raise Failure(f"the program has ended: {error}") from error
        if not select.select([self.program.stdout], [], [], LIMIT)[0]:
            raise Failure(f"the program hangs at '{line}'")
        text = self.program.stdout.readline()
        if not text:
            raise Failure(f"the program has ended at '{line}'")
        self.answer = json.loads(text)
        for target, answer in zip(self.targets, self.answer["targets"]):
            if answer["wrong"]:
                raise Failure(f"{DEVICE[target.version]}: {answer['wrong'][:5]}")
            target.update(answer["state"])

    def connect(self):
        """Connects all queue pairs of the program that are broken."""
        self.command(f"connect {self.values.getrandbits(31)}")
        self.listen()  # what is here may be of connections that were before
        for target in self.targets:
            for queue in target.queues:
                queue.is_broken = False
                if queue.kind == "rc":
                    # Long ago: the card acknowledges it by the last number that it has accepted. Answers are lost
                    # where there are many.
                    self.send("probe", target, packet(SEND_ONLY, queue.number, queue.start[0] - 1))
        self.settle()
        self.listen()

    # The network.

    def write(self, machine, whole):
        self.log.append((time.time(), whole))
        try:
            os.write(machine.tun, whole)
        except OSError:
            return False  # the queue is full, or the kernel finds it no IP packet: lost
        return True

    def read(self, machine):
        """All packets that wait."""
        packets = []
        while True:
            try:
                packets.append(os.read(machine.tun, 70000))
            except BlockingIOError:
                return packets
            self.log.append((time.time(), packets[-1]))

    def listen(self):
        """Looks at what the card has sent."""
        for whole in self.read(self.machines[0]):
            self.observe(whole)

    def observe(self, whole):
        parts = split(whole)
        if parts is None or parts[1] not in self.peers:
            return  # of another program, or not of RoCE
        version, _, body = parts
        opcode, number = body[0] & 0x1f, int.from_bytes(body[5:8], "big")
        at = 12 + (DETH if body[0] >> 5 == 3 else 0) + HEADERS.get(opcode, 0)
        if SECRET in body[at:] or (opcode == ATOMIC_ACK and bytes([SECRET]) * 3 in body):
            raise Failure(f"a packet of the card has bytes that no key allows to read: {body.hex()}")
        name = NAMES.get(opcode, "request of the program")
        if opcode == ACK:
            syndrome = body[12]
            name = NAK_NAMES.get(syndrome, "ACK" if syndrome < 0x20 else "NAK not ready")
        self.outcomes[name] += 1
        self.generator.recorded.append(body)
        target = self.targets[version == 6]
        queue = next((each for each in target.queues if each.peer == number), None)
        if queue is None:
            return
        psn = int.from_bytes(body[9:12], "big")
        if name == "NAK sequence":
            queue.expected = psn
        elif opcode == ACK and body[12] > 0x60:
            queue.is_broken = True
        elif name == "NAK not ready":
            queue.expected = psn
        elif opcode == ACK or (opcode == ATOMIC_ACK and distance(psn + 1, queue.expected) > 0):
            queue.expected = psn + 1 & 0xffffff
        elif opcode not in range(RESPONSE_FIRST, ATOMIC_ACK + 1) and queue.kind == "rc" and body[8] & 0x80:
            queue.requests.append(body)

    def settle(self):
        """Waits until the card has read what was written. The kernel has dropped some of it."""
        last, since = -1, time.monotonic()
        while True:
            status = self.card.status()
            count = int(status["received-packets"]) + int(status["dropped-packets"])
            if count >= self.written:
                return
            if count != last:
                last, since = count, time.monotonic()
            elif time.monotonic() - since > 0.01:
                self.written = count
                return

    # The attack.

    def send(self, kind, target, body):
        """Sends a packet, most with a right ICRC, some in an envelope that is wrong."""
        body = body[:12] + body[12:].translate(WITHOUT_SECRET)
        envelope, options, how = target.envelope, {}, self.values.randrange(40)
        if how == 0:
            options["flip"] = 1 << self.values.randrange(32)
            kind = "wrong_icrc"
        elif how == 1:
            options["port"] = self.values.getrandbits(16)
        elif how == 2:
            options["identification"] = self.values.getrandbits(16)
        elif how == 3:
            envelope = Envelope("192.0.2.67" if target.version == 4 else "2001:db8::67", CARD[target.version])
            kind = "wrong_sender"
        if len(body) > 60000:
            body = body[:60000]
        whole = envelope.wrap(body, **options)
        if how == 4:
            whole = bytearray(whole)  # the IP or UDP header, or anything: with a wrong ICRC
            whole[self.values.randrange(len(whole))] ^= 1 << self.values.randrange(8)
            kind = "wrong_bits"
        self.sent[kind] += 1
        if self.write(self.machines[0], bytes(whole)):
            self.written += 1
        if self.values.randrange(8) == 0:
            self.generator.recorded.append(body)

    def round(self):
        """One set of connections, and some hundred packets."""
        self.connect()
        self.command("revoke" if self.values.randrange(3) == 0 else "restore")
        kinds, weights = zip(*self.generator.kinds)
        for _ in range(self.values.randrange(4, 12)):
            if self.values.randrange(2):
                self.command(f"post {self.values.getrandbits(31)}")
            for _ in range(24):
                target = self.targets[self.values.randrange(4) == 0]
                alive = [queue for queue in target.queues if not queue.is_broken]
                queue = self.values.choice(alive if alive and self.values.randrange(20) else target.queues)
                kind = self.values.choices(kinds, weights)[0]
                for body in kind(target, queue):
                    self.send(kind.__name__, target, body)
            if self.values.randrange(20) == 0:
                self.card.ask(self.values.choice(("qp-fatal host 0", "qp-fatal host 1", "lose-message count 3")))
            if self.values.randrange(8):  # else the program's next calls come between these packets
                self.settle()
            self.listen()
        if self.values.randrange(5) == 0:
            self.revoke_in_the_middle()
        self.command("check")
        self.use_invalidated_windows()

    def revoke_in_the_middle(self):
        """A region is destroyed while its bytes are written and read."""
        self.command("restore")
        rest = []
        for target in self.targets:
            region = target.regions["revoked"]
            queues = [queue for queue in target.queues if queue.kind == "rc" and not queue.is_broken]
            for queue in self.values.sample(queues, min(3, len(queues))):
                count = self.values.randrange(3, 30)
                place = region["address"] + self.values.randrange(region["size"] - count * queue.mtu)
                packets = [packet(WRITE_FIRST, queue.number, queue.next(), struct.pack(
                    ">QII", place, region["key"], count * queue.mtu), self.values.randbytes(queue.mtu))]
                packets += [packet(WRITE_MIDDLE if i < count - 1 else WRITE_LAST, queue.number, queue.next(), b"",
                                   self.values.randbytes(queue.mtu)) for i in range(1, count)]
                begun = self.values.randrange(1, count)
                for body in packets[:begun]:
                    self.send("write_and_revoke", target, body)
                rest += [(target, body) for body in packets[begun:]]
        self.settle()
        for target in self.targets:
            region = target.regions["revoked"]
            queues = [queue for queue in target.queues if queue.kind == "rc" and queue.reads and not queue.is_broken]
            for queue in sorted(queues, key=lambda each: each.mtu)[:3]:  # with most packets
                headers = struct.pack(">QII", region["address"], region["key"], region["size"])
                psn = queue.next(-(-region["size"] // queue.mtu))
                self.send("read_and_revoke", target, packet(READ, queue.number, psn, headers))
        self.command("revoke")  # at once: the answers to these reads take the card some time
        for target, body in rest:
            self.send("write_and_revoke", target, body)
        self.settle()
        self.listen()

    def use_invalidated_windows(self):
        """The key of a window is used after it was invalidated."""
        if self.values.randrange(4) == 0:
            self.connect()
        for target in self.targets:
            queue = target.queues[0]
            if not queue.is_broken and self.values.randrange(2):  # else it may have been before
                self.send("invalidate", target, packet(SEND_ONLY_INV, queue.number, queue.next(),
                                                       struct.pack(">I", target.window)))
        self.settle()
        self.command("check")  # the program makes the memory of the window secret
        for target in self.targets:
            address = target.regions["window"]["address"]
            for body in self.generator.with_reth(target.queues[0], address, target.window, 64):
                self.send("old_key", target, body)
        self.settle()
        self.listen()
        self.command("check")

    def send_joined(self):
        """Datagrams that the kernel joins, to queue pairs that take those of any peer."""
        target, envelope = self.targets[0], Envelope(LOCAL_PEER, CARD[4])
        queues = [queue for queue in target.queues if queue.kind == "ud"]
        lines = []
        for _ in range(40):
            size = self.values.choice((16, 20, 24, 60, 228, 1024, 1048))
            whole = b""
            for _ in range(1 + self.values.randrange(min(60, 60000 // size))):
                headers = struct.pack(">II", target.qkey, 5) + self.values.randbytes(size)
                body = packet(UD | SEND_ONLY, self.values.choice(queues).number, 0)[:12] + headers[:size - 16]
                whole += envelope.wrap(body if self.values.randrange(8) else self.generator.mutate(body))[28:]
                self.sent["joined"] += 1
            lines.append(f"{size} {whole[:self.values.choice((len(whole), len(whole) - 5))].hex()}\n")
        before = int(self.card.status()["received-packets"])
        words = self.machines[0].command(sys.executable, "-c", JOINED, LOCAL_PEER, CARD[4])
        subprocess.run(words, input="".join(lines), text=True, check=True, timeout=LIMIT)
        self.outcomes["joined datagrams"] += int(self.card.status()["received-packets"]) - before

    # Between two cards.

    def relay(self, until, tampers, limit):
        """Passes packets between the cards, and changes some, until a condition holds. Returns whether it does."""
        end = time.monotonic() + limit
        held = []
        while time.monotonic() < end:
            if until():
                return True
            select.select([machine.tun for machine in self.machines], [], [], 0.02)
            for source, to in (self.machines, self.machines[::-1]):
                for whole in self.read(source):
                    parts = split(whole)
                    if parts is not None and source is self.machines[0]:
                        self.check_foreign(parts)
                    for out in self.tamper(whole, parts, held) if tampers and parts is not None else [whole]:
                        self.write(to, out)
        return until()

    def check_foreign(self, parts):
        """Nothing of the attacked program is in packets of another one."""
        if bytes([SECRET]) * 12 in parts[2]:
            raise Failure(f"a packet of the card has the program's memory: {parts[2].hex()}")

    def tamper(self, whole, parts, held):
        version, _, body = parts
        chance = self.values.random() * 0.04 / self.share
        if chance > 0.04:
            return [whole]
        self.sent["between_cards"] += 1
        at = 20 if version == 4 else 40
        source, destination = (whole[12:16], whole[16:20]) if version == 4 else (whole[8:24], whole[24:40])
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        envelope = Envelope(socket.inet_ntop(family, source), socket.inet_ntop(family, destination))
        if chance < 0.005:
            return []
        if chance < 0.01:
            held.append(whole)
            return [whole, held.pop(self.values.randrange(len(held))) if len(held) > 50 else whole]
        if chance < 0.015:
            changed = bytearray(whole)
            changed[self.values.randrange(at + 8, len(changed))] ^= 1 << self.values.randrange(8)
            return [bytes(changed)]
        if chance < 0.02:  # an answer or request of someone else
            body = self.values.choice(self.generator.recorded) if self.generator.recorded else body
            body = body[:5] + parts[2][5:8] + body[8:9] + parts[2][9:12] + body[12:]
        changed = envelope.wrap(self.generator.mutate(body)[:60000])
        return [changed] if chance < 0.03 else [changed, whole]

    def between_cards(self, seconds):
        """Two programs transfer and check data, while packets are changed: the data may be wrong and the connection
        break, and nothing else."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            version = self.values.choice((4, 6))
            self.share = self.values.choice((0.001, 0.005, 0.02, 0.1))
            words = [self.arguments.roce_pair, DEVICE[version], "3", self.values.choice(("256", "1024", "2048")), "12",
                     "7", "30", "18600"]
            processes = [self.card.start(*words, stderr=subprocess.DEVNULL)]
            try:
                if not self.wait_for_listener(processes[0], 18600):
                    self.pairs["not begun"] += 1
                    continue
                processes.append(self.other.start(*words, CARD[4], stderr=subprocess.DEVNULL))
                if self.relay(lambda: have_ended(processes), True, min(5, max(0.5, end - time.monotonic()))):
                    self.pairs["right" if all(process.returncode == 0 for process in processes) else "broken"] += 1
                else:
                    self.pairs["stopped"] += 1
            finally:
                for process in processes:
                    process.kill()
                    process.communicate()
        self.written = 0
        status = self.card.status()
        self.written = int(status["received-packets"]) + int(status["dropped-packets"])
        self.command("check")

    def wait_for_listener(self, process, port):
        words = self.machines[0].command("ss", "-Htln", f"sport = :{port}")
        return self.relay(lambda: process.poll() is not None or subprocess.run(
            words, capture_output=True, text=True, check=True).stdout.strip(), False, LIMIT) and process.poll() is None

    # What must hold at the end.

    def serve_honest_peers(self):
        self.card.ask("clear")  # faults that were requested
        for version, kind in ((4, "rc"), (6, "rc"), (4, "ud"), (4, "uc")):
            words = [f"ibv_{kind}_pingpong", "-d", DEVICE[version], "-g", "3", "-n", "50", "-s", "1000", "-c"]
            for attempt in range(3):
                # A queue of the network that is full for a moment may lose a packet, even the last one.
                texts = self.pingpong(words)
                if texts is None:
                    break
                if attempt == 2:
                    raise Failure(f"after the attack, {' '.join(words)} fails: {texts}")

    def pingpong(self, words):
        """Returns what the two programs have written if they fail."""
        processes = [self.card.start(*words, stderr=subprocess.STDOUT)]
        try:
            self.wait_for_listener(processes[0], 18515)
            processes.append(self.other.start(*words, CARD[4], stderr=subprocess.STDOUT))
            self.relay(lambda: have_ended(processes), False, 15)
        finally:
            for process in processes:
                process.kill()
            texts = [process.communicate()[0] for process in processes]
        return texts if any(process.returncode != 0 for process in processes) else None

    def be_idle(self):
        self.connect()
        deadline = time.monotonic() + LIMIT
        while True:
            before = self.card.processor_time()
            time.sleep(1)
            self.read(self.machines[0])
            if (used := self.card.processor_time() - before) < 0.2:
                return
            if time.monotonic() > deadline:
                raise Failure(f"the card uses {used:.2f} s of a second though nobody sends anything")

    def run(self):
        self.start()
        begin = time.monotonic()
        end = begin + self.arguments.seconds
        self.round()
        descriptors, memory = self.card.descriptors(), self.card.memory()
        has_memory_of_start = False
        accepted = 0, 0  # packets that were intact for the card, and others
        next_report = begin + 60
        attack_time, attack_packets = 0.0, 0
        # A machine with much other work takes longer to reach what is to be reached.
        while time.monotonic() < end or (self.not_reached(accepted) and time.monotonic() < end + LIMIT):
            before, count = time.monotonic(), sum(self.sent.values())
            stop = before + max(1.5, min(self.arguments.seconds / 10, 30, end - before))
            while time.monotonic() < stop:
                self.round()
            attack_time += time.monotonic() - before
            attack_packets += sum(self.sent.values()) - count
            status = self.card.status()
            accepted = int(status["received-packets"]), int(status["dropped-packets"])
            if not has_memory_of_start:
                memory, has_memory_of_start = self.card.memory(), True
            self.send_joined()
            self.between_cards(min(10, self.arguments.seconds / 8))
            if time.monotonic() > next_report:
                next_report += 60
                print(f"{time.monotonic() - begin:.0f} s: {sum(self.sent.values())} packets, "
                      f"{self.card.memory():.0f} MiB", flush=True)
        self.command("check")
        self.be_idle()
        self.serve_honest_peers()
        self.command("check")
        self.report(attack_packets / max(attack_time, 0.001), accepted)
        if (now := self.card.descriptors()) > descriptors + 4:
            raise Failure(f"the card has {now} descriptors, and had {descriptors}")
        if (now := self.card.memory()) > memory + 100:
            raise Failure(f"the card has {now:.0f} MiB of memory, and had {memory:.0f}")
        if missing := self.not_reached(accepted):
            raise Failure(f"the attack has not reached: {missing}")
        self.end()

    def report(self, rate, accepted):
        print(f"{sum(self.sent.values())} packets, {rate:.0f} a second; "
              f"the card took {accepted[0]} and dropped {accepted[1]}")
        print("sent: " + ", ".join(f"{kind} {count}" for kind, count in sorted(self.sent.items())))
        print("from the card: " + ", ".join(f"{name} {count}" for name, count in sorted(self.outcomes.items())))
        for target, answer in zip(self.targets, self.answer["targets"]):
            counts = {name: value for name, value in answer.items() if name not in ("wrong", "state")}
            print(f"{DEVICE[target.version]}, the program: {counts}")
        print(f"pairs between the cards: {dict(self.pairs)}", flush=True)

    def not_reached(self, accepted):
        """Lists what the attack should have met by now: a fuzzer whose packets do not get in tests nothing."""
        missing = [name for name in EXPECTED_OUTCOMES if self.outcomes[name] == 0]
        for target, answer in zip(self.targets, self.answer["targets"]):
            missing += [f"{name} of {DEVICE[target.version]}"
                        for name in ("received", "sent", "failed", "changed", "results") if answer[name] == 0]
        if sum(answer["invalidated"] for answer in self.answer["targets"]) == 0:
            missing.append("a window that was invalidated")
        if 2 * accepted[0] < sum(accepted) or accepted[0] == 0:
            missing.append("a card that takes more than half of the packets")
        return missing

    def end(self):
        """The program and the card end, the latter two seconds later."""
        self.program.stdin.write("quit\n")
        self.program.stdin.flush()
        self.program.wait(LIMIT)
        self.card.control.close()
        deadline = time.monotonic() + LIMIT
        while os.path.exists(f"/proc/{self.card.pid}"):
            if time.monotonic() > deadline:
                raise Failure("the card does not end")
            time.sleep(0.05)

    def reports(self):
        """What sanitizers have written, and what the cards have logged, which is nothing in the usual case."""
        paths = [*sorted(self.folder.glob("report*")), *sorted(self.folder.glob("opendoca-cards/*/log"))]
        return "\n".join(text for path in paths if (text := path.read_text(errors="replace")))

    def save(self, path):
        """Writes the last packets as a capture of raw IP."""
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 18, 101))
            for at, whole in self.log:
                file.write(struct.pack("<IIII", int(at), int(at % 1 * 1e6), len(whole), len(whole)) + whole)

    def close(self):
        if self.program is not None:
            self.program.kill()
            self.program.communicate()
        for machine in self.machines:
            machine.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4, help="of the attack; %(default)s")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(31), help="default: any")
    parser.add_argument("with_card")
    parser.add_argument("fuzzed_program")
    parser.add_argument("roce_pair")
    arguments = parser.parse_args()
    for name in ("with_card", "fuzzed_program", "roce_pair"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    namespaces.skip_without_namespaces()
    print(f"seed {arguments.seed}, {arguments.seconds:g} s", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fuzz-", dir="/tmp"))  # a short name: sockets are in it
    fuzzer = Fuzzer(arguments, folder)
    failure = None
    try:
        fuzzer.run()
    except Failure as found:
        failure = found
        time.sleep(1)  # a card that has died still writes its report
    finally:
        fuzzer.close()
    reports = fuzzer.reports()
    shutil.rmtree(folder, ignore_errors=True)
    if failure is None and not reports:
        return 0
    saved = f"fuzz_packets-{arguments.seed}.pcap"
    fuzzer.save(saved)
    print(f"FAILED with the seed {arguments.seed}: {failure or 'a sanitizer has reported something'}\n{reports}\n"
          f"the last packets are in {os.path.abspath(saved)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
