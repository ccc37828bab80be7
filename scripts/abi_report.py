#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Reports how the binary interface has changed since a release, as Markdown on standard output.

  abi_report.py [--since REVISION]          default: the newest tag v*

It compares two lists of both generations in git with those of the working tree: symbols of libraries with their nodes
(debian/*.symbols) and declarations of headers (tests/abi/doca-*.json). Tests hold both lists against what was built, so nothing has to
be built here. Ends with 1 if something was removed or changed, which docs/versioning.md does not allow, and with 2 if a list of the
revision cannot be read.
"""
import argparse
import json
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
GENERATIONS = ("2.2", "3.0")
# What a list says of a declaration beside the declaration itself.
REMARKS = {"derived", "since", "note", "stability", "exported_by", "symbol_version"}


class Unreadable(Exception):
    """A list or a revision that is not there."""


def git(*arguments):
    done = subprocess.run(["git", "-C", TOP, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unreadable(f"git {' '.join(arguments)}: {done.stderr.strip() or 'failed'}")
    return done.stdout


def symbols_of(text):
    """{"library: symbol@node": None} of a symbols file. Symbols that only libraries of one release have of each other are left out."""
    symbols, library = {}, None
    for line in text.splitlines():
        if not line.strip() or line.startswith(("*", "|", "#")):
            continue
        if not line.startswith(" "):
            library = line.split()[0]
        else:
            symbol = line.split()[0].rpartition(")")[2].strip('"')
            if "OPENDOCA_" not in symbol:
                symbols[f"{library}: {symbol}"] = None
    return symbols


def without_remarks(value):
    """A part of the facts without remarks and names of parameters, in an order of its own."""
    if isinstance(value, dict):
        return {key: [one["type"] for one in part] if key == "params" and part and isinstance(part[0], dict) else without_remarks(part)
                for key, part in sorted(value.items()) if key not in REMARKS}
    return [without_remarks(one) for one in value] if isinstance(value, list) else value


def declarations_of(text):
    """{"header: kind name": declaration} of a list of facts; each value of an enumeration by itself."""
    found = {}
    for header, parts in json.loads(text)["headers"].items():
        for kind in ("functions", "enums", "structs", "unions", "typedefs", "macros"):
            for one in parts.get(kind, []):
                name = f"{header}: {kind.rstrip('s')} {one.get('name')}"
                if kind == "enums":
                    found.update({f"{name}, {value['name']}": value["value"] for value in one["values"]})
                found[name] = json.dumps(without_remarks({key: part for key, part in one.items() if key not in ("name", "values")}))
    return found


LISTS = {"symbols": ("debian/libopendoca{}.symbols", symbols_of), "declarations": ("tests/abi/doca-{}.json", declarations_of)}


def changes(since):
    """Yields generation, kind of list, and the names that were removed, changed and added."""
    for generation in GENERATIONS:
        for kind, (pattern, read) in LISTS.items():
            path = pattern.format(generation)
            before, after = read(git("show", f"{since}:{path}")), read((TOP / path).read_text(encoding="utf-8"))
            yield generation, kind, {"removed": sorted(set(before) - set(after)),
                                     "changed": sorted(name for name in set(before) & set(after) if before[name] != after[name]),
                                     "added": sorted(set(after) - set(before))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", metavar="REVISION", help="a commit or tag of git")
    since = parser.parse_args().since
    try:
        if since is None:
            tags = git("tag", "--list", "v*", "--sort=-version:refname").split()
            if not tags:
                raise Unreadable("there is no tag v* yet: name a commit by --since")
            since = tags[0]
        commit = git("rev-parse", "--short", "--verify", f"{since}^{{commit}}").strip()
        found = list(changes(since))
    except (Unreadable, OSError, ValueError, KeyError) as error:
        print(f"abi_report.py: {error}", file=sys.stderr)
        return 2
    print(f"# Binary interface since {since}\n\nCompared with commit {commit} by `scripts/abi_report.py`.\n")
    print("| API | list | removed | changed | added |\n|---|---|---|---|---|")
    for generation, kind, names in found:
        print(f"| {generation} | {kind} | {len(names['removed'])} | {len(names['changed'])} | {len(names['added'])} |")
    for generation, kind, names in found:
        for what, listed in names.items():
            if listed:
                print(f"\n## {generation}: {kind} that were {what}\n")
                print("\n".join(f"- `{name}`" for name in listed))
    return int(any(names["removed"] or names["changed"] for _, _, names in found))


if __name__ == "__main__":
    sys.exit(main())
