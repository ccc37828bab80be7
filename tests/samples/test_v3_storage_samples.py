#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The storage samples of DOCA 3.0: a client that stores files on the targets of a server, loses blocks and recovers them.
Nothing is set in the environment but what a test is about.

    test_v3_storage_samples.py FOLDER PEER IMAGE_TEST
"""
import json
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

from beside import SKIPPED, Program, has_rdma_devices

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER, PEER, IMAGE_TEST = map(pathlib.Path, sys.argv[1:4])
LISTENS = "The server was idle and is running"
FINISHED = "Sample finished successfully"
FAILED = "Sample finished with errors"
MIB = 1 << 20

VERSION = 1
WELCOME, OPEN, STORE, LOAD, LOSE, DONE = range(1, 7)
SUCCESS, INVALID_VALUE, NOT_FOUND, BAD_STATE = 0, 6, 16, 18


def contents():
    source = pathlib.Path(__file__).read_bytes()
    noise = random.Random(23).randbytes
    return {"empty": b"", "one byte": b"x", "text": source * 50, "zeros": bytes(5 * MIB), "noise": noise(3 * MIB + 1),
            "a block and a byte": noise(4 * 64 + 1), "mixed": source + noise(70000) + bytes(70000) + source}


def message(kind, *numbers):
    return struct.pack(f"<{2 + len(numbers)}I", VERSION, kind, *numbers).hex()


class Storage(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.file, self.out = (pathlib.Path(place.name, name) for name in ("file", "out"))
        self.topology = pathlib.Path(place.name, "topology.json")

    def server(self, *arguments, **variables):
        return Program(FOLDER / "doca_v3_storage_server", *arguments, **variables)

    def client(self, *arguments, **variables):
        return Program(FOLDER / "doca_v3_storage_client", "-f", self.file, "-o", self.out, *arguments, **variables)

    def store(self, content, *arguments, of_server=()):
        """What the client and the server have said, after a run that ends well."""
        self.file.write_bytes(content)
        self.out.unlink(missing_ok=True)
        with self.server(*of_server) as server:
            server.says(LISTENS)
            with self.client(*arguments) as client:
                client.ends(0, f"Wrote {len(content)} bytes to", FINISHED)
            server.ends(0, FINISHED)
        self.assertEqual(content, self.out.read_bytes())
        return client.said, server.said

    def test_a_file_is_read_back_whole(self):
        for name, content in contents().items():
            for lose in (), ("-L", "0"), ("-L", "0,3"), ("-L", "1,4"), ("-L", "4,5"):
                with self.subTest(name, lose=lose):
                    said, _ = self.store(content, *lose)
                    lost = lose[-1].split(",") if lose else []
                    self.assertIn(f"Loaded {6 - len(lost)} of 6 blocks", said)
                    for block in range(6):
                        self.assertEqual(str(block) in lost, f"Block {block} " in said)
                        self.assertEqual(str(block) in lost, f"Recovered block {block} " in said)

    def test_other_numbers_of_blocks_and_targets(self):
        content = contents()["mixed"]
        for num_data, num_redundancy, lose, targets in ((1, 1, "0", 2), (2, 3, "0,1,4", 5), (10, 4, "0,5,9,13", 14),
                                                        (29, 3, "0,1,2", 32), (1, 31, ",".join(map(str, range(31))), 32)):
            with self.subTest(num_data=num_data, num_redundancy=num_redundancy):
                said, of_server = self.store(content, "-k", str(num_data), "-m", str(num_redundancy), "-L", lose, "--busy",
                                             of_server=("-n", str(targets), "--busy"))
                self.assertIn(f"Made {num_data} data blocks and {num_redundancy} redundancy blocks", said)
                self.assertEqual(num_data + num_redundancy, of_server.count("had to store a block: Success"))

    def test_what_compresses_takes_less_memory(self):
        said, of_server = self.store(bytes(5 * MIB))
        self.assertRegex(said, r"Compressed 5242880 bytes to \d{4,5}, CRC-32 [0-9a-f]{8}")
        self.assertRegex(of_server, r"for blocks of \d{4} bytes")

    def test_the_client_is_started_first(self):
        self.file.write_bytes(b"content")
        with self.client() as client:
            client.says("Made 4 data blocks")
            with self.server() as server:
                client.ends(0, FINISHED)
                server.ends(0, FINISHED)

    def test_each_side_sees_its_own_devices_only(self):
        self.file.write_bytes(b"content")
        with self.server(DOCA_SOFT_ROLE="dpu") as server:
            server.says(LISTENS)
            with self.client("-L", "1,2", DOCA_SOFT_ROLE="host") as client:
                client.ends(0, FINISHED)
            server.ends(0, FINISHED)

    def test_the_run_in_the_documentation(self):
        """Sizes and checksums aside, which depend on the release of libdeflate."""
        page = (ROOT / "docs/storage-sample.md").read_text(encoding="utf-8")
        shown = re.search(r"```console\n.*storage_server &\n.*-L 0,3\n(.*?)```", page, re.DOTALL)[1]
        said, _ = self.store((ROOT / "LICENSE").read_bytes(), "-L", "0,3")

        def lines(text):
            text = text.replace(str(self.file), "LICENSE").replace(str(self.out), "copy")
            return re.sub(r"\b(?:[0-9a-f]{8}|\d+)\b", "N", text).splitlines()

        of_run = [line.rpartition("] ")[2] for line in lines(said)]
        for line in lines(shown):
            if line != "...":
                self.assertIn(line, of_run)

    def fails(self, *texts, arguments=(), of_server=(), code_of_server=0, **variables):
        """A run in which the client ends with an error and writes nothing; what both have said."""
        with self.server(*of_server, **variables) as server:
            server.says(LISTENS)
            with self.client(*arguments) as client:
                client.ends(1, *texts, FAILED)
            server.ends(code_of_server)
        self.assertFalse(self.out.exists())
        return client.said, server.said

    def test_more_lost_blocks_than_redundancy_are_an_error(self):
        self.file.write_bytes(contents()["text"])
        self.fails("3 blocks are lost, and at most 2 can be recovered", arguments=("-L", "0,3,5"))
        self.fails("2 blocks are lost, and at most 1 can be recovered", arguments=("-m", "1", "-L", "3,4"))
        self.fails("6 blocks are lost, and at most 2 can be recovered", arguments=("-L", "0,1,2,3,4,5"))

    def test_more_blocks_than_targets_are_an_error(self):
        self.file.write_bytes(b"content")
        self.fails("6 blocks need as many targets, and the server has 5", of_server=("-n", "5"))

    def test_files_that_cannot_be_stored(self):
        """Which the client notices before it has a server."""
        def fails(text):
            with self.client() as client:
                client.ends(1, text, FAILED)

        fails(f"Failed to open {self.file}: No such file or directory")
        with open(self.file, "wb") as file:
            file.truncate(128 * MIB + 1)
        fails("has 134217729 bytes, and the device compresses at most 134217728")
        self.file.unlink()
        self.file.mkdir()
        fails(f"{self.file} is no regular file")

    def test_a_file_that_cannot_be_written(self):
        self.file.write_bytes(b"content")
        self.out = self.out / "in no folder"
        self.fails(f"Failed to write {self.out}")

    def test_wrong_arguments(self):
        client = "doca_v3_storage_client"
        for name, arguments, text in (
                (client, (), "have to be given"), (client, ("-f", "x"), "have to be given"),
                (client, ("-o", "x"), "have to be given"), (client, ("-f", ""), ""),
                (client, ("-f", "x" * 1024, "-o", "x"), "The path has to have 1 to 1023 characters"),
                (client, ("-f", "x", "-o", "x", "-k", "0"), "0 data blocks: 1 to 31 are possible"),
                (client, ("-f", "x", "-o", "x", "-m", "0"), "0 redundancy blocks: 1 to 31 are possible"),
                (client, ("-f", "x", "-o", "x", "-m", "-1"), "-1 redundancy blocks: 1 to 31 are possible"),
                (client, ("-f", "x", "-o", "x", "-k", "31"), "31 data blocks and 2 redundancy blocks are more than 32"),
                (client, ("-f", "x", "-o", "x", "-L", "6"), "Block 6 cannot be lost: the blocks are 0 to 5"),
                *((client, ("-f", "x", "-o", "x", "-L", lose), f"'{lose}' is no list of ascending numbers of blocks")
                  for lose in ("x", "0,", "0,,1", "1,0", "1,1", "-1", " 1", "0 1", "32", "18446744073709551616")),
                ("doca_v3_storage_server", ("-n", "0"), "0 targets: 1 to 32 are possible"),
                ("doca_v3_storage_server", ("-n", "33"), "33 targets: 1 to 32 are possible"),
                ("doca_v3_storage_server", ("-p", "ff:00.0"), "No device at ff:00.0 that suits"),
                ("doca_v3_storage_server", ("-r", "ff:00.0"), "No representor of ff:00.0")):
            with self.subTest(name, arguments=arguments), Program(FOLDER / name, *arguments) as program:
                program.ends(1, text, FAILED)

    def test_devices_without_the_engines(self):
        functions = [{"name": "p0", "side": "dpu", "type": "pf", "pci": "03:00.0"},
                     {"name": "pf0", "side": "host", "type": "pf", "pci": "3b:00.0", "parent": "p0"}]
        self.file.write_bytes(b"content")
        for engines, missing in (("none", ("compress DEFLATE", "decompress DEFLATE", "create redundancy", "recover lost")),
                                 ("bluefield-2", ("create redundancy", "recover lost")),
                                 ("bluefield-3", ("compress DEFLATE",))):
            functions[1]["engines"] = engines
            self.topology.write_text(json.dumps({"functions": functions}), encoding="utf-8")
            with self.subTest(engines), self.client(DOCA_SOFT_TOPOLOGY=str(self.topology)) as client:
                client.ends(1, *(f"The device cannot {what}" for what in missing), FAILED)
                self.assertEqual(len(missing), client.said.count("The device cannot"))

    def test_a_copy_fails(self):
        self.file.write_bytes(contents()["text"])
        for number, text in (1, "has not stored block"), (7, "has not loaded block"):
            self.fails(text, code_of_server=1, DOCA_SOFT_FAULTS=f"job={number}")
        self.fails("The server cannot use this side's memory", code_of_server=1, DOCA_SOFT_FAULTS="import=1")

    def test_the_server_dies(self):
        self.file.write_bytes(b"content")
        with self.server() as server:
            server.says(LISTENS).signal(signal.SIGSTOP)
            with self.client() as client:
                client.says("Made 4 data blocks")
                server.signal(signal.SIGKILL)
                client.ends(1, "There is no server, or it has gone", FAILED)
        self.assertFalse(self.out.exists())


class Protocol(unittest.TestCase):
    """Messages of a peer that follows no rule but those of Comch."""

    def answers(self, *messages, code_of_server=0):
        """(the answers to the messages of a client, what the server has said)"""
        with Program(FOLDER / "doca_v3_storage_server") as server:
            server.says(LISTENS)
            with Program(PEER, "client", *messages) as peer:
                peer.ends(peer.process.wait(60))
            server.ends(code_of_server)
        received = [bytes.fromhex(line.split()[1]) for line in peer.said.splitlines() if line.startswith("received ")]
        self.assertEqual(message(WELCOME, 8, 64 * MIB), received[0].hex())
        done = [struct.unpack("<5I", answer) for answer in received[1:]]
        for answer in done:
            self.assertEqual((VERSION, DONE), answer[:2])
        return [answer[2:] for answer in done], server.said

    def test_requests_that_the_server_serves(self):
        done, _ = self.answers("open:64", message(LOAD, 0, 3), message(STORE, 63, 3), message(LOAD, 0, 3), message(LOSE, 0, 3),
                               message(LOSE, 0, 3), message(LOAD, 0, 3), message(STORE, 1, 3), message(LOAD, 1, 3))
        self.assertEqual([(OPEN, 0, SUCCESS), (LOAD, 3, NOT_FOUND), (STORE, 3, SUCCESS), (LOAD, 3, SUCCESS), (LOSE, 3, SUCCESS),
                          (LOSE, 3, SUCCESS), (LOAD, 3, NOT_FOUND), (STORE, 3, SUCCESS), (LOAD, 3, SUCCESS)], done)

    def test_requests_that_the_server_refuses(self):
        for messages, expected in (
                ((message(STORE, 0, 0),), (STORE, 0, BAD_STATE)),
                ((message(LOAD, 0, 0),), (LOAD, 0, BAD_STATE)),
                ((message(LOSE, 0, 8),), (LOSE, 8, INVALID_VALUE)),
                ((message(LOSE, 0, 0xffffffff),), (LOSE, 0xffffffff, INVALID_VALUE)),
                (("open:64", message(STORE, 64, 0)), (STORE, 0, INVALID_VALUE)),
                (("open:64", message(STORE, 0xffffffff, 0)), (STORE, 0, INVALID_VALUE)),
                (("open:4097", message(STORE, 0, 0)), (STORE, 0, INVALID_VALUE)),
                (("open:64", message(STORE, 0, 8)), (STORE, 8, INVALID_VALUE)),
                (("open:64", message(LOAD, 0, 0x80000000)), (LOAD, 0x80000000, INVALID_VALUE)),
                (("open:0",), (OPEN, 0, INVALID_VALUE)),
                ((f"open:{64 * MIB + 1}",), (OPEN, 0, INVALID_VALUE)),
                ((message(OPEN, 64, 100) + "ab" * 100,), (OPEN, 0, INVALID_VALUE)),
                (("open:64", "open:64"), (OPEN, 0, BAD_STATE))):
            with self.subTest(messages):
                done, _ = self.answers(*messages, code_of_server=1)
                self.assertEqual([(OPEN, 0, SUCCESS)] * (len(messages) - 1) + [expected], done)
        _, said = self.answers("open:64", message(STORE, 64, 0), code_of_server=1)
        self.assertIn("Block 64 on target 0: there are 64 blocks and 8 targets", said)

    def test_messages_that_end_the_server(self):
        for broken in ("00", message(STORE, 0), message(STORE, 0, 0) + "00", message(LOSE), message(OPEN, 64),
                       message(OPEN, 64, 0), message(OPEN, 64, 8) + "ab" * 7, message(OPEN, 64, 8) + "ab" * 9,
                       message(OPEN, 64, 0xffffffff) + "ab" * 8, message(OPEN, 64, 1025) + "ab" * 1025,
                       message(WELCOME, 8, 64), message(DONE, STORE, 0, 0), message(0), message(7, 0, 0),
                       struct.pack("<4I", VERSION + 1, STORE, 0, 0).hex()):
            with self.subTest(broken):
                done, said = self.answers(broken, code_of_server=1)
                self.assertEqual([], done)
                self.assertRegex(said, rf"A message of type \d+ with {len(broken) // 2} bytes does not follow the protocol")

    def client_with(self, *messages):
        """What a client says to a server that sends these messages."""
        with tempfile.TemporaryDirectory() as place, Program(PEER, "server", *messages) as peer:
            file, out = pathlib.Path(place, "file"), pathlib.Path(place, "out")
            file.write_bytes(b"content")
            peer.says(LISTENS)
            with Program(FOLDER / "doca_v3_storage_client", "-f", file, "-o", out) as client:
                client.ends(1, FAILED)
            self.assertFalse(out.exists())
            peer.ends(0)
        return client.said

    def test_messages_that_end_the_client(self):
        welcome = message(WELCOME, 8, 64 * MIB)
        for messages in (("00",), (message(WELCOME, 8),), (welcome + "00",), (message(WELCOME, 0, 64),),
                         (message(WELCOME, 33, 64),), (message(WELCOME, 0xffffffff, 64),), (message(DONE, OPEN, 0, 0),),
                         (message(STORE, 0, 0),), (struct.pack("<4I", VERSION + 1, WELCOME, 8, 64).hex(),),
                         (welcome, welcome), (welcome, message(DONE, OPEN, 0)), (welcome, message(DONE, OPEN, 0, 0, 0)),
                         (welcome, message(DONE, STORE, 0, 0)), (welcome, message(DONE, OPEN, 1, 0)),
                         (welcome, message(DONE, OPEN, 8, 0)), (welcome, message(DONE, OPEN, 0xffffffff, 0))):
            with self.subTest(messages):
                self.assertRegex(self.client_with(*messages),
                                 rf"A message of type \d+ with {len(messages[-1]) // 2} bytes does not follow the protocol")

    def test_what_the_server_reports_is_an_error(self):
        self.assertIn("The server stores blocks of up to 63 bytes, not of 64", self.client_with(message(WELCOME, 8, 63)))
        welcome = message(WELCOME, 6, 64)
        said = self.client_with(welcome, message(DONE, OPEN, 0, 999))
        self.assertIn("The server cannot use this side's memory: unrecognized error code", said)
        answers = [message(DONE, STORE, target, 5 if target == 2 else 0) for target in range(6)]
        said = self.client_with(welcome, message(DONE, OPEN, 0, 0), *answers)
        self.assertRegex(said, r"Target 2 has not stored block \d: ")

    def test_an_image_that_came_back_changed(self):
        done = subprocess.run([IMAGE_TEST], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)


if __name__ == "__main__":
    if has_rdma_devices():
        print("this machine has RDMA devices, beside which software devices are not listed by themselves")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
