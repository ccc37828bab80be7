# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Reads Containerfiles: instructions, stages, and what each needs of the build context. No image is built."""
import json
import pathlib
import re
import shlex

INSTRUCTIONS = {"FROM", "ARG", "RUN", "COPY", "ENV", "LABEL", "WORKDIR", "CMD", "ENTRYPOINT", "USER"}
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Mistake(Exception):
    """What is wrong with a Containerfile, with its line."""


class Instruction:
    """One instruction: its name in capitals, the options before its operands, the rest, and its line."""

    def __init__(self, name, options, rest, line):
        self.name, self.options, self.rest, self.line = name, options, rest, line

    def words(self):
        if self.rest.startswith("["):
            return json.loads(self.rest)
        return shlex.split(self.rest)


class Stage:
    """What follows a FROM, until the next one."""

    def __init__(self, image, name, instructions):
        self.image, self.name, self.instructions = image, name, instructions


def instructions(text):
    """Yields the instructions, with continued lines joined and comments left out."""
    pending, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        if not pending:
            if not line.strip():
                continue
            start = number
        if line.endswith("\\"):
            pending += line[:-1] + " "
            continue
        match = re.fullmatch(r"(\S+)\s+((?:--\S+\s+)*)(.+)", (pending + line).strip())
        pending = ""
        if not match:
            raise Mistake(f"line {start}: an instruction without an operand: {line.strip()}")
        options = dict(option[2:].partition("=")[::2] for option in match[2].split())
        yield Instruction(match[1], options, match[3], start)
    if pending:
        raise Mistake(f"line {start}: the last line ends with a backslash")


def stages(text):
    """The stages of a Containerfile; raises Mistake where an instruction or the order is wrong."""
    found, names = [], {}
    for instruction in instructions(text):
        if instruction.name not in INSTRUCTIONS:
            raise Mistake(f"line {instruction.line}: unknown instruction {instruction.name}")
        if instruction.name == "FROM":
            match = re.fullmatch(r"(\S+)(?:\s+AS\s+([\w.-]+))?", instruction.rest)
            if not match:
                raise Mistake(f"line {instruction.line}: FROM IMAGE [AS NAME], and not {instruction.rest}")
            found.append(Stage(names.get(match[1], match[1]), match[2], []))
            if match[2]:
                names[match[2]] = found[-1]
            continue
        if not found:
            if instruction.name != "ARG":
                raise Mistake(f"line {instruction.line}: {instruction.name} before the first FROM")
            continue
        found[-1].instructions.append(instruction)
    if not found:
        raise Mistake("no FROM")
    return found


def base_image(stage):
    """The image that a stage begins with, through the stages that it names."""
    while isinstance(stage.image, Stage):
        stage = stage.image
    return stage.image


class Checker:
    """Follows the instructions of a file, with the files that each COPY puts into a stage."""

    def __init__(self, context):
        self.context = pathlib.Path(context)
        self.mistakes = []
        self.commands = []  # (stage's files, ARG values, the text of a RUN)
        self.files = {}     # stage: {path in the stage: path in the context}

    def complain(self, instruction, what):
        self.mistakes.append(f"line {instruction.line}: {what}")

    def check(self, text):
        try:
            all_stages = stages(text)
        except Mistake as mistake:
            self.mistakes.append(str(mistake))
            return self
        names = {}
        for stage in all_stages:
            self.check_stage(stage, names)
            if stage.name:
                names[stage.name] = stage
        return self

    def check_stage(self, stage, names):
        inherited = self.files.get(stage.image, {}) if isinstance(stage.image, Stage) else {}
        files = self.files[stage] = dict(inherited)
        image = base_image(stage)
        if isinstance(stage.image, str) and not re.fullmatch(r"[\w.-]+(/[\w.-]+)+:[\w.-]+|[\w.-]+(/[\w.-]+)+", image):
            self.mistakes.append(f"the image {image} has no registry")
        values = {}
        folder = "/"
        for instruction in stage.instructions:
            if instruction.name == "COPY":
                self.check_copy(instruction, files, names, folder)
            elif instruction.name == "ARG":
                name, _, value = instruction.rest.partition("=")
                values[name] = value
            elif instruction.name == "ENV":
                for word in instruction.words():
                    if "=" not in word:
                        self.complain(instruction, f"ENV NAME=VALUE, and not {word}")
                        continue
                    name, _, value = word.partition("=")
                    values[name] = value
            elif instruction.name == "WORKDIR":
                folder = instruction.rest if instruction.rest.startswith("/") else f"{folder.rstrip('/')}/{instruction.rest}"
            elif instruction.name == "RUN":
                self.commands.append((instruction, dict(files), dict(values), folder))

    def check_copy(self, instruction, files, names, folder):
        *sources, target = instruction.words()
        unknown = set(instruction.options) - {"from"}
        if unknown:
            self.complain(instruction, f"unknown option of COPY: {' '.join(sorted(unknown))}")
        if not sources:
            self.complain(instruction, "COPY SOURCE... TARGET")
            return
        if len(sources) > 1 and not target.endswith("/"):
            self.complain(instruction, f"the target of {len(sources)} files must end with /, and is {target}")
        if not target.startswith("/"):
            target = f"{folder.rstrip('/')}/{target}"
        if "from" in instruction.options:
            if instruction.options["from"] not in names:
                self.complain(instruction, f"no stage {instruction.options['from']} before this one")
            return
        for source in sources:
            path = (self.context / source).resolve()
            if self.context.resolve() not in (path, *path.parents):
                self.complain(instruction, f"{source} is outside of the source tree")
            elif not path.exists():
                self.complain(instruction, f"there is no {source}")
            elif path.is_dir():
                # The contents of a folder are copied, and not the folder.
                for file in path.rglob("*"):
                    files[f"{target.rstrip('/')}/{file.relative_to(path)}"] = file
            else:
                files[f"{target}{path.name}" if target.endswith("/") else target] = path
