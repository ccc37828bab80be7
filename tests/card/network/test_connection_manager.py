#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The connection manager between two cards, and between a card and a peer of this file.

The peer writes and reads management datagrams by the offsets of the InfiniBand specification (volume 1, 12.6 to 12.11)
and shares no code with the card. Arguments: with_card, and the folder with the samples of 3.0.
"""
import ctypes
import os
import random
import select
import signal
import socket
import struct
import sys
import threading
import time
import unittest

import namespaces
import test_network
from test_network import IPV4, IPV6, LIMIT, Network, icrc

SAMPLES = ""
PORT = 7174  # of rping
REQ, MRA, REJ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP, LAP, APR = range(0x10, 0x1b)
TCP, UDP = 0x0106, 0x0111  # port spaces


def socket_in(machine, address):
    """A socket of a machine's namespace, whose packets have the ID 0."""
    sockets = []

    def create():
        with open(f"/proc/{machine.pid}/ns/net", "rb") as file:
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), namespaces.CLONE_NEWNET) != 0:
                return
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
        opened.bind((address, namespaces.ROCE_PORT))
        sockets.append(opened)

    thread = threading.Thread(target=create)  # alone moves to the namespace
    thread.start()
    thread.join()
    return sockets[0]


class Message:
    """A management datagram."""

    def __init__(self, attribute, transaction=1, body=b"", data=b"", at_data=0):
        self.attribute, self.transaction = attribute, transaction
        self.body = body.ljust(at_data, b"\0") + data

    @classmethod
    def parse(cls, datagram):
        assert len(datagram) == 256 and datagram[:4] == b"\x01\x07\x02\x03", datagram
        transaction, attribute = struct.unpack_from(">QH", datagram, 8)
        return cls(attribute, transaction, datagram[24:])

    def bytes(self):
        return (b"\x01\x07\x02\x03" + bytes(4) + struct.pack(">QHHI", self.transaction, self.attribute, 0, 0)
                + self.body).ljust(256, b"\0")

    def with_byte(self, at, value):
        """This message with another byte."""
        datagram = bytearray(self.bytes())
        datagram[at] = value
        other = Message(self.attribute, self.transaction, self.body)
        other.bytes = lambda: bytes(datagram)
        return other

    @property
    def ids(self):
        return struct.unpack_from(">II", self.body)

    @property
    def reason(self):
        return struct.unpack_from(">H", self.body, 10)[0]


def request(local_id, qpn=0x123, psn=0xabcdef, port=PORT, space=TCP, transport=0, mtu=3, transaction=7):
    body = bytearray(140)
    struct.pack_into(">I4xQQ", body, 0, local_id, space << 16 | port, 0x1122334455667788)
    body[32:35], body[44:47] = qpn.to_bytes(3, "big"), psn.to_bytes(3, "big")
    body[35] = body[39] = 1  # responder resources, initiator depth
    body[43], body[47], body[50], body[51] = 20 << 3 | transport << 1, 20 << 3 | 7, mtu << 4 | 7, 15 << 4
    body[48:50] = body[52:54] = body[54:56] = b"\xff\xff"
    for at, address in ((56, IPV4[1]), (72, IPV4[0])):
        body[at:at + 16] = bytes(10) + b"\xff\xff" + socket.inet_aton(address)
    body[93], body[95] = 64, 19 << 3
    return Message(REQ, transaction, bytes(body), addresses(), 140)


def addresses(source_port=4660):
    return (b"\0\x40" + struct.pack(">H", source_port) + bytes(12) + socket.inet_aton(IPV4[1]) + bytes(12)
            + socket.inet_aton(IPV4[0]))


class Peer:
    """The management queue pair of another machine."""

    def __init__(self, machine):
        self.socket = socket_in(machine, IPV4[1])

    def send(self, message, qkey=0x80010000, partition=0xffff, qpn=1, size=256):
        payload = message.bytes()[:size]
        packet = (b"\x64\x00" + struct.pack(">HII", partition, qpn, 0) + struct.pack(">II", qkey, 1) + payload)
        self.socket.sendto(packet + icrc(IPV4[1], IPV4[0], namespaces.ROCE_PORT, packet),
                           (IPV4[0], namespaces.ROCE_PORT))

    def receive_packet(self):
        """The next packet without its ICRC."""
        assert select.select([self.socket], [], [], LIMIT)[0], "no packet has come"
        packet, (address, port) = self.socket.recvfrom(65536)
        assert packet[-4:] == icrc(address, IPV4[1], port, packet[:-4])
        return packet[:-4]

    def receive(self):
        """The next management datagram."""
        packet = self.receive_packet()
        assert (packet[0], packet[5:8], packet[12:20]) == (0x64, b"\0\0\x01", b"\x80\x01\0\0\0\0\0\x01"), packet[:20]
        return Message.parse(packet[20:])

    def ask(self, message, **more):
        self.send(message, **more)
        return self.receive()


