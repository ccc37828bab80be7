# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Packets of RoCE v2 for fuzz_packets.py: their parts, and kinds of them, right and wrong."""
import collections
import socket
import struct
import zlib

SECRET = 0xd7  # as in fuzzed_program.cpp
WITHOUT_SECRET = bytes(value if value != SECRET else 0xd6 for value in range(256))
PORT = 4791
RC, UC, UD = 0x00, 0x20, 0x60
RETH, ATOMIC, AETH, ORIGINAL, IMMEDIATE, DETH = 16, 28, 4, 8, 4, 8
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY, SEND_ONLY_IMM = range(6)
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM = range(6, 12)
READ, RESPONSE_FIRST, RESPONSE_MIDDLE, RESPONSE_LAST, RESPONSE_ONLY, ACK, ATOMIC_ACK, SWAP, ADD = range(12, 21)
SEND_LAST_INV, SEND_ONLY_INV = 22, 23
HEADERS = {SEND_LAST_IMM: IMMEDIATE, SEND_ONLY_IMM: IMMEDIATE, WRITE_FIRST: RETH, WRITE_LAST_IMM: IMMEDIATE,
           WRITE_ONLY: RETH, WRITE_ONLY_IMM: RETH + IMMEDIATE, READ: RETH, RESPONSE_FIRST: AETH, RESPONSE_LAST: AETH,
           RESPONSE_ONLY: AETH, ACK: AETH, ATOMIC_ACK: AETH + ORIGINAL, SWAP: ATOMIC, ADD: ATOMIC,
           SEND_LAST_INV: IMMEDIATE, SEND_ONLY_INV: IMMEDIATE}


def distance(psn, other):
    """How far a sequence number is ahead of another, from -2^23 on."""
    return (psn - other + 0x800000 & 0xffffff) - 0x800000


def base(opcode, number, psn, *, padding=0, solicited=0, version=0, key=0xffff, ack=1, reserved=0):
    return struct.pack(">BBHII", opcode, solicited << 7 | padding << 4 | version, key,
                       (reserved << 24 | number) & 0xffffffff, ack << 31 | psn & 0xffffff)


def packet(opcode, number, psn, headers=b"", payload=b"", **fields):
    """From the BTH to the padding."""
    padding = -len(payload) % 4
    return base(opcode, number, psn, padding=padding, **fields) + headers + payload + bytes(padding)


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff


class Envelope:
    """IP and UDP headers around the packets from one address to another."""

    def __init__(self, source, destination):
        self.is_ipv6 = ":" in source
        family = socket.AF_INET6 if self.is_ipv6 else socket.AF_INET
        self._addresses = socket.inet_pton(family, source) + socket.inet_pton(family, destination)

    def wrap(self, body, port=PORT, identification=0, flip=0):
        """A whole IP packet, with an ICRC that is right if `flip` is 0."""
        size = 8 + len(body) + 4
        udp = struct.pack(">HHHH", port, PORT, size, 0)
        masked_udp = udp[:6] + b"\xff\xff"
        if self.is_ipv6:
            ip = struct.pack(">IHBB", 0x60000000, size, 17, 64) + self._addresses
            masked = b"\x6f\xff\xff\xff" + ip[4:7] + b"\xff" + self._addresses
        else:
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + size, identification, 0x4000, 64, 17, 0) + self._addresses
            ip = ip[:10] + struct.pack(">H", checksum(ip)) + self._addresses
            masked = struct.pack(">BBHHHBBH", 0x45, 0xff, 20 + size, identification, 0x4000, 0xff, 17, 0xffff)
            masked += self._addresses
        crc = zlib.crc32(b"\xff" * 8 + masked + masked_udp + body[:4] + b"\xff" + body[5:]) ^ flip
        return ip + udp + body + crc.to_bytes(4, "little")


