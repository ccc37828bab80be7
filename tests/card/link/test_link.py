#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The two sides of one card at two places: with PID, mount and network namespaces of their own, and different users.

    test_link.py WITH_CARD LINK_PAIR FOLDER_OF_SAMPLES LINK_MESSAGES LINK_MESSAGES_V3
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

WITH_CARD, LINK_PAIR, SAMPLES, MESSAGES, MESSAGES_V3 = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:6])
NOBODY = 65534
LIMIT = 120  # seconds: whatever takes longer hangs
LINE_LIMIT = 90  # seconds for one line of a program
MEMORY = 5_000_001  # bytes
TEXT = "between two places"
PORT = 47100 + os.getpid() % 1000


def line_of(program, awaited):
    """The next line of a program's output; a failure if it does not come."""
    def expire(*_):
        raise AssertionError(f"no line within {LINE_LIMIT} s from {program.args}; awaited: {awaited}")
    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(LINE_LIMIT)
    try:
        return program.stdout.readline()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Place:
    """Namespaces, and the folder of the cards in them."""

    def __init__(self, folder, user, network=None):
        self.user, self.programs = user, []
        self.folder = folder
        folder.mkdir(mode=0o700)
        os.chown(folder, user, user)
        words = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "--kill-child", *([] if network else ["--net"])]
        if network:
            words = ["nsenter", f"--net=/proc/{network}/ns/net", *words]
        # A shell is the namespace's init, which collects orphans.
        self.keeper = subprocess.Popen([*words, "sh", "-c", "ip link set lo up; echo $$; while read line; do :; done"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if not line_of(self.keeper, "the namespaces"):
            raise unittest.SkipTest("no namespaces here")
        children = pathlib.Path(f"/proc/{self.keeper.pid}/task/{self.keeper.pid}/children").read_text(encoding="ascii")
        self.init = int(children.split()[0])

    def start(self, *words, **options):
        # As the user: setpriv follows nsenter, since only root can enter.
        command = ["nsenter", f"--target={self.init}", "--pid", "--mount", "--net", "setpriv", f"--reuid={self.user}",
                   f"--regid={self.user}", "--clear-groups", *map(str, words)]
        variables = environment(XDG_RUNTIME_DIR=str(self.folder), DOCA_SOFT="0")
        program = subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, cwd="/", **options)
        self.programs.append(program)
        return program

    def ask(self, card, line):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as control:
            control.settimeout(LIMIT)
            os.seteuid(self.user)  # a card serves its own user only
            try:
                control.connect(str(self.folder / "opendoca-cards" / card / "control"))
            finally:
                os.seteuid(0)
            control.send(line.encode())
            return control.recv(4096).decode()

    def close(self):
        for program in self.programs:
            program.kill()
            program.wait()
            program.stdin.close()
            program.stdout.close()
        self.keeper.stdin.close()
        self.keeper.stdout.close()
        self.keeper.kill()
        self.keeper.wait()


class Sides(unittest.TestCase):
    """A program that keeps the card, and what the tests do with both sides."""

    users = (NOBODY, 0)
    shares_network = False

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root can have other users and namespaces")
        # The name is short: sockets are in it.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="link-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        self.volume = self.folder / "volume"
        self.volume.mkdir(mode=0o777)
        self.volume.chmod(0o777)
        programs = self.folder / "bin"  # what the build tree keeps from others
        programs.mkdir(mode=0o755)
        for program in (pathlib.Path(WITH_CARD), pathlib.Path(WITH_CARD).parent / "libopendoca_card.so",
                        pathlib.Path(LINK_PAIR)):
            shutil.copy(program, programs)
        self.with_card, self.link_pair = programs / "with_card", programs / "link_pair"
        self.places = {}
        for side, user in zip(("host", "dpu"), self.users):
            network = self.places["host"].init if self.places and self.shares_network else None
            self.places[side] = Place(self.folder / side[0], user, network)
            self.addCleanup(self.places[side].close)

    def link(self, side):
        other = self.users[0 if side == "dpu" else 1]
        own = self.users[1 if side == "dpu" else 0]
        return ["--link", f"unix:{self.volume}/link", *(["--link-user", other] if other != own else [])]

    def start(self, side, *command, options=(), **more):
        return self.places[side].start(self.with_card, "--side", side, *self.link(side), *options, *command, **more)

    def pair(self, side):
        # The DPU's mlx5_0 has no GID, which the queue pairs of the program need.
        program = self.start(side, self.link_pair, side, "mlx5_0" if side == "host" else "mlx5_1", MEMORY)
        self.assertEqual(line_of(program, "ready"), "ready\n")
        return program

    def await_line(self, program, text):
        """Returns the first line with the text, and fails at the end of the output."""
        lines = []
        while not lines or text not in lines[-1]:
            lines.append(line_of(program, text))
            self.assertTrue(lines[-1], "".join(lines))
        return lines[-1]

    def tell(self, program, *words):
        """Sends a command and returns the answer."""
        program.stdin.write(" ".join(map(str, words)) + "\n")
        program.stdin.flush()
        return line_of(program, f"the answer to {words}").strip()

    def status(self, side):
        words = self.places[side].ask(f"bluefield-3-{side}", "status").split()
        return dict(zip(words[1::2], words[2::2]))

    def link_state(self, side):
        try:
            return self.status(side)["link-state"]
        except OSError:
            return "not started yet"

    def log(self, side):
        path = self.places[side].folder / f"opendoca-cards/bluefield-3-{side}/log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def becomes(self, side, state):
        """Waits until the link of a side has this state."""
        self.waits(lambda: self.link_state(side) == state, f"{side} does not become {state}")

    def waits(self, condition, message):
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), end, message)
            time.sleep(0.01)  # nothing announces it

    def connected_pair(self):
        """A program on each side; that of the DPU has an alias of the host's key."""
        programs = self.pair("host"), self.pair("dpu")
        self.becomes("dpu", "connected")
        self.assertEqual(self.tell(programs[1], "open", *self.tell(programs[0], "share").split()), "opened")
        return programs

    def card_pid(self, side):
        """The number of a card's process outside of its namespace."""
        inside = self.status(side)["pid"]
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                numbers = re.search(r"^NSpid:\s+(.*)$", status.read_text(encoding="ascii"), re.M)
            except OSError:
                continue
            same_namespace = numbers and numbers[1].split()[-1] == inside and len(numbers[1].split()) > 1
            if same_namespace and os.stat(status.parent / "ns/pid").st_ino == os.stat(
                    f"/proc/{self.places[side].init}/ns/pid").st_ino:
                return int(status.parent.name)
        self.fail(f"the card of {side} does not run")


