#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Writes the table of functions that tests/arguments calls, from the facts of an API and the text of its headers.

    generate.py FACTS HEADERS OUTPUT

The facts have the names and types. The text of the headers has the rest, so that it is tested as well:
  may be NULL       the parameter's text says that NULL is allowed, or the text of DOCA_ERROR_INVALID_VALUE names others
  not checked       the parameter's text says "undefined": no wrong value is tried for it
  refuses all       the function's text says that it refuses NULL with another code
  ends the process  the header's text says so
  waits             the function's text begins with that it waits or blocks
"""
import json
import os
import re
import sys

CALLBACK = re.compile(r"(_cb_t|_callback_t|callback_func|_callback)( \*)?$")
COMMENT = re.compile(r"/\*\*(.*?)\*/\s*([^;{]*?)\b(doca_\w+)\(", re.S)
NOT_NULL = re.compile(r"\b(not|neither)( be)? NULL\b", re.I)
ALLOWED = re.compile(r"NULL is allowed|may be NULL|NULL if not wanted", re.I)
REFUSES_ALL = re.compile(r"also for NULL|NOT_SUPPORTED, always|DOCA_ERROR_(?!INVALID_VALUE)\w+: \w+ is NULL")
WAITS = re.compile(r"\s*(Waits?|Blocks?|As doca_\w*_wait\w*)\b")


def texts_of(path):
    """The comment of each function of a header, on one line."""
    with open(path, encoding="utf-8") as file:
        content = file.read()
    found = {}
    for comment, before, name in COMMENT.findall(content):
        if "#" not in before and "/*" not in before:
            found.setdefault(name, " ".join(re.sub(r"^\s*\* ?", "", line) for line in comment.split("\n")))
    return found


def parameter_text(text, name):
    found = re.search(r"@param\s+(?:\[([a-z,]+)\]\s+)?" + re.escape(name) + r"\s(.*?)(?=@param|@return|$)", text)
    return (found.group(1) or "", found.group(2)) if found else ("", "")


def named_as_required(text, names):
    """The parameters of which the text of INVALID_VALUE says that they are not NULL; None if it does not say which."""
    found = re.search(r"DOCA_ERROR_INVALID_VALUE: (.*?)(?= - DOCA_|@|$)", text)
    if not found or re.search(r"\b(an?|any) (argument|pointer|callback)\b[^.;]*NULL", found.group(1)):
        return None
    lists = re.findall(r"((?:\w+, )*(?:\w+ (?:or|and) )?\w+) (?:is |are )?NULL", found.group(1))
    named = {word for words in lists for word in re.findall(r"\w+", words)} & set(names)
    return named or None


def with_reference(text, texts):
    """Where the text of a function says "As f()", what it leaves out is in that of f."""
    found = re.search(r"\bAs (doca_\w+)\(\)", text)
    if found and "DOCA_ERROR_INVALID_VALUE" not in text:
        errors = re.search(r"- DOCA_ERROR_INVALID_VALUE.*", texts.get(found.group(1), ""))
        return text + " " + (errors.group(0) if errors else "")
    return text


def kind_of(kind):
    plain = re.sub(r"\bconst\b", "", kind).replace("  ", " ").strip()
    if CALLBACK.search(plain):
        return "callback", ""
    found = re.fullmatch(r"struct (\w+) \*", plain)
    if found:
        return "object", found.group(1)
    if re.fullmatch(r"struct (\w+) \*\*", plain) and "**" in plain:
        return "slot", plain.split()[1]
    if plain == "char *":
        return ("text" if "const" in kind else "memory"), ""
    if plain.endswith("[]"):
        return "memory", ""
    if plain.endswith("*"):
        return ("object", plain[:-1].strip()) if plain in ("FILE *", "char **") else ("memory", "")
    if plain.startswith("union"):
        return "number", ""
    return ("enumeration" if plain.startswith("enum") or plain == "doca_error_t" else "number"), ""


def row_of(function, header, text, ends_process):
    names = [parameter["name"] for parameter in function["params"]]
    required = named_as_required(text, names)
    arguments = []
    for parameter in function["params"]:
        kind, of_type = kind_of(parameter["type"])
        direction, words = parameter_text(text, parameter["name"])
        is_pointer = kind not in ("number", "enumeration")
        may_be_null = bool(ALLOWED.search(words))
        if direction != "out":
            may_be_null = may_be_null or ("NULL" in words and not NOT_NULL.search(words))
        if kind == "callback":
            may_be_null = may_be_null or required is None or parameter["name"] not in required
        if required is not None and parameter["name"] not in required and not NOT_NULL.search(words):
            may_be_null = True
        arguments.append('{"%s", "%s", Kind::%s, %s, %s, %s}' % (
            parameter["name"], of_type, kind, "true" if is_pointer and not may_be_null else "false",
            "true" if direction == "out" and is_pointer else "false", "true" if "undefined" in words else "false"))
    refuses_all = bool(REFUSES_ALL.search(text))
    return '    {"%s", "%s", [](const Word *words) { return invoke(&%s, words); }, %s, %s, %s, {%s}},' % (
        function["name"], header, function["name"], "true" if WAITS.match(text) else "false",
        "true" if refuses_all else "false", "true" if ends_process else "false", ", ".join(arguments))


def main():
    facts_path, headers, output = sys.argv[1:]
    with open(facts_path, encoding="utf-8") as file:
        facts = json.load(file)
    rows, includes = [], []
    for header, content in facts["headers"].items():
        path = os.path.join(headers, header)
        if not content["functions"] or not os.path.exists(path):
            continue
        includes.append(f"#include <{header}>")
        texts = texts_of(path)
        with open(path, encoding="utf-8") as file:
            ends = set(re.findall(r"\b(doca_\w+)\(\) end the process", " ".join(file.read().split())))
        rows += [row_of(function, header, with_reference(texts.get(function["name"], ""), texts), function["name"] in ends)
                 for function in content["functions"] if function.get("exported_by") or function["inline"]]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(includes) + '\n\n#include "arguments.hpp"\n\nnamespace arguments {\n\n'
                   "const std::vector<Function> functions{\n" + "\n".join(rows) + "\n};\n\n} // namespace arguments\n")


main()
