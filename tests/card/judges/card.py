# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Programs on a card made of software, and how a judge tells what became of them."""

import itertools
import os
import pathlib
import pty
import socket
import subprocess
import sys
import tempfile
import time
import traceback

import devinfo


class Failed(Exception):
    """A judge has found something wrong. The message says what, with the values."""


class Judge:
    """Runs the tests of one judge, and reports each in the lines that report.py reads."""

    def __init__(self, name):
        self.name = name
        self.status = 0

    def __enter__(self):
        print(f"@@ begin {self.name}", flush=True)
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            print(f"@@ end {self.status}", flush=True)

    def test(self, name, function, *arguments):
        """Returns what the function returns, or None where it has failed."""
        print(f"[ RUN      ] {name}", flush=True)
        begin = time.monotonic()
        result, value = "      OK", None
        try:
            value = function(*arguments)
        except Failed as reason:
            print(reason)
            result, self.status = " FAILED ", 1
        except Exception:  # pylint: disable=broad-except # a fault of the judge is a failure of its test
            traceback.print_exc(file=sys.stdout)
            result, self.status = " FAILED ", 1
        print(f"[ {result} ] {name} ({round((time.monotonic() - begin) * 1000)} ms)", flush=True)
        return value


class Program:
    """A program that runs on the card."""

    def __init__(self, command, environment=None, errors="kept", has_terminal=False):
        self.command = command
        self._terminal = list(pty.openpty()) if has_terminal else []
        self._output = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(command, stdin=self._terminal[1] if has_terminal else subprocess.DEVNULL,
                                         stdout=self._output,
                                         stderr=subprocess.STDOUT if errors == "kept" else subprocess.DEVNULL,
                                         env={**os.environ, **(environment or {})})

    def has_ended(self):
        """Whether it has ended well. To have ended otherwise is a failure."""
        status = self._process.poll()
        if status:
            raise Failed(f"{self} ended with status {status}")
        return status == 0

    def end(self):
        """Ends it, if that is still to be done."""
        self._process.kill()
        self._process.wait()
        while self._terminal:
            os.close(self._terminal.pop())

    def output(self):
        self._output.seek(0)
        return self._output.read()

    def __str__(self):
        return " ".join(self.command)


def wait_for_all(programs, seconds):
    """Waits until all have ended. The first that fails is the end of the others."""
    end = time.monotonic() + seconds
    try:
        while not all([program.has_ended() for program in programs]):
            if time.monotonic() > end:
                raise Failed(f"{' and '.join(map(str, programs))} did not end within {seconds} s")
            time.sleep(0.01)
    except Failed as failure:
        raise Failed("\n".join([str(failure), *(program.output() for program in programs)])) from None
    finally:
        for program in programs:
            program.end()


class Card:
    """A card of a profile. Each use of it is of a new one."""

    _numbers = itertools.count()

    def __init__(self, with_card, profile):
        self.with_card, self.profile = with_card, profile
        self.has_dpu = profile.startswith("bluefield")
        self._ports = {}

    def _commands(self, *sides):
        """What puts a program on these sides of a card that nobody else uses."""
        name = f"judges-{os.getpid()}-{next(self._numbers)}"
        return [[self.with_card, "--profile", self.profile, "--card", name, "--side", side] for side in sides]

    def relay(self, *command, folder=None):
        """Runs one program, which prints to where we do. Returns its exit status."""
        with_card, = self._commands("host")
        return subprocess.run([*with_card, *command], stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, cwd=folder,
                              check=False).returncode

    def run(self, *command, side="host", seconds=300, errors="kept"):
        """Runs one program, and returns what it has printed; ERRORS "discarded" leaves out what went to stderr."""
        with_card, = self._commands(side)
        program = Program([*with_card, *command], errors=errors)
        wait_for_all([program], seconds)
        return program.output()

    def run_pair(self, program, arguments, sides=("host", "host"), seconds=300, environment=lambda port: None,
                 meet=("-p", "-p"), has_terminal=False):
        """Runs a program as server and as client on these sides of a card. Returns what both have printed.

        ARGUMENTS and ENVIRONMENT are functions of the port that the program is to use. Both programs get the TCP port
        to meet at, by the options MEET of server and client; the client gets the address as well. HAS_TERMINAL gives
        them a terminal as their input.
        """
        tcp_port = free_tcp_port()
        ports = [self.port(side) for side in sides]
        commands = [[*with_card, program, option, str(tcp_port), *arguments(port)]
                    for with_card, port, option in zip(self._commands(*sides), ports, meet)]
        programs = [Program(commands[0], environment(ports[0]), has_terminal=has_terminal)]
        try:
            wait_for_listener(tcp_port, programs[0], seconds)
            programs.append(Program([*commands[1], "127.0.0.1"], environment(ports[1]), has_terminal=has_terminal))
        finally:
            if len(programs) == 1:
                programs[0].end()
        wait_for_all(programs, seconds)
        return [program.output() for program in programs]

    def run_cm_pair(self, server, client, sides=("host", "host"), seconds=60):
        """Runs two programs that connect by the connection manager. Returns what both have printed."""
        on_server, on_client = self._commands(*sides)
        programs = [Program([*on_server, *server])]
        try:
            end = time.monotonic() + seconds
            while not self._listens_by_cm(on_server):
                if programs[0].has_ended() or time.monotonic() > end:
                    raise Failed(f"{programs[0]} does not listen:\n{programs[0].output()}")
            programs.append(Program([*on_client, *client]))
        finally:
            if len(programs) == 1:
                programs[0].end()
        wait_for_all(programs, seconds)
        return [program.output() for program in programs]

    @staticmethod
    def _listens_by_cm(command):
        state = subprocess.run([*command, "--fault", "status"], capture_output=True, text=True, check=False).stdout
        words = state.split()
        return "cm-listeners" in words and words[words.index("cm-listeners") + 1] != "0"

    def devices(self, side="host"):
        """What ibv_devinfo -v tells of each device of a side."""
        return devinfo.parse(self.run("ibv_devinfo", "-v", side=side))

    def port(self, side="host"):
        """The first port of a side that programs can use."""
        if side not in self._ports:
            for device in self.devices(side):
                for port in device.ports:
                    if port.is_active and (not port.is_ethernet or port.roce_v2_gid is not None):
                        self._ports[side] = port
                        return port
            raise Failed(f"no device of side {side} has an active port with a LID or a GID of RoCE v2")
        return self._ports[side]


def free_tcp_port():
    with socket.create_server(("", 0), family=socket.AF_INET) as server:
        return server.getsockname()[1]


def is_listened_at(tcp_port):
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(path).read_text(encoding="ascii").splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A" and int(local.rpartition(":")[2], 16) == tcp_port:
                return True
    return False


def wait_for_listener(tcp_port, server, seconds):
    """Waits for a server to listen. To connect would be the simple way, but these servers take one connection only."""
    end = time.monotonic() + seconds
    try:
        while not is_listened_at(tcp_port):
            if server.has_ended():
                raise Failed(f"{server} ended before it listened")
            if time.monotonic() > end:
                raise Failed(f"{server} did not listen within {seconds} s")
            time.sleep(0.01)
    except Failed as failure:
        raise Failed(f"{failure}\n{server.output()}") from None