class Discovery(Sides):
    def representors(self):
        listing = self.start("dpu", "devlink", "port", "show")
        output = listing.communicate(timeout=LIMIT)[0]
        self.assertEqual(listing.returncode, 0, output)
        interfaces = self.start("dpu", "ls", "/sys/class/net").communicate(timeout=LIMIT)[0].split()
        names = set(re.findall(r"netdev (\S+)", output))
        self.assertEqual(names, names.intersection(interfaces), output)
        self.assertNotIn("pf0hpf" if "pf0hpf" not in names else "", interfaces)
        return names

    def test_the_host_appears_and_disappears(self):
        own = {"p0", "en3f0pf0sf4"}
        keeper = self.start("dpu", "cat")
        self.assertEqual(self.representors(), own)
        host = self.start("host", "cat")
        self.becomes("dpu", "connected")
        self.assertEqual(self.representors(), own | {"pf0hpf", "pf0vf0"})
        # The host's card ends with its last program.
        host.communicate(timeout=LIMIT)
        self.becomes("dpu", "waiting")
        self.assertEqual(self.representors(), own)
        # It may come again.
        again = self.start("host", "cat")
        self.becomes("dpu", "connected")
        self.assertEqual(self.representors(), own | {"pf0hpf", "pf0vf0"})
        os.kill(self.card_pid("host"), signal.SIGKILL)
        self.becomes("dpu", "waiting")
        self.assertEqual(self.representors(), own)
        self.assertIsNone(again.poll(), "a program outlives its card")
        self.assertIsNone(keeper.poll())

    def test_each_side_has_its_own_functions_only(self):
        self.start("host", "cat")
        self.start("dpu", "cat")
        for side, others in (("host", "dpu"), ("dpu", "host")):
            self.becomes(side, "connected")
            result = self.places[side].start(self.with_card, "--side", others, "--card", f"bluefield-3-{side}", "true")
            output = result.communicate(timeout=LIMIT)[0]
            self.assertEqual(result.returncode, 125, output)
            self.assertIn(f"has the side '{side}' only", output)
            self.assertTrue(self.places[side].ask(f"bluefield-3-{side}", f"port-down {others} 0").startswith("error"))

    def test_a_third_card_is_refused(self):
        self.start("host", "cat")
        self.start("dpu", "cat")
        self.becomes("dpu", "connected")
        self.start("host", "cat", options=["--card", "third"])
        self.waits(lambda: "refuses another card" in self.log("dpu"), "the third card is not refused")
        self.assertEqual(self.status("dpu")["link-sessions"], "1")

    def test_another_profile_is_refused(self):
        self.start("dpu", "cat")
        self.start("host", "cat", options=["--profile", "bluefield-2"])
        self.waits(lambda: "it is a bluefield-2, and this side a bluefield-3" in self.log("dpu"), "it is not refused")
        self.assertEqual(self.status("dpu")["link-state"], "waiting")

    def test_another_user_is_refused(self):
        self.places["dpu"].start(self.with_card, "--side", "dpu", "--link", f"unix:{self.volume}/link", "cat")
        self.becomes("dpu", "waiting")  # the socket has its mode then
        (self.volume / "link").chmod(0o777)
        self.start("host", "cat")
        self.waits(lambda: f"is of user {NOBODY}, not of user 0" in self.log("dpu"), "it is not refused")
        self.assertEqual(self.status("dpu")["link-state"], "waiting")

    def test_a_card_of_its_own_inside_of_a_linked_one_has_no_variables_of_the_link(self):
        for options, address in (([], "127."), (["--profile", "connectx-7"], None)):
            with self.subTest(options):
                inner = self.start("host", self.with_card, "--card", f"inner-{len(options)}", *options, "env")
                output = inner.communicate(timeout=LIMIT)[0]
                self.assertEqual(inner.returncode, 0, output)
                variables = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
                self.assertNotIn("DOCA_COMM_CHANNEL_DATA", variables)
                value = variables.get("DOCA_COMM_CHANNEL_ADDRESS")
                self.assertEqual(value and value[:4], address, output)

    def test_without_packets_data_go_by_the_link(self):
        for value in ("tcp", "", "stream"):
            with self.subTest(value):
                program = self.places["host"].start("env", f"DOCA_COMM_CHANNEL_DATA={value}", self.with_card, "--side",
                                                    "host", *self.link("host"), "env")
                output = program.communicate(timeout=LIMIT)[0]
                self.assertIn("\nDOCA_COMM_CHANNEL_DATA=stream\n", output)
                self.assertIn("\nDOCA_COMM_CHANNEL_ADDRESS=unix:", output)

    def test_a_running_card_with_another_peer_is_not_joined(self):
        self.start("host", "cat")
        self.waits(lambda: self.link_state("host") == "waiting", "the card does not start")
        other = self.places["host"].start(self.with_card, "--link", f"unix:{self.volume}/link", "--link-user", 5, "true")
        output = other.communicate(timeout=LIMIT)[0]
        self.assertEqual(other.returncode, 125)
        self.assertIn(f"with the peer user:{self.users[1]} of its link, not with user:5", output)

    def test_a_long_status_is_read_as_a_whole(self):
        place = self.places["dpu"]  # this program has its user
        folder = place.folder / "opendoca-cards" / "long"
        folder.parent.mkdir(mode=0o700)
        folder.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.settimeout(LIMIT)
            listener.bind(str(folder / "control"))
            listener.listen()
            program = place.start(self.with_card, "--card", "long", "--side", "host", "true")
            connection = listener.accept()[0]
            with connection:
                self.assertEqual(connection.recv(100), b"status")
                connection.send(b"ok profile bluefield-3 addresses -" + b" count 1" * 1000 + b" side dpu link unix:/x")
                output = program.communicate(timeout=LIMIT)[0]
        self.assertEqual(program.returncode, 125, output)
        self.assertIn("has the side 'dpu' only", output)

    def test_wrong_options_are_refused(self):
        for options, message in ((["--link", "unix:relative"], "must be absolute"),
                                 (["--link", "tcp:192.0.2.1:4000"], "no loopback address"),
                                 (["--link", "tcp:localhost:4000"], "no numeric address"),
                                 (["--link", "udp:127.0.0.1:4000"], "not of the form"),
                                 (["--link", "tls:127.0.0.1:4000"], "--key FILE belongs to"),
                                 (["--link", "unix:/x/link", "--key", "/x/key"], "--key FILE belongs to"),
                                 (["--key", "/x/key"], "--key is for"),
                                 (["--link", "tls:127.0.0.1:4000", "--key", "/x/key"], "cannot read the key file"),
                                 (["--link-user", "5"], "--link-user is for"),
                                 (["--link", "unix:/x/link", "--link-user", "me"], "number of a user"),
                                 (["--link", "unix:/x/link", "--address", "dpu/127.0.0.20"], "are not here"),
                                 (["--link", "unix:/x/link", "--profile", "connectx-7"], "has no DPU")):
            with self.subTest(options):
                program = self.places["host"].start(self.with_card, *options, "true")
                output = program.communicate(timeout=LIMIT)[0]
                self.assertEqual(program.returncode, 125, output)
                self.assertIn(message, output)


