# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Machines for tests: network namespaces, joined by a relay in this process.

The relay moves IP packets between two TUN devices. On request it loses, repeats, swaps and garbles packets of RoCE.
"""
import ctypes
import fcntl
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading

CLONE_NEWNET = 0x40000000
ROCE_PORT = 4791


def unshare_network():
    """Moves this process to a network namespace of its own. Raises OSError where that is not permitted."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def run(*command):
    subprocess.run(command, check=True)


def open_tun(name):
    """A TUN device of this namespace: a descriptor from which its packets are read."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    iff_tun, iff_no_pi, tunsetiff = 0x0001, 0x1000, 0x400454ca
    fcntl.ioctl(fd, tunsetiff, struct.pack("16sH", name.encode(), iff_tun | iff_no_pi))
    return fd


class Machine:
    """A namespace with loopback and one TUN device, kept by a child process."""

    def __init__(self, addresses, mtu=1500):
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self._keep(theirs, addresses, mtu)
        theirs.close()
        message, descriptors, _, _ = socket.recv_fds(ours, 64, 1)
        self._life = ours  # the child ends when it is closed
        if not descriptors:
            raise OSError(0, message.decode() or "no TUN device")
        self.tun = descriptors[0]

    @staticmethod
    def _keep(theirs, addresses, mtu):
        try:
            # What this process has of other machines would keep them alive.
            os.closerange(3, theirs.fileno())
            os.closerange(theirs.fileno() + 1, 1024)
            unshare_network()
            tun = open_tun("tun0")
            for device in ("lo", "tun0"):
                run("ip", "link", "set", device, "up", "mtu", str(mtu) if device == "tun0" else "65536")
            for address in addresses:
                run("ip", "addr", "add", address, "dev", "tun0", *(["nodad"] if ":" in address else []))
            socket.send_fds(theirs, [b"ready"], [tun])
            theirs.recv(1)
        except (OSError, subprocess.CalledProcessError) as error:
            theirs.send(str(error).encode())
        os._exit(0)

    def command(self, *words):
        """The words of a command that runs in this namespace."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *words]

    def close(self):
        os.close(self.tun)
        self._life.close()
        os.waitpid(self.pid, 0)


class Relay:
    """Joins two machines."""

    def __init__(self, one, other, seed=1):
        self._rate, self._left = 0.0, 0
        self.is_cut = False
        self.counts = {"passed": 0, "lost": 0, "repeated": 0, "swapped": 0, "garbled": 0}
        self._random = random.Random(seed)
        self._ends = {one.tun: other.tun, other.tun: one.tun}
        self._held = {}
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def disturb(self, rate, packets):
        """Of the next packets of RoCE loses, repeats, swaps and garbles this share each."""
        self._rate, self._left = rate, packets

    def _run(self):
        while True:
            ready, _, _ = select.select([*self._ends, self._stop_read], [], [], 0.02 if self._held else None)
            if self._stop_read in ready:
                return
            for fd in ready:
                self._pass(fd)
            if not ready:
                for fd, packet in self._held.items():
                    self._write(fd, packet)
                self._held.clear()

    def _pass(self, fd):
        for _ in range(64):
            try:
                packet = os.read(fd, 70000)
            except BlockingIOError:
                return
            for out in self._disturb(self._ends[fd], packet):
                self._write(self._ends[fd], out)

    @staticmethod
    def _write(fd, packet):
        try:
            os.write(fd, packet)
        except OSError:
            pass  # the queue of the device is full: lost, as on a network

    def _chance(self, name):
        happens = self._left > 0 and self._random.random() < self._rate
        self.counts[name] += happens
        return happens

    def _disturb(self, fd, packet):
        udp = 20 if packet[0] >> 4 == 4 else 40
        protocol = packet[9] if udp == 20 else packet[6]
        if protocol != socket.IPPROTO_UDP or struct.unpack_from(">H", packet, udp + 2)[0] != ROCE_PORT:
            return [packet]
        self._left -= 1
        if self.is_cut or self._chance("lost"):
            return []
        self.counts["passed"] += 1
        if self._chance("garbled"):
            changed = bytearray(packet)
            changed[self._random.randrange(udp + 8, len(packet))] ^= 1 << self._random.randrange(8)
            if udp == 20:
                changed[udp + 6:udp + 8] = b"\0\0"  # no checksum of UDP: the ICRC alone protects it
            packet = bytes(changed)
        before = self._held.pop(fd, None)
        if before is None and self._chance("swapped"):
            self._held[fd] = packet
            return []
        packets = [packet] * (1 + self._chance("repeated"))
        return packets + ([before] if before is not None else [])

    def close(self):
        os.write(self._stop_write, b"x")
        self._thread.join()
        os.close(self._stop_read)
        os.close(self._stop_write)


def skip_without_namespaces():
    """Ends the test as skipped where namespaces and TUN devices cannot be had."""
    try:
        Machine(["192.0.2.9/24"]).close()
    except OSError as error:
        print(f"no network namespaces with TUN devices here: {error}")
        sys.exit(77)
