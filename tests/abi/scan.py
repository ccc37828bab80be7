# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What a header itself declares, by the preprocessor's output: whatever the facts do not know is extra."""
import os
import re
from typing import NamedTuple

from compiler import ALLOWED
from facts import C11, is_per_target

# doca_build_config.h by the compiler's target: the facts are those of x86-64.
PER_TARGET = {"x86_64": {"DOCA_ARCH_HOST", "DOCA_ARCH_X86"}, "aarch64": {"DOCA_ARCH_DPU", "DOCA_ARCH_ARM"}}


class Declared(NamedTuple):
    functions: set
    enumerators: set
    macros: dict  # name: its parameters, or None when it takes none


def own_text(preprocessed, name):
    """The part of the preprocessor's output that comes from the header and not from what it includes."""
    lines, is_own = [], False
    for line in preprocessed.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            is_own = os.path.basename(marker.group(1)) == name
        elif is_own:
            lines.append(line)
    return "\n".join(lines)


def declared(compilers, name):
    result = compilers.run(C11, f"#include <{name}>\n", ["-E", "-dD", ALLOWED])
    text = own_text(result.stdout, name)
    macros = {}
    for macro, has_params, params in re.findall(r"^#define (\w+)(\(([^)]*)\))?", text, re.M):
        macros[macro] = [param.strip() for param in params.split(",")] if has_params else None
    code = re.sub(r"^#.*$", "", text, flags=re.M)
    enumerators = set()
    for body in re.findall(r"\benum\s+\w*\s*\{([^}]*)\}", code):
        enumerators.update(re.findall(r"(?:^|,)\s*(\w+)", body))
    flat = code
    while re.search(r"\{[^{}]*\}", flat):  # what is inside of braces is used there, not declared
        flat = re.sub(r"\{[^{}]*\}", ";", flat)
    flat = re.sub(r"\btypedef\b[^;]*;", ";", flat)
    return Declared(set(re.findall(r"\b(doca_\w+)\s*\(", flat)), enumerators, macros)


def differences(compilers, name, header):
    """(kind, label, whether it holds): what is declared and no fact knows, and the parameters of macros."""
    have = declared(compilers, name)
    known = {
        "functions": {function["name"] for function in header["functions"]},
        "enumerators": {value["name"] for enum in header["enums"] for value in enum["values"]},
    }
    for what, names in known.items():
        for extra in sorted(getattr(have, what) - names):
            yield "extra", f"{name} declares {extra}, which is none of its {what}", False
    public = {macro["name"]: macro for macro in header["macros"]}
    allowed = set(public) | {header["guard"]}
    if any(is_per_target(macro) for macro in header["macros"]):
        other_targets = set.union(*PER_TARGET.values())
        allowed = PER_TARGET[compilers.target()] | (set(public) - other_targets)
        yield "macros", f"{name} defines {' and '.join(sorted(allowed))}", allowed <= set(have.macros)
    for macro in sorted(set(have.macros) - allowed):
        if macro.endswith("_"):  # a helper of a header of ours, not to be used elsewhere
            continue
        yield "extra", f"{name} defines the macro {macro}", False
    for macro, fact in public.items():
        if "params" in fact and macro in have.macros:
            params = have.macros[macro]
            label = f"{name} {macro} takes ({', '.join(fact['params'])})"
            yield "macros", label, params is not None and accepts(params, fact["params"])


def accepts(params, wanted):
    """Whether a macro can be called as the facts have it: `...` takes any number of arguments."""
    if params and params[-1] == "...":
        return "..." in wanted and len(params) <= len(wanted)
    return len(params) == len(wanted)