class Transfers(Sides):
    def test_copies_in_both_directions(self):
        host, dpu = self.connected_pair()
        self.assertEqual(self.tell(host, "fill", 7), "filled")
        self.assertEqual(self.tell(dpu, "read", 7), "equal")
        self.assertEqual(self.tell(dpu, "write", 8), "equal")
        self.assertEqual(self.tell(host, "check", 8), "equal")
        self.assertGreater(int(self.status("dpu")["link-requests"]), MEMORY >> 16)
        self.assertGreater(int(self.status("host")["link-served"]), MEMORY >> 16)
        self.assertRegex(self.tell(dpu, "beyond"), "status 4")  # IBV_WC_LOC_PROT_ERR

    def test_requests_of_connections(self):
        host, dpu = self.connected_pair()
        self.tell(host, "fill", 7)
        self.assertEqual(self.tell(dpu, "rdma-read", 7), "equal")
        self.assertEqual(self.tell(dpu, "rdma-write-from", 7), "equal")
        self.assertEqual(self.tell(dpu, "rdma-write", 8), "equal")
        self.assertEqual(self.tell(host, "check", 8), "equal")
        self.assertEqual(self.tell(dpu, "rdma-read-to", 9), "equal")
        self.assertEqual(self.tell(host, "check", 9), "equal")
        before = int(self.tell(host, "word"))
        self.assertEqual(self.tell(dpu, "add"), f"sum {999 * 1000 // 2}")
        self.assertEqual(int(self.tell(host, "word")), (before + 1000) % 2**64)
        self.assertEqual(self.tell(host, "check-rest", 9), "equal")

    def test_a_key_is_opened_with_its_secret_only(self):
        host, dpu = self.pair("host"), self.pair("dpu")
        self.becomes("dpu", "connected")
        vhca_id, index, address = self.tell(host, "share").split()
        self.assertEqual(self.tell(dpu, "open", vhca_id, index, address, 1), "refused with status 3")
        self.assertEqual(self.tell(dpu, "open", 2, index, address), "refused with status 3")
        self.assertEqual(self.tell(dpu, "open", vhca_id, int(index) + 1, address), "refused with status 3")
        self.assertEqual(self.tell(dpu, "open", vhca_id, index, address), "opened")

    def test_a_revoked_key_is_worth_nothing(self):
        host, dpu = self.connected_pair()
        self.tell(host, "fill", 7)
        self.assertEqual(self.tell(dpu, "rdma-read", 7), "equal")
        self.assertEqual(self.tell(host, "revoke"), "revoked")
        self.assertEqual(self.tell(dpu, "rdma-write", 8), "status 10")  # IBV_WC_REM_ACCESS_ERR
        self.assertEqual(self.tell(dpu, "write", 8), "status 4 at 0")
        self.assertEqual(self.tell(host, "check", 7), "equal")

    def test_datagrams_with_memory_of_the_other_side_fail(self):
        _, dpu = self.connected_pair()
        # Of the sender: IBV_WC_LOC_PROT_ERR. Of a receiver: the same, and its sender does not learn of it.
        self.assertEqual(self.tell(dpu, "datagrams"), "4 0 4")

    def flood(self):
        host, dpu = self.connected_pair()
        dpu.stdin.write("flood\n")
        dpu.stdin.flush()
        self.assertEqual(line_of(dpu, "flooding"), "flooding\n")
        return host, dpu

    def test_revocation_in_the_middle_of_copies(self):
        host, dpu = self.flood()
        self.tell(host, "revoke")
        self.assertEqual(line_of(dpu, "the end of the flood"), "ended with status 4\n")

    def test_death_of_the_program_in_the_middle_of_copies(self):
        host, dpu = self.flood()
        # nsenter waits for the program, which is its child.
        children = pathlib.Path(f"/proc/{host.pid}/task/{host.pid}/children").read_text(encoding="ascii")
        os.kill(int(children), signal.SIGKILL)
        self.assertEqual(line_of(dpu, "the end of the flood"), "ended with status 4\n")
        self.assertEqual(self.status("dpu")["link-state"], "connected")

    def test_death_of_the_other_card_in_the_middle_of_copies(self):
        _, dpu = self.flood()
        os.kill(self.card_pid("host"), signal.SIGKILL)
        self.assertEqual(line_of(dpu, "the end of the flood"), "ended with status 4\n")
        self.assertEqual(self.tell(dpu, "open", 1, 2, 4096), "refused with status 3")
        # A new card of the host is another peer.
        self.becomes("dpu", "waiting")
        program = self.pair("host")
        self.becomes("dpu", "connected")
        self.tell(program, "fill", 3)
        vhca_id, index, address = self.tell(program, "share").split()
        again = self.pair("dpu")
        self.assertEqual(self.tell(again, "open", vhca_id, index, address), "opened")
        self.assertEqual(self.tell(again, "read", 3), "equal")

    def test_a_card_that_stands_still_is_given_up(self):
        _, dpu = self.flood()
        card = self.card_pid("host")
        os.kill(card, signal.SIGSTOP)
        try:
            self.assertEqual(line_of(dpu, "the end of the flood"), "ended with status 4\n")
            self.becomes("dpu", "waiting")
        finally:
            os.kill(card, signal.SIGCONT)
        self.assertIn("it has sent nothing for", self.log("dpu"))
        self.becomes("dpu", "connected")

    def test_death_of_the_dpus_card_in_the_middle_of_copies(self):
        host, _ = self.flood()
        os.kill(self.card_pid("dpu"), signal.SIGKILL)
        self.becomes("host", "waiting")
        self.assertEqual(self.tell(host, "fill", 1), "filled")


