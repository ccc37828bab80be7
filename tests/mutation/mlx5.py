#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Whether the tests of the commands for mlx5 devices would see a mistake: makes one after the other, and runs them.

mlx5.py [--compiler C++] [--list] [--jobs N] [--one-by-one] [NAME ...]

Mistakes: each row of prm.hpp at another offset and of another width, each opcode, each field that is not set, and each
command of a sequence left out, or in another place. One that no test sees must be in EQUIVALENT, with the reason; one
that is there and is seen is an error, too. Works in a folder of its own.

Most mistakes of a kind are made in one compilation: all rows are moved by a bit at once, since each is compared by
itself, and of the fields that are not set an environment variable says which. --one-by-one compiles each mistake by
itself, which takes a minute on a machine of two cores, and comes to the same.
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
import typing

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


class Mutant(typing.NamedTuple):
    name: str
    file: pathlib.Path
    start: int  # of what is replaced in the file
    old: str
    new: str
    kind: str  # "row ...": of those that can be made together; "unset": at run time; or ""
    row: str = ""

    def text(self):
        text = (SOURCE / self.file).read_text(encoding="utf-8")
        return text[:self.start] + self.new + text[self.start + len(self.old):]


def mutants():
    text = (SOURCE / PRM).read_text(encoding="utf-8")
    row = re.compile(r"inline constexpr Field (\w+)(?: = Field)?\{(0x[0-9a-f]+), (\d+)\}")
    for match in row.finditer(text):
        offset, width = int(match[2], 16), int(match[3])
        changes = {"later": (offset + 1, width), "wider": (offset, width + 1), "narrower": (offset, width - 1)}
        if offset:
            changes["earlier"] = (offset - 1, width)
        for kind, (new_offset, new_width) in changes.items():
            changed = match[0].replace(f"{{{match[2]}, {match[3]}}}", f"{{{new_offset:#x}, {new_width}}}")
            yield Mutant(f"prm.hpp: {match[1]} at {new_offset:#x}, {new_width} bits", PRM, match.start(), match[0], changed,
                         "row " + kind, match[1])
    for match in re.finditer(r"    (\w+) = (0x[0-9a-f]{3}),\n", text):
        changed = match[0].replace(match[2], hex(int(match[2], 16) + 1))
        yield Mutant(f"prm.hpp: opcode {match[1]}", PRM, match.start(), match[0], changed, "")
    text = (SOURCE / COMMANDS).read_text(encoding="utf-8")
    for match in re.finditer(r"^ +((?:command|entry)\.set(?:_bytes)?\(prm::.*\));\n", text, re.M):
        name = f"commands.cpp: without {match[1]}"
        if text.count(match[0]) > 1:
            name += f" in line {text[:match.start()].count(chr(10)) + 1}"
        yield Mutant(name, COMMANDS, match.start(), match[0], "", "unset")
    for file, old, new, what in SEQUENCES:
        text = (SOURCE / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"{file}: '{old}' is there {text.count(old)} times")
        yield Mutant(f"{file.name}: {what}", file, text.index(old), old, new, "")


def together(mutants_of_file):
    """The file with all of them, which do not overlap."""
    text = (SOURCE / mutants_of_file[0].file).read_text(encoding="utf-8")
    for mutant in sorted(mutants_of_file, key=lambda mutant: -mutant.start):
        text = text[:mutant.start] + mutant.new + text[mutant.start + len(mutant.old):]
    return text


