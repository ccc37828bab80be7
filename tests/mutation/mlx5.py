#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Whether the tests of the commands for mlx5 devices would see a mistake: makes one after the other, and runs them.

mlx5.py [--compiler C++] [--list] [--jobs N] [NAME ...]

Mistakes: each row of prm.hpp at another offset and of another width, each opcode, each field that is not set, and each
command of a sequence left out, or in another place. One that no test sees must be in EQUIVALENT, with the reason; one
that is there and is seen is an error, too. Works in a folder of its own; a machine of two cores takes two minutes.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MLX5 = pathlib.Path("src/core/device/mlx5")
PRM, COMMANDS, SHARED_KEY = MLX5 / "prm.hpp", MLX5 / "commands.cpp", MLX5 / "shared_key.cpp"
ROWS, TEST = pathlib.Path("tests/unit/mlx5_prm_rows.hpp"), pathlib.Path("tests/unit/test_mlx5_commands.cpp")

# Mutants that behave as the original, and why.
EQUIVALENT = {
    "commands.cpp: without command.set(prm::mkey_umem_offset, 0)": "a mailbox is all zero before",
}

# Sequences: what stands there, what instead, and what that would be.
SEQUENCES = [
    (SHARED_KEY, "outcome = commands.allow_access(key, access_key_);", "", "the key is made, and nobody is allowed"),
    (SHARED_KEY, "while (getrandom(access_key_.data(), access_key_.size(), 0) != static_cast<ssize_t>(access_key_.size()))",
     "while (false)", "no random access key"),
    (SHARED_KEY, "        key_ = std::move(key);\n", "        ;\n", "the key is not kept"),
    (SHARED_KEY, "    if (outcome.is_good())\n        key_", "    key_", "a key is kept that nobody may use"),
    (SHARED_KEY, "    DeviceKey key;\n", "    DeviceKey key;\n    (void)commands.allow_access(key, access_key_);\n",
     "access is allowed before there is a key"),
    (SHARED_KEY, "    if (!outcome.is_good())\n        return outcome;\n", "", "access is allowed to a key that was refused"),
    (SHARED_KEY, "way == Sharing::Way::indirect ?", "way != Sharing::Way::indirect ?", "the other kind of key"),
    (COMMANDS, "key.memory = {library_.register_umem(&context_, range.addr, range.len, rights), Release{&library_}};",
     "key.memory = {};", "a direct key without memory"),
    (COMMANDS, "    if (key.memory == nullptr)\n        return {errno != 0 ? errno : EIO};\n", "",
     "a direct key where registering was refused"),
    (COMMANDS, "    if (outcome.is_good() && answer.get(prm::alias_status) != 0)\n        return {EACCES};\n", "",
     "an alias that is marked as bad"),
    (COMMANDS, "general.get(prm::general_hca_cap_2) != 0 && ", "", "capabilities of a page that is not there"),
    (COMMANDS, "    if (answer.get(prm::host_pf_disabled) != 0)\n        return {ENODEV};\n", "", "a host that is not there"),
    (COMMANDS, "    if (answer.get(prm::vuid_count) == 0)\n        return {ENOENT};\n", "", "a VUID where there is none"),
    (COMMANDS, "    if (error == 0 && outcome.status != 0)\n        outcome.error = EREMOTEIO;\n", "",
     "what the device refuses is taken for done"),
    (COMMANDS, "kind << 1 | 1", "kind << 1", "the largest capabilities, and not those of now"),
]