class Loopback(Sides):
    """By TCP, in one network namespace."""

    users = (0, 0)
    shares_network = True

    def link(self, side):
        return ["--link", f"tcp:127.0.0.1:{PORT}"]

    def test_copies(self):
        host, dpu = self.connected_pair()
        self.tell(host, "fill", 7)
        self.assertEqual(self.tell(dpu, "read", 7), "equal")
        self.assertEqual(self.tell(dpu, "write", 8), "equal")
        self.assertEqual(self.tell(host, "check", 8), "equal")


class Tls(Loopback):
    """By TLS."""

    def setUp(self):
        super().setUp()
        self.keys = {}
        for side, content in (("host", "a key of both sides"), ("dpu", "a key of both sides")):
            self.write_key(side, content)

    def write_key(self, side, content):
        self.keys[side] = self.folder / f"{side}.key"
        self.keys[side].write_text(content, encoding="ascii")
        self.keys[side].chmod(0o600)

    def link(self, side):
        return ["--link", f"tls:127.0.0.1:{PORT + 1}", "--key", self.keys[side]]

    def test_another_key_is_refused(self):
        self.write_key("host", "another key of the host")
        self.start("host", "cat")
        self.start("dpu", "cat")
        for side in ("host", "dpu"):
            self.waits(lambda s=side: "do both sides have the same key?" in self.log(s), f"{side} does not refuse")
            self.assertEqual(self.link_state(side), "waiting")

    def test_a_running_card_with_another_key_is_not_joined(self):
        self.start("host", "cat")
        self.waits(lambda: self.link_state("host") == "waiting", "the card does not start")
        same = self.start("host", "true")
        self.assertEqual((same.communicate(timeout=LIMIT)[0], same.returncode), ("", 0))
        self.write_key("host", "another key of the host")
        other = self.start("host", "true")
        output = other.communicate(timeout=LIMIT)[0]
        self.assertEqual(other.returncode, 125)
        self.assertRegex(output, "with the peer key:[0-9a-f]{16} of its link, not with key:[0-9a-f]{16}\n")

    def test_a_key_that_others_can_read_is_refused(self):
        self.keys["host"].chmod(0o644)
        program = self.start("host", "true")
        output = program.communicate(timeout=LIMIT)[0]
        self.assertEqual(program.returncode, 125)
        self.assertIn("no other user can access", output)


