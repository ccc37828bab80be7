# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What the loader sees of a library or a program, by readelf."""
import os
import re
import subprocess
from typing import NamedTuple


class Symbol(NamedTuple):
    name: str
    version: str
    is_default: bool
    is_defined: bool


class Elf:
    def __init__(self, path):
        self.path = path
        self.dynamic = self._readelf("-d")

    def _readelf(self, *options):
        command = ["readelf", "-W", *options, self.path]
        environment = {**os.environ, "LC_ALL": "C"}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    def _entries(self, tag):
        return re.findall(rf"\({tag}\).*\[(.*)\]", self.dynamic)

    @property
    def soname(self):
        return "".join(self._entries("SONAME"))

    @property
    def needed(self):
        return self._entries("NEEDED")

    @property
    def search_paths(self):
        return self._entries("RPATH") + self._entries("RUNPATH")

    @property
    def binds_now(self):
        return "BIND_NOW" in self.dynamic or re.search(r"\(FLAGS_1\).*\bNOW\b", self.dynamic) is not None

    def defined_nodes(self):
        """Version nodes that the library defines, without the one that has the library's name."""
        text = self._readelf("-V")
        part = re.search(r"Version definition section.*?(?=\nVersion (?:needs|symbols)|\Z)", text, re.S)
        named = re.findall(r"Flags: (\S+).*?Name: (\S+)", part.group(0)) if part else []
        return {name for flags, name in named if flags != "BASE"}

    def needed_nodes(self):
        """{library: nodes that it must define}."""
        text = self._readelf("-V")
        part = re.search(r"Version needs section.*?(?=\nVersion (?:definition|symbols)|\Z)", text, re.S)
        nodes, library = {}, None
        for line in part.group(0).splitlines() if part else []:
            if match := re.search(r"File: (\S+)", line):
                library = nodes.setdefault(match.group(1), set())
            elif match := re.search(r"Name: (\S+)", line):
                library.add(match.group(1))
        return nodes

    def symbols(self):
        """Functions and objects that it gives to others, and all that it wants of others."""
        found = []
        for line in self._readelf("--dyn-syms").splitlines():
            field = line.split()
            if len(field) < 8 or field[4] not in ("GLOBAL", "WEAK", "UNIQUE"):
                continue
            is_defined = field[6] != "UND"
            if is_defined and (field[6] == "ABS" or field[3] not in ("FUNC", "OBJECT", "IFUNC", "TLS")):
                continue
            name, at, version = field[7].partition("@")
            found.append(Symbol(name, version.lstrip("@"), at == "" or version.startswith("@"), is_defined))
        return found

    def defined(self):
        return [symbol for symbol in self.symbols() if symbol.is_defined]

    def undefined(self):
        return [symbol for symbol in self.symbols() if not symbol.is_defined]
