#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Runs the device suite, here or in a virtual machine, and reports each test in it as one of its own.

report.py [--gtest_output=xml:FILE] COMMAND [ARGUMENT...]

The command's output is passed on and read: what GoogleTest and TAP print, and the lines of device_suite.sh that begin
with "@@". FILE, which meson names, gets a report as GoogleTest writes it. A test that is an exception on the devices
has to fail in the way that exceptions.txt names; it is counted as skipped, with the reason. In a program of which some
tests are announced as skipped, no other test may be. The exit status is 0 when all is as expected, 77 when the command
says, by that status, that there is nothing to test, and otherwise 1.
"""

import fnmatch
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ENDED = re.compile(r"\[ {7}OK \] (\S+?)(?:, where .*)? \((\d+) ms\)$"
                   r"|\[ {2}(FAILED|SKIPPED) {1,2}\] (\S+?)(?:, where .*)? \((\d+) ms\)$")
BEGUN = re.compile(r"\[ RUN {6}\] (\S+)$")
EXCEPTION = re.compile(r'(\S+) (\S+) (timeout|"[^"]+") (.+)$')
TAP = re.compile(r"(ok|not ok)(?: \d+)? - (.*?)(?: # SKIP (.*))?$")


# Of timeout(1): it has stopped the program, or killed it as it would not stop.
TIMEOUT_STATUSES = (124, 137)


class Case:
    def __init__(self, program, name):
        self.program = program
        self.name = name
        self.result = "failed"
        self.details = []
        self.milliseconds = 0
        self.end_status = None  # of the program, if it ended during the test
        self.exception = None


class Exception_:
    """A test, or several by a pattern, that do not pass on these devices."""

    # What may become of such a test, by the word of the line that announces it.
    RESULTS = {"exception": ("failed",), "skip": ("skipped",), "optional": ("skipped", "passed")}

    def __init__(self, kind, program, pattern, way, reason):
        self.results = self.RESULTS[kind]
        self.program, self.pattern, self.way, self.reason = program, pattern, way, reason
        self.has_run = False

    def names(self, case):
        return case.program == self.program and fnmatch.fnmatchcase(case.name, self.pattern)

    def is_met_by(self, case):
        """Whether a test that has failed has done so in the way that is named: stopped at the time limit, or by itself,
        with a text."""
        if self.way == "timeout":
            return case.end_status in TIMEOUT_STATUSES
        return case.end_status is None and any(self.way[1:-1] in line for line in case.details)


class Reader:
    """Reads the output of one machine, line by line."""

    def __init__(self, prefix=""):
        self.prefix = prefix  # of the machine's programs
        self.cases = []
        self.exceptions = []
        self.is_complete = False
        self.has_begun = False
        self._program = prefix + "suite"
        self._running = None  # a test of GoogleTest's
        self._last = None  # the last one of TAP, which details follow
        self._num_before = 0

    def read(self, line):
        if line.startswith("@@ "):
            self._mark(*line[3:].split(" ", 1))
        elif match := BEGUN.match(line):
            self._running = Case(self._program, match[1])
            self.cases.append(self._running)
        elif (match := ENDED.match(line)) and self._running:
            self._running.result = {"FAILED": "failed", "SKIPPED": "skipped"}.get(match[3], "passed")
            self._running.milliseconds = int(match[2] or match[5])
            self._running = None
        elif self._running:
            self._running.details.append(line)
        elif match := TAP.match(line):
            self._last = self.add(match[2], "skipped" if match[3] else "passed" if match[1] == "ok" else "failed")
            self._last.details += [match[3]] if match[3] else []
        elif self._last and line.startswith("# "):
            self._last.details.append(line[2:])

    def add(self, name, result, *details):
        case = Case(self._program, name)
        case.result = result
        case.details += details
        self.cases.append(case)
        return case

    def _mark(self, word, rest=""):
        self._last = None
        if word == "begin":  # PROGRAM
            self.has_begun = True
            self._program, self._num_before = self.prefix + rest, len(self.cases)
        elif word == "end":  # STATUS
            self._end(int(rest))
        elif word == "exception":  # PROGRAM PATTERN WAY REASON
            if match := EXCEPTION.match(rest):
                self.exceptions.append(Exception_(word, *match.groups()))
            else:
                self.add(rest, "failed", 'an exception has to name how it fails: timeout, or a "text"')
        elif word in Exception_.RESULTS:  # PROGRAM PATTERN REASON
            program, pattern, reason = rest.split(None, 2)
            self.exceptions.append(Exception_(word, program, pattern, None, reason))
        elif word == "complete":
            self.is_complete = True

    def _end(self, status):
        """The program has ended: in the middle of a test, without any, or as it should."""
        cases = self.cases[self._num_before:]
        if self._running:
            self._running.details.append(f"the program ended here, with status {status}")
            self._running.end_status = status
            self._running = None
        elif not cases:
            self.add("runs", "failed", f"not one test was run; the exit status is {status}")
        elif status != 0 and all(case.result != "failed" for case in cases):
            self.add("ends", "failed", f"exit status {status}")

    def finish(self, status):
        """The machine has ended, with a status."""
        if not self.is_complete:
            if self._running:
                self._end(status)
            self.add("completes", "failed", f"the suite ended early, with status {status}")
        elif status != 0 and all(case.result != "failed" for case in self.cases):
            self.add("ends", "failed", f"exit status {status}")
        self._apply_exceptions()

    def _apply_exceptions(self):
        for exception in self.exceptions:
            for case in filter(exception.names, self.cases):
                exception.has_run = True
                case.exception = exception
                if case.result not in exception.results:
                    case.details.insert(0, f"has {case.result}, though it is an exception: {exception.reason}")
                    case.result = "failed"
                elif case.result == "skipped":
                    case.details = [f"is not run on this device: {exception.reason}"]
                elif case.result == "failed" and exception.is_met_by(case):
                    case.result = "skipped"
                    case.details = [f"does not pass on this device: {exception.reason}"]
                elif case.result == "failed":
                    case.details.insert(0, f"has failed in another way than its exception, which is {exception.way}")
        announced = {exception.program for exception in self.exceptions if "skipped" in exception.results}
        for case in self.cases:
            if case.result == "skipped" and case.program in announced and not case.exception:
                case.details.insert(0, "was skipped, which no exception announces")
                case.result = "failed"
        for exception in self.exceptions:
            if self.is_complete and not exception.has_run:
                self._program = exception.program
                self.add(exception.pattern, "failed", "the exception names no test that was run")


def write_xml(path, cases):
    suites = ElementTree.Element("testsuites")
    for program in dict.fromkeys(case.program for case in cases):
        suite = ElementTree.SubElement(suites, "testsuite", name=program)
        for case in cases:
            if case.program != program:
                continue
            group, _, name = case.name.rpartition(".")
            entry = ElementTree.SubElement(suite, "testcase", name=name, classname=group or program,
                                           time=f"{case.milliseconds / 1000:.3f}")
            # What XML 1.0 has no way to write is left out.
            text = re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", "\n".join(case.details))
            if case.result == "failed":
                ElementTree.SubElement(entry, "failure", message=text.partition("\n")[0]).text = text
            elif case.result == "skipped":
                ElementTree.SubElement(entry, "skipped", message=text)
    ElementTree.ElementTree(suites).write(path, encoding="unicode", xml_declaration=True)


def main():
    arguments = sys.argv[1:]
    xml = next((argument.partition("xml:")[2] for argument in arguments if argument.startswith("--gtest_output=xml:")),
               None)
    command = [argument for argument in arguments if not argument.startswith("--gtest_output=")]
    if not command:
        sys.exit(__doc__)
    if xml and os.path.exists(xml):
        os.remove(xml)

    readers = {"": Reader(), "host 2: ": Reader("host 2: ")}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
    for line in process.stdout:
        print(line, end="", flush=True)
        prefix = "host 2: " if line.startswith("host 2: ") else ""
        readers[prefix].read(line[len(prefix):].rstrip("\n"))
    status = process.wait()
    if status == 77 and not any(reader.cases for reader in readers.values()):
        return 77
    for reader in readers.values():
        if reader.has_begun or not reader.prefix:
            reader.finish(status)
    cases = [case for reader in readers.values() for case in reader.cases]
    if xml:
        write_xml(xml, cases)

    for case in cases:
        if case.result != "passed":
            print(f"{case.result}: {case.program} {case.name}")
            print("".join(f"    {line}\n" for line in case.details), end="")
    counts = {result: sum(case.result == result for case in cases) for result in ("passed", "failed", "skipped")}
    num_exceptions = sum(case.exception is not None and case.result == "skipped" for case in cases)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped,"
          f" {num_exceptions} of them as exceptions of the device")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
