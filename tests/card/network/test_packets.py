#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Another implementation builds the packets of RoCE v2 anew: scapy those of IPv4, and zlib's CRC those of IPv6.

Argument: the program that prints packets, test_card_packets.
"""
import socket
import subprocess
import sys
import unittest
import zlib

try:
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP, UDP
    from scapy.packet import Raw
except ImportError:
    print("scapy is not installed (python3-scapy)")
    sys.exit(77)

PROGRAM = ""
PORT = 4791


def icrc_of_ipv6(source, destination, packet):
    """By the words of annex A17."""
    size = len(packet) + 4
    header = b"\xff" * 8 + b"\x6f\xff\xff\xff" + (8 + size).to_bytes(2, "big") + b"\x11\xff"
    header += socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, destination)
    header += PORT.to_bytes(2, "big") * 2 + (8 + size).to_bytes(2, "big") + b"\xff\xff"
    return zlib.crc32(header + packet[:4] + b"\xff" + packet[5:]).to_bytes(4, "little")


class Packets(unittest.TestCase):
    def test_every_kind_is_the_same(self):
        lines = subprocess.run([PROGRAM, "--print"], check=True, capture_output=True, text=True).stdout.splitlines()
        kinds = set()
        for line in lines:
            source, destination, digits = line.split()
            ours = bytes.fromhex(digits)
            kinds.add(ours[0])
            if ":" in source:
                self.assertEqual(ours[-4:], icrc_of_ipv6(source, destination, ours[:-4]), line)
                continue
            read = BTH(ours)
            anew = BTH(opcode=read.opcode, solicited=read.solicited, migreq=0, padcount=read.padcount, version=0,
                       pkey=read.pkey, dqpn=read.dqpn, ackreq=read.ackreq, psn=read.psn)
            anew /= Raw(ours[12:-4])
            whole = IP(src=source, dst=destination, id=0, flags="DF") / UDP(sport=PORT, dport=PORT, chksum=0) / anew
            self.assertEqual(bytes(whole)[28:], ours, line)
            self.assertEqual((read.dqpn, read.psn, read.pkey), (0xfedcba, 0x123456, 0x7fff))
        self.assertEqual(len(kinds), 37)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()
