# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Programs that run beside each other, as their users start them: with nothing set in the environment."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

MINUTE = 60
SKIPPED = 77


def has_rdma_devices():
    """Beside which software devices are not listed by themselves."""
    devices = pathlib.Path("/sys/class/infiniband")
    return devices.is_dir() and any(devices.iterdir())


class Program:
    """One that runs, with these variables in its environment. What it says is kept."""

    def __init__(self, path, *arguments, **variables):
        self.said = ""
        self.process = subprocess.Popen([path, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env=environment(**variables))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None or not self.process.stdout.closed:
            self.process.kill()
            self.process.communicate()

    def says(self, text):
        """Waits until it has said so."""
        while text not in self.said:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"{text!r} was not said, but:\n{self.said}")
            self.said += line
        return self

    def presses_enter(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def ends(self, code, *texts):
        rest, _ = self.process.communicate(timeout=MINUTE)
        self.said += rest
        if self.process.returncode != code:
            raise AssertionError(f"exit status {self.process.returncode}:\n{self.said}")
        for text in texts:
            if text not in self.said:
                raise AssertionError(f"{text!r} was not said, but:\n{self.said}")

    def signal(self, number):
        self.process.send_signal(number)