class OnCards(Network):
    mtu = 4200

    def status(self, side, source, name):
        words = self.cards.start(side, [source], options=("--fault", "status")).communicate(timeout=LIMIT)[0].split()
        return words[words.index(name) + 1]

    def serve(self, source, *command):
        server = self.cards.start(0, [source], *command)
        while self.status(0, source, "cm-listeners") == "0":
            self.assertIsNone(server.poll(), f"{command}: the server has ended early")
        return server


class BetweenCards(OnCards):
    def connect(self, ends, server_command, client_command, repeated_after=None):
        for attempt in range(10):
            server = self.serve(ends[0], *server_command)
            client = self.cards.start(1, [ends[1]], *client_command)
            text = client.communicate(timeout=LIMIT)[0]
            if client.returncode != 0 and repeated_after is not None and repeated_after in text and attempt < 9:
                self.cards.end_programs()
                continue
            text += server.communicate(timeout=LIMIT)[0]
            if server.returncode == 0 or repeated_after is None or repeated_after not in text:
                break
        self.assertEqual((server.returncode, client.returncode), (0, 0), f"{client_command}:\n{text}")
        return text

    def test_programs_of_librdmacm(self):
        for ends, everywhere in ((IPV4, "0.0.0.0"), (IPV6, "::")):
            with self.subTest(ends=ends):
                self.connect(ends, ["rping", "-s", "-a", everywhere, "-C", "20", "-V", "-S", "1000"],
                             ["rping", "-c", "-a", ends[0], "-C", "20", "-V", "-S", "1000"],
                             "rdma_get_cm_event: Bad file descriptor")  # a race of its end with itself
                for program in ("ucmatose", "udaddy"):
                    text = self.connect(ends, [program, "-b", everywhere, "-c", "3"],
                                        [program, "-s", ends[0], "-c", "3"])
                    self.assertIn("return status 0", text)
        self.assertIn("rdma_client: end 0",
                      self.connect(IPV4, ["rdma_server"], ["rdma_client", "-s", IPV4[0]]))

    def test_perftest_connects_by_it(self):
        for program, *options in (("ib_write_bw", "-s", "65536"), ("ib_read_lat", "-s", "8"), ("ib_send_bw", "-s", "1000")):
            with self.subTest(program=program):
                command = [program, "-R", "-F", "-n", "100", *options]
                # The client may ask for the second connection of these programs before the server listens again.
                self.assertIn("#bytes", self.connect(IPV4, command, [*command, IPV4[0]], "error: 8"))

    def test_a_lost_request_is_repeated(self):
        server = self.serve(IPV4[0], "rping", "-s", "-a", "0.0.0.0", "-C", "1")
        self.cards.relay.disturb(1, 2)  # the next packet is lost
        client = self.cards.start(1, [IPV4[1]], "rping", "-c", "-a", IPV4[0], "-C", "1")
        self.assertEqual(client.wait(LIMIT), 0)
        self.assertEqual(server.wait(LIMIT), 0)
        self.assertEqual(self.cards.relay.counts["lost"], 1)

    def test_the_death_of_a_program_disconnects_its_peer(self):
        server = self.serve(IPV4[0], "rping", "-s", "-a", "0.0.0.0")
        client = self.cards.start(1, [IPV4[1]], "rping", "-c", "-a", IPV4[0])
        while self.cards.relay.counts["passed"] < 100:
            self.assertIsNone(client.poll())
            time.sleep(0.01)
        client.send_signal(signal.SIGKILL)
        self.assertIn("DISCONNECT EVENT", server.communicate(timeout=LIMIT)[0])

    def test_addresses_without_a_route_are_reported(self):
        for command in (["ucmatose", "-s", "198.51.100.1"], ["udaddy", "-s", "198.51.100.1"]):
            client = self.cards.start(1, [IPV4[1]], *command)
            self.assertIn("RDMA_CM_EVENT_ADDR_ERROR, error: -101", client.communicate(timeout=LIMIT)[0])