class Samples(Sides):
    """The samples of both generations, as they are."""

    users = (0, 0)

    def sample(self, side, name, *arguments):
        return self.start(side, f"{SAMPLES}/{name}", *arguments)

    def copy(self, prefix, announcement, result):
        # A card ends with its last program.
        keeper = self.start("dpu", "cat")
        files = ("-d", self.volume / "export", "-b", self.volume / "buffer")
        host = self.sample("host", f"{prefix}dma_copy_host", "-p", "3b:00.0", "-t", TEXT, *files)
        said = ""
        while announcement not in said:
            line = line_of(host, announcement)
            self.assertTrue(line, said)
            said += line
        self.becomes("dpu", "connected")
        dpu = self.sample("dpu", f"{prefix}dma_copy_dpu", "-p", "03:00.0", *files)
        output = dpu.communicate(timeout=LIMIT)[0]
        self.assertEqual(dpu.returncode, 0, output)
        self.assertIn(result, output)
        host.communicate("\n", LIMIT)
        self.assertEqual(host.returncode, 0)
        # The host has gone, and its memory with it.
        late = self.sample("dpu", f"{prefix}dma_copy_dpu", "-p", "03:00.0", *files)
        self.assertNotEqual(late.wait(LIMIT), 0)
        self.assertIsNone(keeper.poll())

    def test_copy_of_2_2(self):
        self.copy("doca_", "Press Enter", f"the text is: {TEXT}")

    def test_copy_of_3_0(self):
        self.copy("3.0/doca_v3_", "press Enter", f"Copied {len(TEXT) + 1} bytes of the host: {TEXT}")

    def start_cards(self, **options):
        for side in ("host", "dpu"):
            self.start(side, "cat", **{key: values[side] for key, values in options.items()})
        self.becomes("dpu", "connected")

    def messages(self, server, client, listens, result):
        self.start_cards()
        service = self.sample("dpu", server, "-p", "03:00.0", "-r", "3b:00.0")
        self.await_line(service, listens)
        output = self.sample("host", client, "-p", "3b:00.0", "-t", TEXT).communicate(timeout=LIMIT)[0]
        self.assertIn("Sample finished successfully", output)
        self.await_line(service, result)
        self.await_line(service, "Sample finished successfully")

    def test_messages_of_2_2(self):
        self.messages("doca_cc_server", "doca_cc_client", "listens for the host's function", f"The client says: {TEXT}")

    def test_messages_of_3_0(self):
        self.messages("3.0/doca_v3_comch_ctrl_path_server", "3.0/doca_v3_comch_ctrl_path_client",
                      "The server was idle and is running", f"Message received: {TEXT}")

    def test_wrong_folders_of_relays_are_refused(self):
        self.start_cards()
        for address, message in (("unix:relative", "must be absolute"), ("unix:", "must be absolute"),
                                 (f"unix:{self.volume}", "is not a directory that user 0 alone can enter"),
                                 (f"unix:{self.volume}/none", "does it listen on the DPU?")):
            for side, program, options in (("dpu", "doca_cc_server", ("-p", "03:00.0", "-r", "3b:00.0")),
                                           ("host", "doca_cc_client", ("-p", "3b:00.0"))):
                with self.subTest(address=address, program=program):
                    sample = self.start(side, "env", f"DOCA_COMM_CHANNEL_ADDRESS={address}", f"{SAMPLES}/{program}",
                                        *options)
                    output = sample.communicate(timeout=LIMIT)[0]
                    self.assertNotEqual(sample.returncode, 0, output)
                    self.assertIn(message if side == "host" or "none" not in address else "cannot use the relay's",
                                  output)

    def sync_event(self, names, listens, results, options):
        self.start_cards()
        dpu = self.sample("dpu", names[1], "-d", "03:00.0", "-r", "3b:00.0", *options)
        self.await_line(dpu, listens)
        host = self.sample("host", names[0], "-d", "3b:00.0", *options)
        for program, result in zip((host, dpu), results):
            self.await_line(program, result)
            self.await_line(program, "Sample finished successfully")

    def test_sync_event_of_2_2(self):
        for options in (), ("--async",), ("--atomic",):
            with self.subTest(options):
                self.sync_event(("doca_sync_event_host", "doca_sync_event_dpu"), "The service 'sync_event_cc' listens",
                                ("The other side has signalled",) * 2, options)

    def test_sync_event_of_3_0(self):
        for options in (), ("--async",):
            with self.subTest(options):
                self.sync_event(("3.0/doca_v3_sync_event_local_pci", "3.0/doca_v3_sync_event_remote_pci"),
                                "The server was idle and is running",
                                ("The DPU has signalled", "The host has signalled, and was answered"), options)


