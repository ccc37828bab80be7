# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""A program under test: its output is awaited line by line, and everything has a time limit."""

import queue
import re
import signal
import subprocess
import threading
import time

TIME_LIMIT = 300  # seconds; only ever reached by a failure
END_LIMIT = TIME_LIMIT  # the same for the end of a program


class Failure(Exception):
    """A check that did not hold."""


def check(holds, message):
    if not holds:
        raise Failure(message)


class Program:
    """A running program, with standard output and standard error in one stream."""

    def __init__(self, name, argv, env, stdin=subprocess.PIPE):
        self.name = name
        self.lines = []
        self._queue = queue.Queue()
        self._process = subprocess.Popen(argv, env=env, stdin=stdin, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, errors="replace")
        self.pid = self._process.pid
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))
            self._queue.put(self.lines[-1])
        self._queue.put(None)

    def text(self):
        return "\n".join(self.lines)

    def wait_for(self, pattern):
        """Awaits a line in which the pattern is found, after the lines seen so far; returns the match."""
        end = time.monotonic() + TIME_LIMIT
        while True:
            try:
                line = self._queue.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise Failure(f"{self.name}: no line with '{pattern}' within {TIME_LIMIT} s") from None
            check(line is not None, f"{self.name} ended without a line with '{pattern}'")
            match = re.search(pattern, line)
            if match:
                return match

    def is_running(self):
        return self._process.poll() is None

    def press_enter(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def close_input(self):
        self._process.stdin.close()

    def send_signal(self, number):
        self._process.send_signal(number)

    def wait(self):
        """Awaits the end; returns the exit status."""
        try:
            status = self._process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} has not ended within {END_LIMIT} s") from None
        self._reader.join(TIME_LIMIT)
        check(not re.search(r"Sanitizer|runtime error:", self.text()), f"{self.name}: a sanitizer's report")
        return status

    def succeeds(self, *texts):
        """The program ends well, and has said all the texts."""
        status = self.wait()
        check(status == 0, f"{self.name}: exit status {status}, and 0 was expected")
        check(self.text().rstrip().endswith("Sample finished successfully"), f"{self.name}: wrong last line")
        self.says(*texts)

    def fails(self, *texts):
        """The program ends with an error that it reports in the texts."""
        status = self.wait()
        check(status == 1, f"{self.name}: exit status {status}, and 1 was expected")
        check("Sample finished with errors" in self.text(), f"{self.name}: wrong last line")
        check("Sample finished successfully" not in self.text(), f"{self.name}: claims success")
        self.says(*texts)

    def says(self, *texts):
        for text in texts:
            check(text in self.text(), f"{self.name} does not say '{text}'")

    def stop(self):
        """Whatever the state: gone afterwards."""
        if self.is_running():
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._reader.join(TIME_LIMIT)
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