def mutants():
    """Name, file, and its text with the mistake."""
    text = (SOURCE / PRM).read_text(encoding="utf-8")
    row = re.compile(r"inline constexpr Field (\w+)(?: = Field)?\{(0x[0-9a-f]+), (\d+)\}")
    for match in row.finditer(text):
        offset, width = int(match[2], 16), int(match[3])
        changes = [(offset + 1, width), (offset, width + 1), (offset, width - 1)] + ([(offset - 1, width)] if offset else [])
        for new_offset, new_width in changes:
            changed = match[0].replace(f"{{{match[2]}, {match[3]}}}", f"{{{new_offset:#x}, {new_width}}}")
            yield (f"prm.hpp: {match[1]} at {new_offset:#x}, {new_width} bits", PRM,
                   text[:match.start()] + changed + text[match.end():])
    for match in re.finditer(r"    (\w+) = (0x[0-9a-f]{3}),\n", text):
        changed = match[0].replace(match[2], hex(int(match[2], 16) + 1))
        yield f"prm.hpp: opcode {match[1]}", PRM, text[:match.start()] + changed + text[match.end():]
    text = (SOURCE / COMMANDS).read_text(encoding="utf-8")
    for match in re.finditer(r"^ +((?:command|entry)\.set(?:_bytes)?\(prm::.*\));\n", text, re.M):
        name = f"commands.cpp: without {match[1]}"
        if text.count(match[0]) > 1:
            name += f" in line {text[:match.start()].count(chr(10)) + 1}"
        yield name, COMMANDS, text[:match.start()] + text[match.end():]
    for file, old, new, what in SEQUENCES:
        text = (SOURCE / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"{file}: '{old}' is there {text.count(old)} times")
        yield f"{file.name}: {what}", file, text.replace(old, new)


class Bench:
    """A copy of the few files, and the test's object."""

    def __init__(self, folder, compiler):
        self.folder = folder
        self.flags = [*compiler, "-std=c++20", "-D_GNU_SOURCE", "-w"]
        for part in ("src/core", "include"):
            shutil.copytree(SOURCE / part, folder / part)
        (folder / ROWS.parent).mkdir(parents=True)
        for file in (ROWS, TEST):
            shutil.copy(SOURCE / file, folder / file)
        self.run(["-c", TEST, "-o", "test.o"], folder, must=True)
        self.run(["-c", COMMANDS, "-o", "commands.o"], folder, must=True)
        self.run(["-c", SHARED_KEY, "-o", "shared_key.o"], folder, must=True)

    def run(self, arguments, folder, must=False):
        # Headers of the mutant's own folder, if it has some, and else the common ones.
        result = subprocess.run([*self.flags, "-Iinclude", *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        if must and result.returncode != 0:
            sys.exit(f"without any mistake: {result.stdout}")
        return result.returncode == 0

    def is_seen(self, file, text):
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            own = pathlib.Path(name)
            (own / MLX5).mkdir(parents=True)
            (own / ROWS.parent).mkdir(parents=True)
            (own / file).write_text(text, encoding="utf-8")
            if file == PRM:
                shutil.copy(self.folder / ROWS, own / ROWS)
                return not self.run(["-fsyntax-only", "-x", "c++", ROWS], own)
            # Includes go by the file's own place.
            mutant = self.folder / MLX5 / f"{own.name}.cpp"
            mutant.write_text(text, encoding="utf-8")
            try:
                if not self.run(["-c", mutant, "-o", own / "mutant.o"], self.folder):
                    return True
            finally:
                mutant.unlink()
            objects = [own / "mutant.o", "test.o", "shared_key.o" if file == COMMANDS else "commands.o"]
            if not self.run([*objects, "-lgtest_main", "-lgtest", "-pthread", "-o", own / "test"], self.folder):
                return True
            try:
                return subprocess.run([own / "test"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
                                      check=False).returncode != 0
            except subprocess.TimeoutExpired:
                return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--list", action="store_true", help="name the mistakes, and make none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*", help="parts of names; all, if there are none")
    arguments = parser.parse_args()
    chosen = [mutant for mutant in mutants() if not arguments.names or any(name in mutant[0] for name in arguments.names)]
    unknown = set(EQUIVALENT) - {name for name, _, _ in mutants()}
    if unknown:
        sys.exit(f"no such mutant: {', '.join(unknown)}")
    if arguments.list:
        print("\n".join(name for name, _, _ in chosen))
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="opendoca-mutation-") as folder:
        bench = Bench(pathlib.Path(folder), arguments.compiler.split())
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            seen = list(pool.map(lambda mutant: bench.is_seen(mutant[1], mutant[2]), chosen))
        for (name, _, _), is_seen in zip(chosen, seen):
            if is_seen == (name in EQUIVALENT):
                wrong += 1
                print(f"{'seen, though it is listed as equivalent' if is_seen else 'NOT SEEN'}: {name}")
    equivalent = sum(name in EQUIVALENT for name, _, _ in chosen)
    print(f"{len(chosen)} mistakes: {sum(seen)} seen, {equivalent} equivalent, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