class MessagePrograms(Sides):
    """Services of the DPU's side, with clients on the host's."""

    addresses = {}

    def setUp(self):
        super().setUp()
        self.messages = {}
        for generation, program in (("2.2", MESSAGES), ("3.0", MESSAGES_V3)):
            libraries = self.folder / generation  # what the build tree keeps from others
            libraries.mkdir(mode=0o755)
            self.messages[generation] = shutil.copy(program, libraries)
            # Not by the path that meson sets, which has the libraries of both generations in any order.
            listing = subprocess.run(["ldd", program], check=True, capture_output=True, text=True,
                                     env=environment()).stdout
            for library in re.findall(r"=> (\S*/lib(?:doca|opendoca)\S*)", listing):
                shutil.copy(library, libraries)
        self.keepers = {side: self.start(side, "cat") for side in ("dpu", "host")}  # a card ends with its last program
        self.becomes("dpu", "connected")
        self.becomes("host", "connected")

    def start(self, side, *command, options=(), **more):
        address = ["--address", self.addresses[side]] if side in self.addresses else []
        is_copy = command[0] in self.messages.values()
        variables = ["env", f"LD_LIBRARY_PATH={pathlib.Path(command[0]).parent}"] if is_copy else []
        return super().start(side, *variables, *command, options=[*address, *options], **more)

    def output_with_address(self, side, generation, address, *arguments):
        program = self.messages[generation]
        started = self.start(side, "env", f"LD_LIBRARY_PATH={pathlib.Path(program).parent}",
                             f"DOCA_COMM_CHANNEL_ADDRESS={address}", program, *arguments)
        return started.communicate(timeout=LIMIT)[0]

    def service(self, generation, name="echo"):
        program = self.start("dpu", self.messages[generation], "service", name)
        self.await_line(program, "serves")
        return program

    def client(self, generation, count, name="echo"):
        return self.start("host", self.messages[generation], "client", name, count)


