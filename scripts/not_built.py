#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What is not built, of both generations of the API: docs/not-built.json says it once.

    scripts/not_built.py --check     the tables of docs/not-built.md are those of the JSON, and it names functions that there are
    scripts/not_built.py --coverage  each function of the facts is exported by a library, inline, or in a table; those for
                                     processors that no device here has (GPU, DPA) are in a table
    scripts/not_built.py --write     puts the tables into the page anew
    scripts/not_built.py --calls 3.0 the functions of that API that refuse whatever they are given, for their conformance test

A table stands below its "heading". A row has
  what     the first column. Words in backquotes that begin with doca_ or with * are functions, and so are those that begin
           with _, which replace the end of the one before; * stands for any characters
  code     what the functions answer, which is {code} in
  answer   the second column
  always   true: whatever arguments they are given that are not NULL and 0; a conformance test calls each
  but      functions of an "always" row that need an object to refuse, and so have tests of their own
  of_null  what they answer to NULL, if that is not DOCA_ERROR_INVALID_VALUE
"""
import argparse
import fnmatch
import json
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
# Parts of names and of parameters' types that belong to processors that no device of opendoca has.
ABSENT = {"gpu", "dpa"}
ROW_KEYS = {"what", "code", "answer", "always", "but", "of_null"}


class Mistake(Exception):
    """An error in the JSON file or on the page; main() prints its text."""


def functions_of(api):
    """Returns the return type of each function of the API, by name."""
    facts = json.loads((TOP / "tests" / "abi" / f"doca-{api}.json").read_text(encoding="utf-8"))
    return {function["name"]: function["ret"] for header in facts["headers"].values() for function in header["functions"]}


def exported_by(api):
    """Returns the names that the libraries of the API export, according to their version scripts."""
    scripts = [path for path in (TOP / "src").rglob("*.map*") if ("v3" in path.parts) == (api == "3.0")]
    return {name for path in scripts for name in re.findall(r"\b(doca_\w+);", path.read_text(encoding="utf-8"))}


def check_coverage(tables, api, exported):
    """Raises Mistake unless each function of the facts is exported, inline or in a table, and each function for an absent
    processor is in a table."""
    facts = json.loads((TOP / "tests" / "abi" / f"doca-{api}.json").read_text(encoding="utf-8"))
    functions = functions_of(api)
    named = {name for table in tables if table["api"] == api for row in table["rows"] for name in expanded(row["what"], functions)}
    for header in facts["headers"].values():
        for function in header["functions"]:
            name = function["name"]
            words = set(name.split("_"))
            words.update(word for parameter in function["params"] for word in re.split(r"\W+|_", parameter["type"]))
            if name in named:
                continue
            if name not in exported and not function.get("inline"):
                raise Mistake(f"{name} of DOCA {api} is neither exported by a library nor in a table")
            if words & ABSENT:
                raise Mistake(f"{name} of DOCA {api} is for a {min(words & ABSENT).upper()}, which no device here has, and in no table")


def expanded(what, functions):
    """Returns the functions that the first column of a row names, in the order of the facts for each word."""
    # A word that begins with "_" replaces the end of the name before it: the longest prefix that gives a function counts.
    named, before = [], ""
    for word in re.findall(r"`([\w*]+)`", what):
        patterns = [word]
        if word.startswith("_"):
            parts = before.split("_")
            patterns = ["_".join(parts[:length]) + word for length in range(len(parts), 0, -1)]
        elif not word.startswith(("doca_", "*")):
            continue
        found = next((match for pattern in patterns if (match := fnmatch.filter(functions, pattern))), [])
        if not found:
            raise Mistake(f"{word} is no function of this API")
        before = found[0] if "*" not in word else word
        named += [name for name in found if name not in named]
    return named


def check_row(row, functions):
    """Raises Mistake if the keys of a row contradict each other."""
    unknown = row.keys() - ROW_KEYS
    if unknown:
        raise Mistake(f"a row has no '{min(unknown)}'")
    if ("code" in row) != ("{code}" in row["answer"]):
        raise Mistake("'code' and {code} in the answer go together")
    named = expanded(row["what"], functions)
    if row.get("always") and not ("code" in row and named):
        raise Mistake("'always' is of functions with a code")
    wrong = set(row.get("but", [])) - set(named)
    if wrong:
        raise Mistake(f"'but' has {min(wrong)}, which the row does not name")


def table_of(table):
    """Returns the lines of a table for the page."""
    lines = [f"| {table['first_column']} | answer |", "|---|---|"]
    for row in table["rows"]:
        answer = row["answer"].replace("{code}", f"`{row.get('code')}`")
        lines.append(f"| {row['what']} | {answer} |")
    return lines


def place_of_table(lines, heading):
    """Returns the indices of the first line of the table below a heading, and of the line after its last."""
    try:
        start = lines.index(f"## {heading}")
    except ValueError:
        raise Mistake(f"the page has no heading '{heading}'") from None
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
    rows = [i for i in range(start, end) if lines[i].startswith("|")]
    if not rows:
        raise Mistake(f"there is no table below '{heading}'")
    return rows[0], rows[-1] + 1


def calls_of(tables, api):
    """Yields a line of C++ for each function that always refuses: CALL(name, its code, its answer to NULL)."""
    functions = functions_of(api)
    for table in tables:
        for row in table["rows"] if table["api"] == api else []:
            if not row.get("always"):
                continue
            for name in expanded(row["what"], functions):
                if functions[name] == "doca_error_t" and name not in row.get("but", []):
                    yield f"CALL({name}, {row['code']}, {row.get('of_null', 'DOCA_ERROR_INVALID_VALUE')}),"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--coverage", action="store_true")
    what.add_argument("--write", action="store_true")
    what.add_argument("--calls", metavar="API", choices=["2.2", "3.0"])
    parser.add_argument("--truth", type=pathlib.Path, default=TOP / "docs" / "not-built.json")
    parser.add_argument("--page", type=pathlib.Path, default=TOP / "docs" / "not-built.md")
    options = parser.parse_args()
    tables = json.loads(options.truth.read_text(encoding="utf-8"))["tables"]
    for table in tables:
        functions = functions_of(table["api"])
        for row in table["rows"]:
            try:
                check_row(row, functions)
            except Mistake as mistake:
                raise Mistake(f"{options.truth}: '{row['what']}': {mistake}") from None
    if options.coverage:
        for api in "2.2", "3.0":
            check_coverage(tables, api, exported_by(api))
        return 0
    if options.calls:
        print("\n".join(calls_of(tables, options.calls)))
        return 0
    lines = options.page.read_text(encoding="utf-8").splitlines()
    stale = []
    for table in tables:
        start, end = place_of_table(lines, table["heading"])
        if lines[start:end] != table_of(table):
            stale.append(table["heading"])
            lines[start:end] = table_of(table)
    if options.write:
        options.page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif stale:
        print(f"{options.page} is stale below '{stale[0]}': scripts/not_built.py --write")
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Mistake as complaint:
        sys.exit(str(complaint))
