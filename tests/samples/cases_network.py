# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Sender and receiver, over TCP on the loopback interface."""

import socket
import struct

from program import TIME_LIMIT, check

TEXT = "Text of the sender"


def start_receiver(bench, *arguments):
    """The receiver, listening at a free port; returns it and the port."""
    receiver = bench.start("dma_remote_copy_receiver", "-P", "0", *arguments, side="dpu")
    return receiver, int(receiver.wait_for(r"Waiting for the sender at 127\.0\.0\.1, port (\d+)").group(1))


def start_sender(bench, port, *arguments):
    return bench.start("dma_remote_copy_sender", "-t", TEXT, "-P", port, *arguments, side="host")


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port), TIME_LIMIT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def listen():
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(TIME_LIMIT)
    return listener


def accept(listener):
    connection, _ = listener.accept()
    connection.settimeout(TIME_LIMIT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        check(part, f"the connection has ended after {len(data)} of {size} bytes")
        data += part
    return data


def receive_descriptor(connection):
    """The sender's message, as it came."""
    header = receive(connection, 32)
    return header + receive(connection, struct.unpack(">8sIIQQ", header)[1])


def outcome(error):
    return struct.pack(">8sII", b"ODMADONE", error, 0)


def test_sender_to_receiver(bench):
    receiver, port = start_receiver(bench)
    sender = start_sender(bench, port)
    sender.succeeds(f"Exported {len(TEXT)} bytes of text: {TEXT}", "The receiver acknowledges")
    receiver.succeeds(f"Copied {len(TEXT) + 1} bytes from the host's memory; the text is: {TEXT}")


def test_sender_before_receiver(bench):
    """The sender goes on trying while nobody listens."""
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        sender = start_sender(bench, port, "-a", "localhost")
        sender.wait_for(f"Nobody listens at localhost, port {port}")
        receiver = bench.start("dma_remote_copy_receiver", "-P", port, side="dpu")
        receiver.succeeds(f"the text is: {TEXT}")
        sender.succeeds()


def test_messages_in_single_bytes(bench):
    receiver, port = start_receiver(bench)
    with listen() as listener:
        sender = start_sender(bench, listener.getsockname()[1])
        with accept(listener) as to_sender, connect(port) as to_receiver:
            message = receive_descriptor(to_sender)
            for byte in message:
                to_receiver.send(bytes([byte]))
            for byte in receive(to_receiver, 16):
                to_sender.send(bytes([byte]))
            sender.succeeds()
            receiver.succeeds(f"the text is: {TEXT}")


def test_receiver_waits_in_vain(bench):
    receiver, _ = start_receiver(bench, "-w", "1")
    receiver.fails("The time limit has passed while waiting for the sender")


def test_receiver_and_a_silent_sender(bench):
    receiver, port = start_receiver(bench, "-w", "1")
    with connect(port) as connection:
        connection.send(b"ODMADESC")
        receiver.fails("The time limit has passed while waiting for the descriptor")


def test_receiver_and_a_sender_that_leaves(bench):
    receiver, port = start_receiver(bench)
    with connect(port) as connection:
        connection.send(struct.pack(">8sIIQQ", b"ODMADESC", 80, 0, 4096, 10) + b"half of it")
    receiver.fails("The connection has ended while waiting for the descriptor")


def test_receiver_and_an_unknown_client(bench):
    receiver, port = start_receiver(bench)
    with connect(port) as connection:
        connection.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        receiver.fails("is not the sender of this sample")


def test_receiver_and_a_descriptor_of_a_wrong_size(bench):
    for size in (0, 257, 0xffffffff):
        receiver, port = start_receiver(bench)
        with connect(port) as connection:
            connection.send(struct.pack(">8sIIQQ", b"ODMADESC", size, 0, 4096, 10) + bytes(256))
            receiver.fails(f"The sender announces a descriptor of {size} bytes")


def test_receiver_and_a_damaged_descriptor(bench):
    """The sender hears of it."""
    receiver, port = start_receiver(bench)
    with connect(port) as connection:
        connection.send(struct.pack(">8sIIQQ", b"ODMADESC", 80, 0, 4096, 10) + bytes(80))
        check(receive(connection, 16) == outcome(6), "not the outcome DOCA_ERROR_INVALID_VALUE")
        receiver.fails("The host's memory cannot be imported")


def test_sender_hears_of_a_failure(bench):
    with listen() as listener:
        sender = start_sender(bench, listener.getsockname()[1])
        with accept(listener) as connection:
            receive_descriptor(connection)
            connection.send(outcome(17))
            sender.fails("The receiver could not copy the text")


def test_sender_and_no_acknowledgement(bench):
    with listen() as listener:
        sender = start_sender(bench, listener.getsockname()[1], "-w", "1")
        with accept(listener) as connection:
            receive_descriptor(connection)
            sender.fails("The time limit has passed while waiting for the receiver's acknowledgement")


def test_sender_and_a_receiver_that_leaves(bench):
    with listen() as listener:
        sender = start_sender(bench, listener.getsockname()[1])
        with accept(listener) as connection:
            receive_descriptor(connection)
        sender.fails("The connection has ended while waiting for the receiver's acknowledgement")


def test_sender_and_an_unknown_server(bench):
    with listen() as listener:
        sender = start_sender(bench, listener.getsockname()[1])
        with accept(listener) as connection:
            receive_descriptor(connection)
            connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            sender.fails("is not the receiver of this sample")


def test_sender_without_a_receiver(bench):
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        sender = start_sender(bench, reserved.getsockname()[1], "-w", "1")
        sender.fails("Cannot connect to 127.0.0.1", "Connection refused")


def test_port_in_use(bench):
    with listen() as listener:
        receiver = bench.start("dma_remote_copy_receiver", "-P", listener.getsockname()[1], side="dpu")
        receiver.fails("Cannot listen at 127.0.0.1", "Address already in use")


def test_wrong_network_arguments(bench):
    for arguments, text in ((("-P", "65536"), "The port 65536 is not between"), (("-P", "-1"), "The port -1 is not"),
                            (("-w", "0"), "The time limit of 0 seconds"),
                            (("-a", "no such name"), "The address 'no such name' cannot be used")):
        bench.start("dma_remote_copy_receiver", *arguments, side="dpu").fails(text)