class Services(MessagePrograms):
    """Comm Channel and Comch, with another user on each side."""

    def test_round_trips_of_both_generations(self):
        for of_service, of_client in (("2.2", "2.2"), ("3.0", "3.0"), ("2.2", "3.0"), ("3.0", "2.2")):
            with self.subTest(service=of_service, client=of_client):
                service = self.service(of_service)
                client = self.client(of_client, 10_000 if of_service == of_client else 100)
                self.await_line(client, "done")
                self.await_line(service, "ended")
                self.assertEqual(client.wait(LIMIT), 0)
                service.wait(LIMIT)
        for side in ("host", "dpu"):
            self.waits(lambda side=side: self.status(side)["link-connections"] == "0", "a connection is left")

    def test_two_services_and_a_name_that_none_has(self):
        first, second = self.service("2.2", "first"), self.service("3.0", "second")
        to_second, to_first = self.client("3.0", 1000, "second"), self.client("2.2", 1000, "first")
        for program in (to_first, to_second):
            self.await_line(program, "done 1000")
        for program in (first, second):
            self.await_line(program, "ended")
        self.await_line(self.client("2.2", 1, "third"), "ended: DOCA_ERROR_CONNECTION_ABORTED")
        # The name of a service that has ended is free again.
        again = self.service("2.2", "second")
        self.await_line(self.client("3.0", 10, "second"), "done 10")
        self.await_line(again, "ended")

    def test_a_client_of_comch_waits_for_its_service(self):
        client = self.client("3.0", 10)
        service = self.service("3.0")
        self.await_line(client, "done 10")
        self.await_line(service, "ended")

    def test_the_path_of_a_relay_must_be_absolute(self):
        for generation in self.messages:
            for address in ("unix:", "unix:services"):
                for side, *arguments in (("dpu", "service", "echo"), ("host", "client", "echo", 1)):
                    with self.subTest(generation=generation, address=address, side=side):
                        output = self.output_with_address(side, generation, address, *arguments)
                        self.assertIn("the path of a relay's directory must be absolute", output)
                        self.assertIn("ended: DOCA_ERROR_INVALID_VALUE", output)

    def test_a_relay_that_is_not_there_has_no_services(self):
        output = self.output_with_address("host", "2.2", "unix:/nowhere", "client", "echo", 1)
        self.assertIn("ended: DOCA_ERROR_CONNECTION_ABORTED", output)
        self.assertNotIn("/nowhere", output)
        self.assertNotIn("cannot be looked for", output)

    def test_last_bytes_arrive_although_the_card_has_no_program_any_more(self):
        folders = {side: self.places[side].folder / f"opendoca-cards/bluefield-3-{side}/services" for side in self.places}
        name = 0x0123456789abcdef, 0xfedcba9876543210
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
            for one in (listener, client):
                one.settimeout(LIMIT)
            listener.bind(str(folders["dpu"] / f"cc-{name[0]:016x}{name[1]:016x}"))
            listener.listen()
            os.seteuid(self.users[0])
            try:
                client.connect(str(folders["host"] / "relay"))
            finally:
                os.seteuid(0)
            client.send(struct.pack("=QQ", *name))
            self.assertEqual(struct.unpack("=I", client.recv(4)), (0,))
            sent = 0
            with listener.accept()[0] as service:
                service.settimeout(1)
                with self.assertRaises(TimeoutError):  # all on the way is full
                    while True:
                        sent += service.send(bytes(4096))
            self.keepers["dpu"].communicate(timeout=LIMIT)
            got = 0
            while part := client.recv(4096):
                got += len(part)
                time.sleep(0.06)  # a slow program, which takes longer than a card without programs stays
        self.assertGreater(sent, 200_000)
        self.assertEqual(got, sent)
        self.becomes("host", "waiting")

    def test_a_second_service_of_the_same_name_is_refused(self):
        self.service("2.2")
        self.await_line(self.start("dpu", self.messages["2.2"], "service", "echo"), "DOCA_ERROR_CONNECTION_ABORTED")

    @staticmethod
    def send_signal(program, number):
        # nsenter waits for the program, which is its child.
        children = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text(encoding="ascii")
        os.kill(int(children), number)

    def test_death_of_a_program(self):
        for generation in ("2.2", "3.0"):
            for victim in ("host", "dpu"):
                with self.subTest(generation=generation, victim=victim):
                    service = self.service(generation)
                    client = self.client(generation, 10**9)
                    self.await_line(client, "talks")
                    self.send_signal(client if victim == "host" else service, signal.SIGKILL)
                    self.await_line(service if victim == "host" else client, "ended")
                    # A killed service does not keep its name.
                    again = self.service(generation)
                    self.await_line(self.client(generation, 10), "done 10")
                    self.await_line(again, "ended")
        self.assertEqual(self.status("dpu")["link-sessions"], "1")

    def test_death_of_a_card(self):
        for victim in ("host", "dpu"):
            with self.subTest(victim=victim):
                service, client = self.service("3.0"), self.client("3.0", 10**9)
                self.await_line(client, "talks")
                os.kill(self.card_pid(victim), signal.SIGKILL)
                self.await_line(client, "ended")
                self.await_line(service, "ended")
                other = "dpu" if victim == "host" else "host"
                self.becomes(other, "waiting")
                self.start(victim, "cat")
                self.becomes(other, "connected")

    def test_a_slow_program_holds_up_itself_only(self):
        service, client = self.service("2.2", "slow"), self.client("2.2", 10**9, "slow")
        self.await_line(client, "talks")
        self.send_signal(service, signal.SIGSTOP)
        other = self.service("3.0")
        self.await_line(self.client("3.0", 1000), "done 1000")
        self.await_line(other, "ended")
        self.send_signal(service, signal.SIGCONT)
        self.send_signal(client, signal.SIGKILL)
        self.await_line(service, "ended")

    def test_consumers_are_refused_without_addresses(self):
        self.service("3.0")
        client = self.client("3.0", 10)
        self.assertIn("give both sides an --address", self.await_line(client, "consumers and producers need"))
        self.assertEqual(self.await_line(client, "consumer:"),
                         "consumer: DOCA_ERROR_NOT_SUPPORTED, capability: DOCA_ERROR_NOT_SUPPORTED\n")
        self.await_line(client, "done 10")