class Bench:
    """A copy of the few files, and the test's object."""

    def __init__(self, folder, compiler):
        self.folder = folder
        self.flags = [*compiler, "-std=c++20", "-D_GNU_SOURCE", "-w", "-fdiagnostics-color=never"]
        for part in ("src/core", "include"):
            shutil.copytree(SOURCE / part, folder / part)
        (folder / ROWS.parent).mkdir(parents=True)
        for file in (ROWS, TEST):
            shutil.copy(SOURCE / file, folder / file)
        for source, name in ((TEST, "test.o"), (COMMANDS, "commands.o"), (SHARED_KEY, "shared_key.o")):
            result = self.run(["-c", source, "-o", name], folder)
            if result.returncode != 0:
                sys.exit(f"without any mistake: {result.stdout}")

    def run(self, arguments, folder):
        # Headers of the mutant's own folder, if it has some, and else the common ones.
        return subprocess.run([*self.flags, "-Iinclude", *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def check_rows(self, text):
        """What the compiler says of the rows when prm.hpp is @p text."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            own = pathlib.Path(name)
            (own / MLX5).mkdir(parents=True)
            (own / ROWS.parent).mkdir(parents=True)
            (own / PRM).write_text(text, encoding="utf-8")
            shutil.copy(self.folder / ROWS, own / ROWS)
            return self.run(["-fsyntax-only", "-x", "c++", ROWS], own)

    def rows_seen(self, group):
        """Of mutants of different rows: those whose own row the compiler complains of."""
        said = self.check_rows(together(group)).stdout
        rows = re.findall(r"^    \{prm::(\w+),", (SOURCE / ROWS).read_text(encoding="utf-8"), re.M)
        wrong = {rows[int(number)] for number in re.findall(r"CheckedRow<(\d+)>", said)}
        return [mutant.row in wrong for mutant in group]

    def build(self, file, text, program):
        """Links the test with @p file as @p text. False where it does not compile."""
        # Includes go by the file's own place.
        source = self.folder / MLX5 / f"{program.name}.cpp"
        source.write_text(text, encoding="utf-8")
        built = program.with_suffix(".o")
        try:
            if self.run(["-c", source, "-o", built], self.folder).returncode != 0:
                return False
        finally:
            source.unlink()
        objects = [built, "test.o", "shared_key.o" if file == COMMANDS else "commands.o"]
        return self.run([*objects, "-lgtest_main", "-lgtest", "-pthread", "-o", program], self.folder).returncode == 0

    @staticmethod
    def fails(program, mutant=0):
        try:
            return subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False,
                                  env={**os.environ, "OPENDOCA_MUTANT": str(mutant)}).returncode != 0
        except subprocess.TimeoutExpired:
            return True

    def build_switched(self, group):
        """The test with all of these mutants, of which OPENDOCA_MUTANT makes one: from 1 on."""
        switched = [mutant._replace(new=re.sub(r"^ +", rf"\g<0>if (opendoca_mutant != {number}) ", mutant.old))
                    for number, mutant in enumerate(group, 1)]
        text = ('#include <cstdlib>\nstatic const int opendoca_mutant = std::atoi(std::getenv("OPENDOCA_MUTANT"));\n' +
                together(switched))
        program = self.folder / "switched"
        if not self.build(group[0].file, text, program) or self.fails(program):
            sys.exit("the test fails without any mistake")
        return program

    def is_seen(self, mutant):
        if mutant.file == PRM:
            return self.check_rows(mutant.text()).returncode != 0
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            program = pathlib.Path(name) / pathlib.Path(name).name
            return not self.build(mutant.file, mutant.text(), program) or self.fails(program)


def judge(bench, chosen, jobs, one_by_one):
    """Whether each is seen."""
    groups = {}
    for mutant in chosen:
        groups.setdefault("" if one_by_one else mutant.kind, []).append(mutant)
    seen = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = []
        for kind, group in groups.items():
            if kind.startswith("row"):
                results.append((group, pool.submit(bench.rows_seen, group).result))
            elif kind == "unset":
                program = pool.submit(bench.build_switched, group)
                results.append((group, lambda group=group, program=program: list(
                    pool.map(lambda number: bench.fails(program.result(), number), range(1, len(group) + 1)))))
            else:
                futures = [pool.submit(bench.is_seen, mutant) for mutant in group]
                results.append((group, lambda futures=futures: [future.result() for future in futures]))
        for group, result in results:
            seen.update(zip((mutant.name for mutant in group), result()))
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--list", action="store_true", help="name the mistakes, and make none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--one-by-one", action="store_true", help="compile each by itself")
    parser.add_argument("names", nargs="*", help="parts of names; all, if there are none")
    arguments = parser.parse_args()
    known = list(mutants())
    chosen = [mutant for mutant in known if not arguments.names or any(name in mutant.name for name in arguments.names)]
    unknown = set(EQUIVALENT) - {mutant.name for mutant in known}
    if unknown:
        sys.exit(f"no such mutant: {', '.join(unknown)}")
    if arguments.list:
        print("\n".join(mutant.name for mutant in chosen))
        return 0
    with tempfile.TemporaryDirectory(prefix="opendoca-mutation-") as folder:
        bench = Bench(pathlib.Path(folder), arguments.compiler.split())
        seen = judge(bench, chosen, arguments.jobs, arguments.one_by_one)
    wrong = 0
    for name, is_seen in seen.items():
        if is_seen == (name in EQUIVALENT):
            wrong += 1
            print(f"{'seen, though it is listed as equivalent' if is_seen else 'NOT SEEN'}: {name}")
    equivalent = sum(name in EQUIVALENT for name in seen)
    print(f"{len(seen)} mistakes: {sum(seen.values())} seen, {equivalent} equivalent, {wrong} wrong")
    return 1 if wrong or len(seen) != len(chosen) or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
