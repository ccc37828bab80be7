# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Checks the calls of the project's own scripts in pieces of shell: that the script exists and takes these arguments.

What a script takes is read from the script: a rule for each one says where. A call of a script without a rule is a mistake, so
that the rule is written with the first call.
"""
import pathlib
import re
import shlex
import subprocess

# Folders of programs that are called by their path in the source tree.
SCRIPT = re.compile(r"(?:^|/)((?:scripts|samples|packaging|tests|tools)/[\w./-]+)$")
SEPARATORS = {"&&", "||", ";", "|", "&", "(", ")", "{", "}", "then", "do", "else", "if", "while", "!", "\n"}
PREFIXES = {"sudo", "exec", "bash", "sh", "python3", "nice", "time", "env", "timeout"}


def _words_of_usage(text):
    return set(re.search(r"usage: \$0 \[([\w|]+)\]", text)[1].split("|"))


def _install_dependencies(text, arguments):
    if len(arguments) > 1:
        return "takes one list"
    return next((f"has no list {word}" for word in arguments if word not in _words_of_usage(text)), None)


def _run_all_tests(text, arguments):
    configurations = set(re.search(r"^    (release \| .*)\) ;;$", text, re.M)[1].split(" | "))
    return next((f"has no configuration {word}" for word in arguments if word not in configurations), None)


def _fuzz(text, arguments):
    if arguments == ["--list"]:
        return None
    targets = set(re.findall(r"\[(\w+)\]=", text))
    if arguments and not re.fullmatch(r"\d+|\$\{?\w+\}?", arguments[0]):
        return f"takes seconds first, and not {arguments[0]}"
    return next((f"has no target {word}" for word in arguments[1:] if word not in targets), None)


def _option_rule(operands):
    """Options are those of the script's `case` branches; others are operands, at most so many."""
    def rule(text, arguments):
        known = set()
        for branch in re.findall(r"^ +((?:-{1,2}[\w-]*(?: \| )?)+)\)", text, re.M):
            known.update(branch.split(" | "))
        valued = set(re.findall(r"^#.*?(--[a-z-]+)[ =][A-Z0-9.|]+", text, re.M))
        rest = list(arguments)
        count = 0
        while rest:
            word = rest.pop(0)
            if word == "--" and word in known:
                break
            if not word.startswith("-"):
                count += 1
                continue
            if word not in known:
                return f"has no option {word}"
            if word in valued and (not rest or rest.pop(0).startswith("-")):
                return f"needs a value for {word}"
        return f"takes {operands} operands, and not {count}" if count > operands else None
    return rule


def _argparse(text, arguments):
    known = set(re.findall(r"add_argument\(\"(--[\w-]+)\"", text))
    return next((f"has no option {word}" for word in arguments if word.startswith("-") and word.split("=")[0] not in known),
                None)


def _nothing(_text, arguments):
    return f"takes no arguments, and not {' '.join(arguments)}" if arguments else None


RULES = {
    "scripts/install_dependencies.sh": _install_dependencies,
    "scripts/run_all_tests.sh": _run_all_tests,
    "scripts/fuzz.sh": _fuzz,
    "scripts/install_tree.sh": _option_rule(0),
    "scripts/build_packages.sh": _option_rule(1),
    "scripts/lint.sh": _option_rule(0),
    "scripts/abi_report.py": _argparse,
    "scripts/coverage.py": _argparse,
    "scripts/make_apt_repository.sh": _option_rule(100),
    "scripts/make_release.sh": _option_rule(100),
    "scripts/sbom.py": _argparse,
    "samples/3.0/ci/run.sh": _nothing,
    "samples/run_dma_samples.sh": _option_rule(1),
}


def simple_commands(text):
    """The words of each simple command of a piece of shell, without redirections, assignments and comments."""
    lexer = shlex.shlex(text.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    command, skip = [], False
    for word in lexer:
        if skip:
            skip = False
        elif set(word) <= set("<>&") and set(word) & set("<>"):
            skip = True
            # The number of a file in front of >.
            if command and command[-1].isdigit():
                command.pop()
        elif word in SEPARATORS or set(word) <= set("();|&"):
            if command:
                yield command
            command = []
        elif not command and (re.match(r"\w+=", word) or word in PREFIXES):
            continue
        else:
            command.append(word)
    if command:
        yield command


def script_of(word):
    """The path in the source tree that a word of a command names, or None."""
    match = SCRIPT.search(word)
    return match[1] if match else None


def mistakes(text, top, files=None):
    """What is wrong in a piece of shell: its syntax, and its calls of scripts of the tree `top`.

    `files`, where given, are those that exist where the piece runs, by the absolute path there."""
    found = []
    syntax = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if syntax.returncode != 0:
        return [syntax.stderr.strip()]
    for command in simple_commands(text):
        name = script_of(command[0])
        if name is None:
            continue
        path = pathlib.Path(top, name)
        if not path.is_file():
            found.append(f"{name}: no such script")
        elif not path.stat().st_mode & 0o111:
            found.append(f"{name}: not executable")
        elif files is not None and command[0] not in files:
            found.append(f"{command[0]}: not copied to where it is called")
        elif name not in RULES:
            found.append(f"{name}: no rule for its arguments in tests/scripts/commands.py")
        else:
            complaint = RULES[name](path.read_text(encoding="utf-8"), command[1:])
            if complaint:
                found.append(f"{name}: {complaint}")
    return found


def calls(text):
    """The scripts of the tree that a piece of shell calls."""
    return [script_of(command[0]) for command in simple_commands(text) if script_of(command[0])]