def split(whole):
    """IP's version, the receiver, and the packet of RoCE in an IP packet; or None if it is something else."""
    version = whole[0] >> 4
    at = 20 if version == 4 else 40
    if len(whole) < at + 8 + 16 or whole[9 if version == 4 else 6] != socket.IPPROTO_UDP:
        return None
    if struct.unpack_from(">H", whole, at + 2)[0] != PORT:
        return None
    return version, whole[16:20] if version == 4 else whole[24:40], whole[at + 8:-4]


class Queue:
    """What the fuzzer knows of a queue pair of the program."""

    def __init__(self, version, data):
        self.version = version
        self.kind, self.number, self.mtu, self.peer = data["kind"], data["number"], data["mtu"], data["peer"]
        self.access, self.reads = data["access"], data["reads"]
        self.start = (data["expected"], data["first"])
        self.expected = data["expected"]  # PSN of the next request to it
        self.is_broken = False
        self.requests = collections.deque(maxlen=64)  # packets of its own, which want an answer
        self.transport = {"rc": RC, "uc": UC, "ud": UD}[self.kind]

    def next(self, count=1):
        psn = self.expected
        self.expected = psn + count & 0xffffff
        return psn


class Target:
    """What the fuzzer knows of a device of the program."""

    def __init__(self, version, envelope):
        self.version = version
        self.envelope = envelope
        self.queues, self.regions, self.old_keys = [], {}, []
        self.qkey = self.window = self.slots_key = 0

    def update(self, state):
        for region in state["regions"]:
            before = self.regions.get(region["name"])
            if before and before["key"] not in (0, region["key"]):
                self.old_keys = [before["key"], *self.old_keys][:8]
            self.regions[region["name"]] = region
        if self.window not in (0, state["window"]):
            self.old_keys = [self.window, *self.old_keys][:8]
        self.qkey, self.window, self.slots_key = state["qkey"], state["window"], state["slots_key"]
        for index, data in enumerate(state["queues"]):
            if index == len(self.queues):
                self.queues.append(Queue(self.version, data))
            elif (data["expected"], data["first"]) != self.queues[index].start:
                self.queues[index] = Queue(self.version, data)


