#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The samples of DOCA 3.0 that are two programs each: Comch, sync events and RDMA. Nothing is set in the environment, or with
OPENDOCA_TEST_STRICT=1 strict mode alone.

    test_v3_pairs.py FOLDER
"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from beside import MINUTE, SKIPPED, Program, has_rdma_devices

FOLDER = pathlib.Path(sys.argv[1])
IS_STRICT = os.environ.get("OPENDOCA_TEST_STRICT") == "1"


class Sample(Program):
    def __init__(self, name, *arguments):
        super().__init__(FOLDER / f"doca_v3_{name}", *arguments)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


LISTENS = "The server was idle and is running"
CONNECTS = "The client was idle and is starting"
FINISHED = "Sample finished successfully"


def ticks_of(program):
    """The processor's time that it has taken."""
    fields = pathlib.Path(f"/proc/{program.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


class Comch(unittest.TestCase):
    def test_waiting_blocks_unless_busy_is_given(self):
        for arguments in ("--busy",), ():
            with self.subTest(arguments=arguments), Sample("comch_ctrl_path_server", *arguments) as server:
                server.says(LISTENS)
                before = ticks_of(server)
                if arguments:
                    while ticks_of(server) < before + 20:
                        time.sleep(0.01)
                else:
                    time.sleep(0.3)  # in which the other has taken 20 ticks and more
                    self.assertLessEqual(ticks_of(server), before + 2)
                with Sample("comch_ctrl_path_client", *arguments) as client:
                    client.ends(0, FINISHED)
                server.ends(0, FINISHED)

    def test_a_message_and_an_answer(self):
        for representor, host in ("3b:00.0", "b1:00.0"), ("b1:00.0", "3b:00.0"), ("0b:00.0", "03:00.0"):
            if host == "03:00.0" and IS_STRICT:
                continue  # a port of the DPU is no client
            with self.subTest(representor=representor, host=host), \
                 Sample("comch_ctrl_path_server", "-p", "03:00.0", "-r", representor) as server:
                server.says(LISTENS)
                with Sample("comch_ctrl_path_client", "-p", host, "-t", "text of the host") as client:
                    client.ends(0, "The server has got 16 bytes", FINISHED)
                server.ends(0, "Message received: text of the host", FINISHED)

    def test_the_client_is_started_first(self):
        with Sample("comch_ctrl_path_client") as client:
            client.says(CONNECTS)
            with Sample("comch_ctrl_path_server") as server:
                client.ends(0, FINISHED)
                server.ends(0, FINISHED)

    def test_a_server_dies_while_a_client_connects(self):
        with Sample("comch_ctrl_path_server") as server:
            server.says(LISTENS).signal(signal.SIGSTOP)
            with Sample("comch_ctrl_path_client") as client:
                client.says(CONNECTS)
                server.signal(signal.SIGKILL)
                client.ends(1, "The client was starting and is idle", "The server has gone without an answer")

    def test_a_client_dies_while_it_connects(self):
        with Sample("comch_ctrl_path_server") as server:
            server.says(LISTENS).signal(signal.SIGSTOP)
            with Sample("comch_ctrl_path_client") as client:
                client.says(CONNECTS).signal(signal.SIGKILL)
                client.process.wait(MINUTE)
            server.signal(signal.SIGCONT)
            with Sample("comch_ctrl_path_client") as client:
                client.ends(0, FINISHED)
            server.ends(0, FINISHED)

    def test_the_data_path(self):
        with Sample("comch_data_path_high_speed_server") as server:
            server.says(LISTENS)
            with Sample("comch_data_path_high_speed_client", "-n", "1000", "-t", "x" * 4000) as client:
                client.ends(0, "Sent 1000 messages", "Received 1 messages, the last one: The server has got all of it",
                            FINISHED)
            server.ends(0, "Received 1000 messages, the last one: " + "x" * 4000, FINISHED)
        for side in client, server:
            self.assertNotIn("[ERR]", side.said, "the end of a producer is no error")

    def test_the_data_path_without_sleep(self):
        with Sample("comch_data_path_high_speed_server", "--busy") as server:
            server.says(LISTENS)
            with Sample("comch_data_path_high_speed_client", "-n", "100", "--busy") as client:
                client.ends(0, "Sent 100 messages", FINISHED)
            server.ends(0, "Received 100 messages", FINISHED)

    def test_a_second_client_is_sent_away(self):
        with Sample("comch_data_path_high_speed_server") as server:
            server.says(LISTENS)
            with Sample("comch_data_path_high_speed_client", "-n", "100000000") as client:
                client.says("The consumer was starting and is running")
                with Sample("comch_data_path_high_speed_client") as second:
                    second.ends(1, "Sample finished with errors")
                self.assertIsNone(client.process.poll())
            server.ends(1, "A second client is sent away", "The peer has gone")

    def test_a_side_of_the_data_path_dies(self):
        for victim in "server", "client":
            with self.subTest(victim=victim), Sample("comch_data_path_high_speed_server") as server:
                server.says(LISTENS)
                with Sample("comch_data_path_high_speed_client", "-n", "100000000") as client:
                    for side in server, client:
                        side.says("The data path is set up")
                    killed, left = (server, client) if victim == "server" else (client, server)
                    killed.signal(signal.SIGKILL)
                    left.ends(1, "The peer has gone", "Sample finished with errors")


class SyncEvent(unittest.TestCase):
    def test_by_calls_and_by_tasks(self):
        for of_host in (), ("--async",):
            for of_dpu in (), ("--async",):
                with self.subTest(of_host=of_host, of_dpu=of_dpu), Sample("sync_event_remote_pci", *of_dpu) as dpu:
                    dpu.says(LISTENS)
                    with Sample("sync_event_local_pci", *of_host) as host:
                        host.ends(0, "The DPU has signalled", FINISHED)
                    dpu.ends(0, "The host has signalled, and was answered", FINISHED)

    def test_the_host_is_started_first(self):
        with Sample("sync_event_local_pci") as host:
            host.says(CONNECTS)
            with Sample("sync_event_remote_pci", "-d", "03:00.0", "-r", "b1:00.0") as dpu:
                host.ends(0, FINISHED)
                dpu.ends(0, FINISHED)

    def test_the_host_dies(self):
        for arguments in (), ("--async",):
            with self.subTest(arguments=arguments), Sample("sync_event_remote_pci", *arguments) as dpu:
                dpu.says(LISTENS)
                with Sample("sync_event_local_pci", *arguments) as host:
                    host.says("The client was starting and is running").signal(signal.SIGKILL)
                    host.process.wait(MINUTE)
                # Before or after it has signalled: either way the DPU does not wait for ever.
                dpu.ends(dpu.process.wait(MINUTE), "Sample finished")


# What a responder leaves for its requester, and the argument that says where.
OF_RESPONDERS = ("write", "-m"), ("read", "-m"), ("sync_event", "-se")
COPY_FILES = "Copy the files from the remote side to here, and press Enter"


class Rdma(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.files = [f"{place.name}/{name}" for name in ("a", "b", "memory")]

    def arguments(self, is_first, *others):
        paths = self.files[:2] if is_first else self.files[1::-1]
        return ["-ld", paths[0], "-re", paths[1], *others]

    def pair(self, first, second, *of_first, of_second=()):
        """The two, as soon as both have written their files."""
        shared = next(([option, self.files[2]] for name, option in OF_RESPONDERS if name in first), [])
        sides = (Sample(first, *self.arguments(True, *shared, *of_first)),
                 Sample(second, *self.arguments(False, *shared, *of_second)))
        for side in sides:
            self.addCleanup(side.__exit__)
            side.says(COPY_FILES)
        return sides

    def test_a_message_by_files(self):
        for is_receiver_first in True, False:
            with self.subTest(is_receiver_first=is_receiver_first):
                sender, receiver = self.pair("rdma_send", "rdma_receive", "-s", "text of the sender")
                for side in (receiver, sender) if is_receiver_first else (sender, receiver):
                    side.presses_enter()
                sender.ends(0, "Sent: text of the sender", FINISHED)
                receiver.ends(0, "Received 18 bytes: text of the sender", FINISHED)

    def test_what_was_sent_before_the_sender_left_is_received(self):
        sender, receiver = self.pair("rdma_send", "rdma_receive")
        receiver.presses_enter()
        receiver.says("Waiting for a message").signal(signal.SIGSTOP)
        sender.presses_enter()
        sender.ends(0, FINISHED)
        receiver.signal(signal.SIGCONT)
        receiver.ends(0, "Received 13 bytes: Hi DOCA RDMA!", FINISHED)

    def test_a_side_dies_before_the_message(self):
        sender, receiver = self.pair("rdma_send", "rdma_receive")
        receiver.presses_enter()
        receiver.says("Waiting for a message")
        sender.signal(signal.SIGKILL)
        receiver.ends(1, "The peer has disconnected", "Failed to receive")
        sender, receiver = self.pair("rdma_send", "rdma_receive")
        sender.presses_enter()
        sender.says("Sending 13 bytes")
        receiver.signal(signal.SIGKILL)
        sender.ends(1, "Failed to send")

    def test_a_side_dies_before_the_two_connect(self):
        sender, receiver = self.pair("rdma_send", "rdma_receive")
        receiver.signal(signal.SIGKILL)
        receiver.process.wait(MINUTE)
        sender.presses_enter()
        sender.ends(1, "Failed to connect")

    def test_a_write(self):
        requester, responder = self.pair("rdma_write_requester", "rdma_write_responder", "-s", "text of the requester")
        responder.presses_enter()
        requester.presses_enter()
        requester.ends(0, "Wrote: text of the requester", FINISHED)
        responder.says("Wait until the requester has finished").presses_enter()
        responder.ends(0, "The requester has written: text of the requester", FINISHED)

    def test_a_message_with_a_number(self):
        for is_receiver_first in True, False:
            with self.subTest(is_receiver_first=is_receiver_first):
                sender, receiver = self.pair("rdma_send_immediate", "rdma_receive_immediate", "-i", "4711")
                for side in (receiver, sender) if is_receiver_first else (sender, receiver):
                    side.presses_enter()
                sender.ends(0, "Sent 4711 with: Hi DOCA RDMA!", FINISHED)
                receiver.ends(0, "Received 4711 with 13 bytes: Hi DOCA RDMA!", FINISHED)

    def test_a_write_with_a_number(self):
        for is_responder_first in True, False:
            with self.subTest(is_responder_first=is_responder_first):
                requester, responder = self.pair("rdma_write_immediate_requester", "rdma_write_immediate_responder",
                                                 "-s", "text of the requester", "-i", "4711")
                for side in (responder, requester) if is_responder_first else (requester, responder):
                    side.presses_enter()
                requester.ends(0, "Wrote 4711 with: text of the requester", FINISHED)
                responder.ends(0, "Received 4711; the requester has written: text of the requester", FINISHED)

    def test_a_read(self):
        requester, responder = self.pair("rdma_read_requester", "rdma_read_responder",
                                         of_second=("-s", "text of the responder"))
        for side in requester, responder:
            side.presses_enter()
        requester.ends(0, "Read 4096 bytes: text of the responder", FINISHED)
        responder.says("Wait until the requester has finished").presses_enter()
        responder.ends(0, FINISHED)

    def test_several_connections_by_files(self):
        count = ("-n", "4")
        sender, receiver = self.pair("rdma_multi_conn_send", "rdma_multi_conn_receive", *count, of_second=count)
        for side in receiver, sender:
            side.presses_enter()
        sender.ends(0, *(f"Sent by connection {number}" for number in range(4)), FINISHED)
        receiver.ends(0, *(f"Received 13 bytes by connection {number}" for number in range(4)), FINISHED)

    def test_several_connections_by_address(self):
        arguments = ("-n", "8", "-P", str(free_port()))
        with Sample("rdma_multi_conn_receive", *arguments) as receiver:
            receiver.says("Listening to port")
            with Sample("rdma_multi_conn_send", *arguments) as sender:
                sender.ends(0, *(f"Sent by connection {number}" for number in range(8)), FINISHED)
            receiver.ends(0, *(f"Received 13 bytes by connection {number}" for number in range(8)), FINISHED)

    def test_a_sync_event(self):
        requester, responder = self.pair("rdma_sync_event_requester", "rdma_sync_event_responder")
        for side in requester, responder:
            side.presses_enter()
        requester.ends(0, "Set the event to 1", "The responder has answered", FINISHED)
        responder.says("Wait until the requester has finished").presses_enter()
        responder.ends(0, FINISHED)

    def test_the_responder_dies_before_the_write(self):
        requester, responder = self.pair("rdma_write_requester", "rdma_write_responder")
        responder.presses_enter()
        responder.says("Wait until the requester has finished").signal(signal.SIGKILL)
        responder.process.wait(MINUTE)
        requester.presses_enter()
        requester.ends(1, "Sample finished with errors")

    def test_without_sleep(self):
        busy = ("--busy",)
        sender, receiver = self.pair("rdma_send", "rdma_receive", *busy, of_second=busy)
        for side in receiver, sender:
            side.presses_enter()
        sender.ends(0, FINISHED)
        receiver.ends(0, "Received 13 bytes", FINISHED)

    def test_by_address(self):
        for address in "127.0.0.1", "::1":
            port = str(free_port())
            with self.subTest(address=address), Sample("rdma_receive", "-P", port, "-d", "03:00.0") as receiver:
                receiver.says("Listening to port " + port)
                with Sample("rdma_send", "-P", port, "-a", address, "-d", "3b:00.0", "-s", "by address") as sender:
                    sender.ends(0, "Connected by address", "Sent: by address", FINISHED)
                receiver.ends(0, "Received 10 bytes: by address", FINISHED)

    def test_no_server_at_the_address(self):
        with Sample("rdma_send", "-P", str(free_port())) as sender:
            sender.ends(1, "Failed to connect by address")

    def test_the_listener_dies_while_a_sender_connects(self):
        port = str(free_port())
        with Sample("rdma_receive", "-P", port) as receiver:
            receiver.says("Listening to port " + port).signal(signal.SIGSTOP)
            with Sample("rdma_send", "-P", port) as sender:
                sender.says("The RDMA context was idle and is running")
                receiver.signal(signal.SIGKILL)
                sender.ends(1, "Failed to connect by address")


# Namespaces of one's own that a container has, but for the two that it has to share: processes and users.
CONTAINER = "unshare", "--mount", "--net", "--ipc", "--uts"
OWN_PROCESSES = "--pid", "--fork", "--kill-child", "--mount-proc"


class InContainer(Program):
    def __init__(self, name, *arguments, namespaces=()):
        super().__init__(*CONTAINER, *namespaces, FOLDER / f"doca_v3_{name}", *arguments)


@unittest.skipUnless(subprocess.run([*CONTAINER, "true"], capture_output=True, check=False).returncode == 0,
                     "namespaces can't be made here")
class Containers(unittest.TestCase):
    """Host and DPU in a container each."""

    def test_comch(self):
        for service, asks in (("comch_ctrl_path_server", "comch_ctrl_path_client"),
                              ("comch_data_path_high_speed_server", "comch_data_path_high_speed_client"),
                              ("sync_event_remote_pci", "sync_event_local_pci")):
            with self.subTest(service=service), InContainer(service) as server:
                server.says(LISTENS)
                with InContainer(asks) as client:
                    client.ends(0, FINISHED)
                server.ends(0, FINISHED)

    def test_with_processes_of_their_own_messages_are_all_they_have(self):
        with InContainer("comch_ctrl_path_server", namespaces=OWN_PROCESSES) as server:
            server.says(LISTENS)
            with InContainer("comch_ctrl_path_client", "-t", "from afar", namespaces=OWN_PROCESSES) as client:
                client.ends(0, FINISHED)
            server.ends(0, "Message received: from afar", FINISHED)
        with tempfile.TemporaryDirectory() as place:
            files = "-d", f"{place}/descriptor", "-b", f"{place}/buffer"
            with InContainer("dma_copy_host", *files, namespaces=OWN_PROCESSES) as host:
                host.says("press Enter")
                with InContainer("dma_copy_dpu", *files, namespaces=OWN_PROCESSES) as dpu:
                    dpu.ends(1, "[ERR]", "Sample finished with errors")
                host.presses_enter()
                host.ends(0, FINISHED)

    def test_memory_and_messages(self):
        with tempfile.TemporaryDirectory() as place:
            files = "-d", f"{place}/descriptor", "-b", f"{place}/buffer"
            with InContainer("dma_copy_host", *files) as host:
                host.says("press Enter")
                with InContainer("dma_copy_dpu", *files) as dpu:
                    dpu.ends(0, FINISHED)
                host.presses_enter()
                host.ends(0, FINISHED)
            with InContainer("rdma_receive", "-ld", f"{place}/a", "-re", f"{place}/b") as receiver, \
                 InContainer("rdma_send", "-ld", f"{place}/b", "-re", f"{place}/a") as sender:
                for side in receiver, sender:
                    side.says(COPY_FILES)
                for side in receiver, sender:
                    side.presses_enter()
                for side in receiver, sender:
                    side.ends(0, FINISHED)


if __name__ == "__main__":
    if has_rdma_devices():
        print("this machine has RDMA devices, beside which software devices are not listed by themselves")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
