#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What became of each function of DOCA 2.2 in 3.0: the table in docs/moving-to-3.0.md.

changes.py [--write] PAGE

From the facts of both generations and changes-3.0.json, which says by hand which types and functions have another name,
what is used in place of a function that is gone, and what the parameters do not tell. Fails when the table of PAGE is
another one, unless it is told to write it, and when changes-3.0.json lacks a function or names one that does not exist.
"""
import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
BEGIN = "<!-- The table: written by tests/abi/changes.py --write -->\n"
END = "<!-- End of the table -->\n"


def load(name):
    with open(HERE / name, encoding="utf-8") as file:
        return json.load(file)


def functions(facts):
    """{name: (header, function)}"""
    return {function["name"]: (header, function)
            for header, content in facts["headers"].items() for function in content["functions"]}


def declaration(parameter):
    element, array, _ = parameter["type"].partition(" []")
    return f"{element} {parameter['name']}{array.strip()}".replace("* ", "*")


def difference(old, new, types):
    """What is different for a caller; empty when nothing is, but names."""
    def plain(c_type):
        # To point to what is const, and uint8_t for _Bool, make no difference to a caller.
        for name, other in {"const ": "", "_Bool": "uint8_t", **types}.items():
            c_type = c_type.replace(name, other)
        return c_type

    before, after = ([plain(parameter["type"]) for parameter in function["params"]] for function in (old, new))
    found = []
    if before != after:
        taken = [declaration(parameter) for parameter in new["params"]]
        found.append(f"takes `{', '.join(taken)}`")
    if old["ret"] != new["ret"]:
        found.append(f"gives `{new['ret']}`")
    return found


def problems(old, new, changes):
    explained = changes["renamed"].keys() | changes["gone"].keys()
    for name in sorted(old.keys() - new.keys() - explained):
        yield f"{name} of 2.2 is not in 3.0, and changes-3.0.json does not say what became of it"
    for name in sorted(explained & new.keys()):
        yield f"{name} is in 3.0, and changes-3.0.json says that it is not"
    for name in sorted(changes["renamed"].keys() & changes["gone"].keys()):
        yield f"{name} is said to be renamed and to be gone"
    for name in sorted((explained | changes["notes"].keys()) - old.keys()):
        yield f"{name} is no function of 2.2"
    texts = [f"`{name}`" for name in changes["renamed"].values()] + list(changes["gone"].values())
    for name in sorted(set(re.findall(r"`(doca_\w+)`", " ".join(texts + list(changes["notes"].values()))))):
        if name not in new:
            yield f"{name} is no function of 3.0"


def row(name, old, new, changes):
    """What became of a function, or None if it is the same."""
    if name in changes["gone"]:
        return ": ".join(filter(None, ["gone", changes["gone"][name]]))
    now = changes["renamed"].get(name, name)
    found = difference(old[name][1], new[now][1], changes["types"])
    if name in changes["notes"]:
        found.append(changes["notes"][name])
    if now != name:
        found.insert(0, f"`{now}`")
    return "; ".join(found) or None


def table(old, new, changes):
    types = [f"`{name}` is `{now}`" for name, now in changes["types"].items()]
    lines = ["Types of another name: " + ", ".join(types) + ".", ""]
    for header in dict.fromkeys(header for header, _ in old.values()):
        rows = {name: row(name, old, new, changes) for name, (where, _) in old.items() if where == header}
        lines += [f"### {header}", ""]
        same = [f"`{name}`" for name, text in rows.items() if text is None]
        if same:
            lines += ["The same: " + ", ".join(same) + ".", ""]
        if len(same) != len(rows):
            lines += ["| 2.2 | 3.0 |", "|---|---|"]
            lines += [f"| `{name}` | {text} |" for name, text in rows.items() if text is not None] + [""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into PAGE")
    parser.add_argument("page", type=pathlib.Path, metavar="PAGE")
    arguments = parser.parse_args()
    old, new, changes = functions(load("doca-2.2.json")), functions(load("doca-3.0.json")), load("changes-3.0.json")
    found = list(problems(old, new, changes))
    if not found:
        text = arguments.page.read_text(encoding="utf-8")
        before, begin, rest = text.partition(BEGIN)
        _, end, after = rest.partition(END)
        wanted = f"{before}{BEGIN}\n{table(old, new, changes)}\n{END}{after}"
        if not begin or not end:
            found.append(f"{arguments.page} has no place for the table")
        elif arguments.write:
            arguments.page.write_text(wanted, encoding="utf-8")
        elif text != wanted:
            found.append(f"{arguments.page} is not up to date: run tests/abi/changes.py --write {arguments.page}")
    for line in found:
        print(line, file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