class Generator:
    """Chooses packets: each method is a kind, and returns the packets (BTH to padding) for one queue pair."""

    def __init__(self, values, targets):
        self.values, self.targets = values, targets
        self.recorded = collections.deque(maxlen=2000)  # packets of both directions
        honest = (self.send, self.long_send, self.write, self.long_write, self.read, self.atomic, self.immediate,
                  self.invalidate)
        wrong = (self.wrong_number, self.wrong_psn, self.wrong_partition, self.wrong_qkey, self.wrong_size,
                 self.wrong_order, self.truncated, self.unknown_opcode, self.wrong_version, self.wrong_padding,
                 self.unasked_answer,
                 self.odd_atomic, self.huge_length, self.wrapped_address, self.beyond_region, self.wrong_key,
                 self.old_key, self.replay, self.mutated, self.random_bytes, self.duplicate_read)
        self.kinds = [(kind, 3) for kind in honest] + [(kind, 2) for kind in wrong] + [(self.answer, 24)]

    def payload(self, size):
        return self.values.randbytes(size)

    def size(self, queue):
        return self.values.choice((0, 1, 3, 4, 8, 64, queue.mtu - 1, queue.mtu, self.values.randrange(queue.mtu + 1)))

    def place(self, target, name, size):
        """Address and key of a range in a region."""
        region = target.regions[name]
        key = target.window if name == "window" else region["key"]
        return region["address"] + self.values.randrange(region["size"] - size + 1), key

    def reth(self, target, name, size, length=None):
        address, key = self.place(target, name, size)
        return struct.pack(">QII", address, key, size if length is None else length)

    def writable(self, target, queue):
        """A region in which this queue pair may write. The window is bound to the first one."""
        if queue is target.queues[0] and self.values.randrange(2):
            return "window"
        return self.values.choice(("all", "write", "revoked", "all"))

    # What a peer may send.

    def send(self, target, queue):
        if queue.kind == "ud":
            headers = struct.pack(">II", target.qkey, queue.peer)
            return [packet(UD | SEND_ONLY, queue.number, queue.next(), headers,
                           self.payload(self.values.randrange(900)))]
        return [packet(queue.transport | SEND_ONLY, queue.number, queue.next(), b"", self.payload(self.size(queue)),
                       solicited=self.values.randrange(2))]

    def long_send(self, target, queue):
        if queue.kind == "ud":
            return self.send(target, queue)
        count = self.values.randrange(1 + 1600 // queue.mtu)
        opcodes = [SEND_FIRST] + [SEND_MIDDLE] * count
        packets = [packet(queue.transport | opcode, queue.number, queue.next(), b"", self.payload(queue.mtu), ack=0)
                   for opcode in opcodes]
        return packets + [packet(queue.transport | SEND_LAST, queue.number, queue.next(), b"",
                                 self.payload(1 + self.values.randrange(queue.mtu)))]

    def write(self, target, queue):
        size = self.size(queue)
        return [packet(queue.transport | WRITE_ONLY, queue.number, queue.next(),
                       self.reth(target, self.writable(target, queue), size), self.payload(size))]

    def long_write(self, target, queue):
        sizes = [queue.mtu] * (1 + self.values.randrange(min(4, 5000 // queue.mtu)))
        sizes.append(1 + self.values.randrange(queue.mtu))
        packets = []
        for i, size in enumerate(sizes):
            opcode = WRITE_FIRST if i == 0 else WRITE_LAST if i == len(sizes) - 1 else WRITE_MIDDLE
            headers = self.reth(target, self.writable(target, queue), sum(sizes)) if i == 0 else b""
            packets.append(packet(queue.transport | opcode, queue.number, queue.next(), headers, self.payload(size)))
        return packets

    def read(self, target, queue):
        size = self.values.choice((0, 1, 8, queue.mtu, self.values.randrange(6000)))
        name = self.values.choice(("all", "read", "revoked", "window" if queue is target.queues[0] else "all"))
        return [packet(queue.transport | READ, queue.number, queue.next(max(1, -(-size // queue.mtu))),
                       self.reth(target, name, size))]

    def atomic(self, target, queue):
        region = target.regions["atomic"]
        address = (region["address"] + self.values.randrange(region["size"] - 15) + 7) & ~7
        headers = struct.pack(">QI", address, region["key"]) + self.payload(16)
        return [packet(queue.transport | self.values.choice((SWAP, ADD)), queue.number, queue.next(), headers)]

    def immediate(self, target, queue):
        size = self.size(queue)
        headers = self.reth(target, self.writable(target, queue), size) + self.payload(4)
        return [packet(queue.transport | WRITE_ONLY_IMM, queue.number, queue.next(), headers, self.payload(size))]

    def invalidate(self, target, queue):
        """Of the window, by its own queue pair, or of a key that has no peer's right for that."""
        queue_of_window, key = target.queues[0], target.window
        if not queue_of_window.is_broken and self.values.randrange(2):
            queue = queue_of_window
        else:
            key = self.any_key(target)
        return [packet(queue.transport | SEND_ONLY_INV, queue.number, queue.next(), struct.pack(">I", key),
                       self.payload(self.size(queue)))]

    # What it may not send.

    def any_key(self, target):
        keys = [region["key"] for region in target.regions.values()]
        return self.values.choice((*keys, target.window, target.slots_key, *target.old_keys, 0, 0xffffffff, 0x100,
                                   self.values.getrandbits(32), keys[0] ^ 1 << self.values.randrange(32)))

    def honest_kind(self, target, queue):
        return self.values.choice((self.send, self.write, self.read, self.atomic, self.immediate))(target, queue)

    def changed_base(self, target, queue, at, value):
        """An honest packet with another value in its BTH."""
        changed = bytearray(self.honest_kind(target, queue)[-1])
        struct.pack_into(">I", changed, at, value(struct.unpack_from(">I", changed, at)[0]) & 0xffffffff)
        return [bytes(changed)]

    def wrong_number(self, target, queue):
        numbers = (0, 1, 2, 0xffffff, queue.number + 1, queue.number - 1, self.values.getrandbits(24),
                   self.values.choice(target.queues).number)
        return self.changed_base(target, queue, 4, lambda _: self.values.choice(numbers))

    def wrong_psn(self, target, queue):
        steps = (1, -1, 2, -2, 127, 128, 129, -128, 0x7fffff, 0x800000, 0x800001, -self.values.randrange(500),
                 self.values.getrandbits(24))
        expected = queue.expected
        packets = self.changed_base(target, queue, 8, lambda word: word & 0xff000000
                                    | (expected + self.values.choice(steps)) & 0xffffff)
        queue.expected = expected
        return packets

    def wrong_partition(self, target, queue):
        keys = (0, 1, 0x7fff, 0x8000, 0xfffe, self.values.getrandbits(16))
        return self.changed_base(target, queue, 0, lambda word: word & 0xffff0000 | self.values.choice(keys))

    def wrong_qkey(self, target, queue):
        headers = struct.pack(">II", self.values.choice((0, 0x80010000, target.qkey ^ 1, self.values.getrandbits(32))),
                              self.values.getrandbits(24))
        return [packet(UD | SEND_ONLY, queue.number, queue.expected, headers, self.payload(64))]

    def wrong_size(self, target, queue):
        size = self.values.choice((queue.mtu + 1, queue.mtu + 4, 2 * queue.mtu, 4096, 4100, 9000, 60000))
        opcode, length = self.values.choice(((SEND_ONLY, None), (SEND_FIRST, None), (WRITE_ONLY, size), (WRITE_ONLY, 8),
                                             (WRITE_FIRST, 100), (WRITE_ONLY, 5999)))
        headers = b"" if length is None else self.reth(target, "all", 0, length)
        if queue.kind == "ud":
            opcode, headers = SEND_ONLY, struct.pack(">II", target.qkey, 5)
        return [packet(queue.transport | opcode, queue.number, queue.expected, headers, self.payload(size))]

    def wrong_order(self, target, queue):
        """Any opcodes with sequence numbers that are right."""
        packets = []
        for _ in range(1 + self.values.randrange(4)):
            opcode = self.values.choice((*HEADERS, SEND_FIRST, SEND_MIDDLE, SEND_LAST, WRITE_MIDDLE, WRITE_LAST))
            headers = bytes(HEADERS.get(opcode, 0))
            size = self.values.choice((0, 4, queue.mtu))
            if opcode in (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, READ):
                headers = self.reth(target, "all", 1000, 1000) + headers[16:]
            has_payload = opcode not in (READ, ACK, ATOMIC_ACK, SWAP, ADD)
            packets.append(packet(queue.transport | opcode, queue.number, queue.expected, headers,
                                  self.payload(size) if has_payload else b""))
            queue.next()
        return packets

    def truncated(self, target, queue):
        whole = self.honest_kind(target, queue)[-1]
        return [whole[:self.values.randrange(len(whole))]]

    def unknown_opcode(self, target, queue):
        return [packet(self.values.randrange(256), queue.number, queue.expected,
                       self.payload(self.values.randrange(60)))]

    def wrong_version(self, target, queue):
        return self.changed_base(target, queue, 0, lambda word: word ^ 1 << 16 + self.values.randrange(4))

    def wrong_padding(self, target, queue):
        return self.changed_base(target, queue, 0, lambda word: word ^ (1 + self.values.randrange(3)) << 20)

    def unasked_answer(self, target, queue):
        opcode = self.values.choice((ACK, ACK, RESPONSE_FIRST, RESPONSE_MIDDLE, RESPONSE_LAST, RESPONSE_ONLY,
                                     ATOMIC_ACK))
        syndrome = self.values.choice((0x1f, 0, 0x20, 0x3f, 0x40, 0x60, 0x61, 0x62, 0x63, 0x64, 0x7f, 0xff,
                                       self.values.randrange(256)))
        headers = (bytes([syndrome]) + self.payload(3) + self.payload(8))[:HEADERS.get(opcode, 0)]
        psn = queue.start[1] + self.values.choice((0, -1, 1, self.values.randrange(-4, 40),
                                                   self.values.getrandbits(24)))
        has_payload = opcode not in (ACK, ATOMIC_ACK)
        return [packet(queue.transport | opcode, queue.number, psn, headers,
                       self.payload(self.size(queue)) if has_payload else b"")]

    def odd_atomic(self, target, queue):
        region = target.regions[self.values.choice(("atomic", "all", "other"))]
        address = region["address"] + self.values.choice((1, 4, 7, -8, -4, region["size"], region["size"] - 4,
                                                          self.values.randrange(region["size"])))
        return [packet(queue.transport | self.values.choice((SWAP, ADD)), queue.number, queue.expected,
                       struct.pack(">QI", address, region["key"]) + self.payload(16))]

    def with_reth(self, queue, address, key, length, size=None):
        """A read or write with this RETH."""
        size = min(length, queue.mtu) if size is None else size
        opcode = self.values.choice((READ, WRITE_ONLY, WRITE_ONLY_IMM) if length <= queue.mtu else (READ, WRITE_FIRST))
        headers = struct.pack(">QII", address % 2**64, key, length) + bytes(4 if opcode == WRITE_ONLY_IMM else 0)
        return [packet(queue.transport | opcode, queue.number, queue.expected, headers,
                       b"" if opcode == READ else self.payload(size))]

    def huge_length(self, target, queue):
        address, key = self.place(target, self.writable(target, queue), 0)
        length = self.values.choice((0xffffffff, 0xfffffffe, 0xffffff00, 0x80000000, 0x80000001, 0x7fffffff, 0x40000000,
                                     0x40000001, 2**32 - queue.mtu, 2**32 - queue.mtu + 1))
        return self.with_reth(queue, address, key, length)

    def wrapped_address(self, target, queue):
        key = self.values.choice((target.regions["all"]["key"], target.window, target.regions["read"]["key"]))
        address = self.values.choice((2**64 - 1, 2**64 - 8, 2**64 - 4096, 0, 2**63,
                                      target.regions["all"]["address"] + 2**63, self.values.getrandbits(64)))
        return self.with_reth(queue, address, key, self.values.choice((1, 8, 16, 8192, 0xffffffff)))

    def beyond_region(self, target, queue):
        name = self.values.choice(("all", "read", "write", "revoked", "window"))
        region = target.regions[name]
        key = target.window if name == "window" else region["key"]
        end = region["size"]
        size, offset = self.values.choice(((1, end), (1, -1), (8, end - 7), (8, -1), (end, 1), (end + 1, 0), (8, -8),
                                           (100, end - 50)))
        return self.with_reth(queue, region["address"] + offset, key, size)

    def wrong_key(self, target, queue):
        """A key of something else, or the right one of a region that does not allow this."""
        region = self.values.choice(list(target.regions.values()))
        key = region["key"] if self.values.randrange(2) else self.any_key(target)
        address = region["address"] + self.values.randrange(100)
        return self.with_reth(queue, address, key, self.values.choice((0, 1, 64)))

    def old_key(self, target, queue):
        region = target.regions[self.values.choice(("revoked", "window"))]
        key = self.values.choice((*target.old_keys[:3], target.window))
        return self.with_reth(queue, region["address"], key, self.values.choice((1, 64)))

    def replay(self, target, queue):
        if not self.recorded:
            return self.random_bytes(target, queue)
        body = bytearray(self.values.choice(self.recorded))
        if self.values.randrange(2):  # for another queue pair, where it is the next packet
            body[5:8] = queue.number.to_bytes(3, "big")
            body[9:12] = queue.expected.to_bytes(3, "big")
        return [bytes(body)]

    def mutated(self, target, queue):
        whole = self.values.choice(self.recorded) if self.recorded and self.values.randrange(2) \
            else self.honest_kind(target, queue)[-1]
        return [self.mutate(whole)]

    def mutate(self, whole):
        body = bytearray(whole)
        for _ in range(1 + self.values.randrange(3)):
            body = body or bytearray(1)
            at = self.values.randrange(min(len(body), self.values.choice((12, 12, 40, len(body)))))
            how = self.values.randrange(6)
            if how == 0:
                body[at] ^= 1 << self.values.randrange(8)
            elif how == 1:
                body[at] = self.values.choice((0, 0xff, 0x7f, 0x80))
            elif how == 2:
                body[at:at + 4] = self.values.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"))
            elif how == 3 and len(body) > 16:
                del body[at:at + self.values.choice((1, 4, 8))]
            elif how == 4:
                body[at:at] = self.payload(self.values.choice((1, 4, 16)))
            elif how == 5:
                body[0] = body[0] & 0xe0 | self.values.randrange(32)
        return bytes(body) or b"\0"

    def random_bytes(self, target, queue):
        body = bytearray(self.payload(self.values.choice((0, 1, 11, 12, 16, 20, 28, 40, 44, 300, 1068))))
        if len(body) >= 12 and self.values.randrange(2):
            body[0] = self.values.choice((0, 0x20, 0x60)) | self.values.randrange(32)
            body[1] &= 0xf0
            body[2:4] = b"\xff\xff"
            body[4:8] = queue.number.to_bytes(4, "big")
            body[9:12] = queue.expected.to_bytes(3, "big")
        return [bytes(body)]

    def duplicate_read(self, target, queue):
        """A read and others that name parts of it, or more."""
        region = target.regions["all"]
        size, first = 3000, queue.expected
        packets = [packet(queue.transport | READ, queue.number, queue.next(-(-size // queue.mtu)),
                          struct.pack(">QII", region["address"], region["key"], size))]
        packets += self.send(target, queue)
        for _ in range(3):
            part = self.values.randrange(1 + -(-size // queue.mtu))
            length = self.values.choice((1, size - min(size, part * queue.mtu), size, size + 1, 0xffffffff,
                                         2**32 - queue.mtu + 1))
            packets.append(packet(queue.transport | READ, queue.number, first + part,
                                  struct.pack(">QII", region["address"] + part * queue.mtu, region["key"], length)))
        return packets

    # Answers to requests of the program.

    def answer(self, target, queue):
        if not queue.requests:
            if self.values.randrange(6):
                return []
            return self.unasked_answer(target, queue)
        request = queue.requests.popleft()
        opcode, psn = request[0] & 0x1f, int.from_bytes(request[9:12], "big")
        is_honest = self.values.randrange(3) != 0
        good = b"\x1f\0\0\0"
        if not is_honest:
            kind = self.values.randrange(5)
            if kind == 0:
                good = bytes([self.values.choice((0x20, 0x21, 0x3f, 0x60, 0x61, 0x62, 0x63, 0x7f))]) + b"\0\0\0"
                return [packet(ACK, queue.number, psn, good)]
            if kind == 1:
                return [packet(ACK, queue.number, psn + self.values.choice((-1, 1, 2, 30, 200)), good)]
            if kind == 2:
                return [packet(ATOMIC_ACK, queue.number, psn, good + self.payload(8))]
            if kind == 3:
                psn += self.values.choice((-1, 1, 2))
        if opcode in (SWAP, ADD):
            return [packet(ATOMIC_ACK, queue.number, psn, good + self.payload(8))]
        if opcode != READ:
            return [packet(ACK, queue.number, psn, good)]
        size = struct.unpack_from(">I", request, 24)[0]
        if not is_honest:
            size = max(0, size + self.values.choice((-1, 1, 4, queue.mtu, -queue.mtu, 100 * queue.mtu)))
        count = max(1, -(-size // queue.mtu))
        packets = []
        for i in range(min(count, 40)):
            kind = RESPONSE_FIRST if i == 0 else RESPONSE_LAST if i == count - 1 else RESPONSE_MIDDLE
            kind = RESPONSE_ONLY if count == 1 else kind
            packets.append(packet(kind, queue.number, psn + i, good if kind != RESPONSE_MIDDLE else b"",
                                  self.payload(min(queue.mtu, size - i * queue.mtu))))
        if not is_honest and self.values.randrange(2):
            self.values.shuffle(packets)
        return packets