class Doca(OnCards):
    def test_connections_by_address(self):
        receiver = self.serve(IPV4[0], f"{SAMPLES}/doca_v3_rdma_receive", "-d", "mlx5_0", "-P", "4444")
        sender = self.cards.start(1, [IPV4[1]], f"{SAMPLES}/doca_v3_rdma_send", "-d", "mlx5_0", "-P", "4444", "-a", IPV4[0],
                                  "-s", "by address")
        text = sender.communicate(timeout=LIMIT)[0] + receiver.communicate(timeout=LIMIT)[0]
        self.assertEqual((receiver.returncode, sender.returncode), (0, 0), text)
        self.assertIn("10 bytes: by address", text)


class WithPeer(OnCards):
    def setUp(self):
        super().setUp()
        self.peer = Peer(self.cards.machines[1])
        self.addCleanup(self.peer.socket.close)

    def serve_rping(self):
        return self.serve(IPV4[0], "rping", "-s", "-a", "0.0.0.0", "-P")

    def check_rejection(self, message, reason):
        rejection = self.peer.ask(message)
        self.assertEqual((rejection.attribute, rejection.ids, rejection.reason, rejection.transaction),
                         (REJ, (0, struct.unpack_from(">I", message.body)[0]), reason, message.transaction))
        self.assertEqual(rejection.body[8] >> 6, 0, "what is rejected is no REQ")

    def test_requests_that_nobody_can_accept_are_rejected(self):
        self.serve_rping()
        for message, reason in ((request(1, port=PORT + 1), 8), (request(2, space=UDP), 8), (request(3, space=0x013f), 8),
                                (request(4, transport=1), 9), (request(5, transport=3), 9), (request(6, mtu=0), 26),
                                (request(7, mtu=6), 26)):
            with self.subTest(reason=reason):
                self.check_rejection(message, reason)
        other = request(8)
        other.body = other.body[:140] + b"\x01\x30" + other.body[142:]  # no addresses
        self.check_rejection(other, 8)
        self.check_rejection(request(9, space=TCP | 0x8000), 8)
        other = request(10)
        other.body = other.body[:172] + socket.inet_aton("203.0.113.1") + other.body[176:]  # not the card's address
        self.check_rejection(other, 8)
        for space in (UDP, TCP):  # a listener of connections takes no datagrams
            message = Message(SIDR_REQ, 9, struct.pack(">IH2xQ", 0x77, 0xffff, space << 16 | PORT), addresses(), 16)
            reply = self.peer.ask(message)
            self.assertEqual((reply.attribute, reply.body[:5]), (SIDR_REP, struct.pack(">IB", 0x77, 1)))

    def test_a_connection_and_its_repeated_messages(self):
        self.serve_rping()
        message = request(0x11)
        reply = self.peer.ask(message)
        self.assertEqual((reply.attribute, reply.transaction, reply.ids[1]), (REP, 7, 0x11))
        theirs = reply.ids[0]
        qpn = int.from_bytes(reply.body[12:15], "big")
        self.assertEqual(reply.body[20:23], b"\xab\xcd\xef", "the PSN is not that of the request")
        self.assertEqual((reply.body[24], reply.body[25]), (1, 1))
        self.assertEqual(self.peer.ask(message).bytes(), reply.bytes(), "not the same answer again")
        self.peer.send(Message(RTU, 7, struct.pack(">II", 0x11, theirs)))
        # Another path is refused; the card serves packets in their order, so that the RTU has arrived.
        refusal = self.peer.ask(Message(LAP, 8, struct.pack(">II", 0x11, theirs)))
        self.assertEqual((refusal.attribute, refusal.transaction, refusal.ids, refusal.body[9]), (APR, 8, (theirs, 0x11), 2))
        # A queue pair that asks anew has lost its connection.
        self.peer.send(request(0x12, transaction=9))
        messages = {message.attribute: message for message in (self.peer.receive(), self.peer.receive())}
        self.assertEqual(messages[REJ].reason, 10)
        self.assertEqual((messages[DREQ].ids, messages[DREQ].body[8:11]), ((theirs, 0x11), b"\x00\x01\x23"))
        self.peer.send(Message(DREP, messages[DREQ].transaction, struct.pack(">II", 0x11, theirs)))
        # And one that is not known any more is disconnected, as often as the peer asks.
        end = Message(DREQ, 10, struct.pack(">II", 0x11, theirs) + qpn.to_bytes(3, "big"))
        for _ in range(2):
            answer = self.peer.ask(end)
            self.assertEqual((answer.attribute, answer.transaction, answer.ids), (DREP, 10, (theirs, 0x11)))

    def test_a_program_that_thinks_gets_time(self):
        server = self.serve_rping()
        server.send_signal(signal.SIGSTOP)
        try:
            message = request(0x21)
            self.peer.send(message)
            receipt = self.peer.ask(message)
            self.assertEqual((receipt.attribute, receipt.ids[1], receipt.body[8] >> 6, receipt.body[9] >> 3),
                             (MRA, 0x21, 0, 24))
        finally:
            server.send_signal(signal.SIGCONT)
        reply = self.peer.receive()
        self.assertEqual((reply.attribute, reply.ids), (REP, (receipt.ids[0], 0x21)))

    def test_a_request_that_is_given_up_ends(self):
        server = self.serve_rping()
        server.send_signal(signal.SIGSTOP)
        try:
            message = request(0x22)
            self.peer.send(message)
            receipt = self.peer.ask(message)
            self.assertEqual(receipt.attribute, MRA)
            # The requester has had no answer, so it names itself alone.
            info = struct.pack(">Q", 0x1122334455667788)
            self.peer.send(Message(REJ, 7, struct.pack(">IIBBH", 0x22, 0, 0, 8 << 1, 4) + info))
            answer = self.peer.ask(Message(DREQ, 8, struct.pack(">II3x", 0x22, receipt.ids[0])))
            self.assertEqual((answer.attribute, answer.ids), (DREP, (receipt.ids[0], 0x22)))
        finally:
            server.send_signal(signal.SIGCONT)
        self.assertEqual(self.peer.ask(request(0x23, port=1)).attribute, REJ, "something else was sent before")

    def test_a_peer_that_ends_early_ends_the_connection(self):
        self.cards.start(0, [IPV4[0]], "ucmatose", "-s", IPV4[1], "-c", "1")
        message = self.peer.receive()
        theirs = struct.unpack_from(">I", message.body)[0]
        ready = self.peer.ask(Message(REP, message.transaction,
                                      struct.pack(">II4x3sx", 0x52, theirs, b"\0\0\x55").ljust(36, b"\0")))
        self.assertEqual(ready.attribute, RTU)
        self.peer.send(Message(REJ, message.transaction, struct.pack(">IIBBH", 0x52, theirs, 2 << 6, 0, 28)))
        answer = self.peer.ask(Message(DREQ, 8, struct.pack(">II3x", 0x52, theirs)))
        self.assertEqual((answer.attribute, answer.ids), (DREP, (theirs, 0x52)))

    def test_a_program_that_gives_up_rejects_its_request(self):
        client = self.cards.start(0, [IPV4[0]], "ucmatose", "-s", IPV4[1], "-c", "1")
        message = self.peer.receive()
        client.send_signal(signal.SIGKILL)
        rejection = self.peer.receive()
        self.assertEqual((rejection.attribute, rejection.ids, rejection.reason),
                         (REJ, (struct.unpack_from(">I", message.body)[0], 0), 4))
        self.assertEqual((rejection.body[9] >> 1, rejection.body[12:20]), (8, message.body[16:24]), "not its node")

    def test_what_is_malformed_is_ignored(self):
        self.serve_rping()
        self.peer.send(request(0x31), qkey=0x80010001)
        self.peer.send(request(0x32), partition=0x1234)
        self.peer.send(request(0x33), size=252)
        for at, value in ((0, 2), (1, 3), (2, 1), (3, 0x83)):
            self.peer.send(request(0x34).with_byte(at, value))
        self.peer.send(Message(0x1b, 1, struct.pack(">II", 0x35, 0)))
        self.peer.send(Message(REP, 1, struct.pack(">II", 0x36, 0)))
        self.peer.send(Message(RTU, 1, struct.pack(">II", 0x37, 0xffffffff)))
        self.peer.send(Message(MRA, 1, struct.pack(">II", 0x38, 1)))
        self.check_rejection(request(0x39, port=1), 8)  # the first answer

    def test_random_messages_do_not_end_a_card(self):
        """What they may end is the server, which gives up when a connection fails."""
        holder = self.cards.start(0, [IPV4[0]], "tail", "-f", "/dev/null")
        self.addCleanup(holder.communicate)
        self.addCleanup(holder.kill)
        self.cards.processes.remove(holder)  # end_programs() leaves it
        card = self.status(0, IPV4[0], "pid")
        values = random.Random(1)
        answers = 0
        for _ in range(10):
            self.serve_rping()
            theirs = [0]  # ids of the card
            for i in range(300):
                message = request(values.randrange(1, 50), qpn=values.randrange(4), transaction=i) if i % 3 == 0 else Message(
                    values.randrange(0x0f, 0x1c), i, struct.pack(">II", values.randrange(50), values.choice(theirs)))
                for _ in range(values.randrange(4)):
                    message = message.with_byte(values.randrange(24, 256), values.randrange(256))
                self.peer.send(message)
                while select.select([self.peer.socket], [], [], 0.01 if i % 50 == 0 else 0)[0]:
                    answer = self.peer.receive()
                    answers += 1
                    if answer.attribute in (REP, MRA, DREQ):
                        theirs.append(answer.ids[0])
            self.cards.end_programs()
            while self.status(0, IPV4[0], "cm-ids") != "0":
                pass
        self.assertGreater(answers, 300)
        self.peer.socket.close()
        self.serve_rping()
        client = self.cards.start(1, [IPV4[1]], "rping", "-c", "-a", IPV4[0], "-C", "5")
        self.assertEqual(client.wait(LIMIT), 0)
        self.assertEqual(self.status(0, IPV4[0], "pid"), card)

    def test_a_request_of_the_card(self):
        client = self.cards.start(0, [IPV4[0]], "ucmatose", "-s", IPV4[1])
        message = self.peer.receive()
        body = message.body
        self.assertEqual(message.attribute, REQ)
        self.assertEqual(body[8:16], struct.pack(">Q", TCP << 16 | 7471))
        self.assertEqual((body[35], body[39]), (1, 1))
        self.assertEqual((body[43] >> 3, body[43] & 7, body[47] >> 3), (20, 0, 20))
        self.assertEqual(body[48:50], b"\xff\xff")
        self.assertEqual((body[50] >> 4, body[51] >> 4), (5, 15), "path MTU 4096 and 15 repetitions")
        self.assertEqual(body[52:56], b"\xff" * 4)
        self.assertEqual(body[56:88], b"".join(bytes(10) + b"\xff\xff" + socket.inet_aton(end) for end in IPV4))
        self.assertEqual((body[93], body[95] >> 3), (64, 19))
        self.assertEqual(body[140:142], b"\0\x40")
        self.assertEqual(body[144:176], b"".join(bytes(12) + socket.inet_aton(end) for end in IPV4))
        # Without an answer it comes again, as it was.
        self.assertEqual(self.peer.receive().bytes(), message.bytes())
        theirs = struct.unpack_from(">I", body)[0]
        self.peer.send(Message(REJ, message.transaction, struct.pack(">IIBBH", 0, theirs, 0, 0, 28)))
        self.assertIn("RDMA_CM_EVENT_REJECTED, error: 28", client.communicate(timeout=LIMIT)[0])

    def test_each_end_chooses_the_packet_numbers_that_it_receives(self):
        self.cards.start(0, [IPV4[0]], "rping", "-c", "-a", IPV4[1])
        message = self.peer.receive()
        theirs = struct.unpack_from(">I", message.body)[0]
        reply = bytearray(36)
        struct.pack_into(">II", reply, 0, 0x41, theirs)
        reply[12:15], reply[20:23], reply[24], reply[25], reply[27] = b"\0\0\x55", b"\x11\x22\x33", 1, 1, 7 << 5
        ready = self.peer.ask(Message(REP, message.transaction, bytes(reply)))
        self.assertEqual((ready.attribute, ready.transaction, ready.ids), (RTU, message.transaction, (theirs, 0x41)))
        packet = self.peer.receive_packet()
        self.assertEqual((packet[0], packet[5:8], packet[9:12]), (0x04, b"\0\0\x55", b"\x11\x22\x33"), "SEND only")

    def test_a_reply_that_comes_again_is_confirmed_again(self):
        self.cards.start(0, [IPV4[0]], "ucmatose", "-s", IPV4[1], "-c", "1")
        message = self.peer.receive()
        theirs = struct.unpack_from(">I", message.body)[0]
        reply = Message(REP, message.transaction, struct.pack(">II4x3sx", 0x51, theirs, b"\0\0\x55").ljust(36, b"\0"))
        ready = self.peer.ask(reply)
        self.assertEqual(ready.attribute, RTU)
        self.assertEqual(self.peer.ask(reply).bytes(), ready.bytes())


if __name__ == "__main__":
    test_network.WITH_CARD, SAMPLES = (os.path.abspath(path) for path in sys.argv[-2:])
    del sys.argv[-2:]
    namespaces.skip_without_namespaces()
    unittest.main()