class ServicesWithAddresses(MessagePrograms):
    """The same with packets between the sides, by which messages go then."""

    users = (0, 0)
    shares_network = True
    addresses = {"host": "127.0.0.101", "dpu": "127.0.0.102"}

    def test_messages(self):
        self.service("2.2")
        self.await_line(self.client("2.2", 1000), "done 1000")
        self.service("3.0", "newer")
        client = self.client("3.0", 1000, "newer")
        self.assertEqual(self.await_line(client, "consumer:"), "consumer: DOCA_SUCCESS, capability: DOCA_SUCCESS\n")
        self.await_line(client, "done 1000")

    def test_death_of_the_other_card(self):
        for victim, generation in (("host", "2.2"), ("dpu", "3.0")):
            with self.subTest(victim=victim):
                service, client = self.service(generation), self.client(generation, 10**9)
                self.await_line(client, "talks")
                os.kill(self.card_pid(victim), signal.SIGKILL)
                self.await_line(service if victim == "host" else client, "ended")
                other = "dpu" if victim == "host" else "host"
                self.becomes(other, "waiting")
                self.start(victim, "cat")
                self.becomes(other, "connected")

    def test_data_of_consumers_and_producers(self):
        server = self.start("dpu", f"{SAMPLES}/3.0/doca_v3_comch_data_path_high_speed_server", "-p", "03:00.0", "-r",
                            "3b:00.0")
        self.await_line(server, "The server was idle and is running")
        client = self.start("host", f"{SAMPLES}/3.0/doca_v3_comch_data_path_high_speed_client", "-p", "3b:00.0", "-n",
                            "1000", "-t", "x" * 4000)
        self.await_line(client, "Sent 1000 messages")
        self.await_line(client, "Sample finished successfully")
        self.await_line(server, "Received 1000 messages")
        self.await_line(server, "Sample finished successfully")

    @staticmethod
    def enter(program, times=1):
        program.stdin.write("\n" * times)
        program.stdin.flush()

    def rdma(self, prefix, first, second, options, results):
        """Two samples of RDMA; the first one is the host's. Both are ready to connect when their files are there."""
        files = [self.volume / name for name in ("a", "b", "memory")]
        programs = []
        for side, name, paths, more in (("host", first, files[:2], options), ("dpu", second, files[1::-1], ())):
            shared = ["-m", files[2]] if name.endswith(("requester", "responder")) else []
            device = "mlx5_0" if side == "host" else "mlx5_1"
            programs.append(self.start(side, f"{SAMPLES}/{prefix}{name}", "-d", device, "-ld", paths[0], "-re", paths[1],
                                       *shared, *more))
        for program in programs:
            self.await_line(program, "Copy the files from the remote side to here, and press Enter")
        self.enter(programs[1])
        self.enter(programs[0], 2)  # those that send ask once more
        self.await_line(programs[0], results[0])
        self.await_line(programs[0], "Sample finished successfully")
        if second.endswith("responder"):
            self.enter(programs[1])
        self.await_line(programs[1], results[1])
        self.await_line(programs[1], "Sample finished successfully")

    def test_rdma_of_2_2(self):
        for first, second, options, results in (
                ("rdma_write_requester", "rdma_write_responder", ("-w", TEXT), ("Wrote to", f"has written: {TEXT}")),
                ("rdma_read_requester", "rdma_read_responder", (), ("Read 4096 bytes", "Wait until the requester")),
                ("rdma_send", "rdma_receive", ("-s", TEXT), (f"Sent: {TEXT}", f"The text in them is: {TEXT}"))):
            with self.subTest(first):
                self.rdma("doca_", first, second, options, results)

    def test_rdma_of_3_0(self):
        for first, second, options, results in (
                ("rdma_write_requester", "rdma_write_responder", ("-s", TEXT), (f"Wrote: {TEXT}", f"has written: {TEXT}")),
                ("rdma_read_requester", "rdma_read_responder", (), ("Read 4096 bytes", "Wait until the requester")),
                ("rdma_send", "rdma_receive", ("-s", TEXT), (f"Sent: {TEXT}", f"Received {len(TEXT)} bytes: {TEXT}"))):
            with self.subTest(first):
                self.rdma("3.0/doca_v3_", first, second, options, results)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
