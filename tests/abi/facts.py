# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The facts of doca-2.2.json or doca-3.0.json, and what a compiler must accept if a header keeps them."""
import json
import pathlib
import re
from typing import NamedTuple

# Headers for programs of older releases of a generation, which refuse all others: docs/older-apis.md.
OF_LEVELS = {"doca_cc.h", "doca_cc_consumer.h", "doca_cc_producer.h", "doca_comm_channel.h"}
FACTS_FILE = pathlib.Path(__file__).resolve().parent / "doca-2.2.json"


class Claim(NamedTuple):
    """One fact about a header: what it says, and the source line that compiles only when it holds."""
    kind: str
    label: str
    source: str


def load(path=FACTS_FILE):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def exported_functions(facts, library):
    """{function: version node} of what a library must export."""
    return {function["name"]: function["symbol_version"]
            for header in facts["headers"].values() for function in header["functions"]
            if function.get("exported_by") == library}


def records(header):
    return header["structs"] + header["unions"]


def parameters(function):
    types = [parameter["type"] for parameter in function["params"]]
    if function["variadic"]:
        types.append("...")
    return ", ".join(types) or "void"


def is_per_target(macro):
    return macro["name"].startswith("DOCA_ARCH_")


class C11:
    """How claims are put in C."""
    standard = "c11"
    language = "c"
    prelude = "#include <stddef.h>\n"

    @staticmethod
    def holds(condition):
        return f'_Static_assert({condition}, "");'

    @staticmethod
    def same_type(one, other):
        return f"__builtin_types_compatible_p(__typeof__({one}), __typeof__({other}))"

    @classmethod
    def function_has_type(cls, function):
        expected = f"expected_{function['name']}"
        return (f"{function['ret']} {expected}({parameters(function)}); "
                + cls.holds(cls.same_type(function["name"], expected)))

    @classmethod
    def field_type(cls, record, field):
        return cls.same_type(f"(({record['kind']} {record['name']} *)0)->{field['name']}", field["type"])

    @staticmethod
    def extra_claims(_name, _header):
        return []


class Cxx17:
    """How claims are put in C++, whose types are stricter: an enum is not an integer there."""
    standard = "c++17"
    language = "c++"
    prelude = ("#include <cstddef>\n#include <type_traits>\n"
               "template <typename T, typename = void> struct is_complete : std::false_type {};\n"
               "template <typename T>\n"
               "struct is_complete<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};\n")

    @staticmethod
    def holds(condition):
        return f'static_assert({condition}, "");'

    @staticmethod
    def same_type(one, other):
        return f"std::is_same<{one}, {other}>::value"

    @classmethod
    def function_has_type(cls, function):
        expected = f"{function['ret']}({parameters(function)})".replace("_Bool", "bool")
        return cls.holds(cls.same_type(f"decltype({function['name']})", expected))

    @classmethod
    def field_type(cls, record, field):
        return cls.same_type(f"decltype({record['name']}::{field['name']})", field["type"])

    @classmethod
    def extra_claims(cls, name, header):
        for enum in header["enums"]:
            underlying = f"std::underlying_type<enum {enum['name']}>::type"
            yield Claim("enums", f"{name} enum {enum['name']} is an {enum['underlying']}",
                        cls.holds(cls.same_type(underlying, enum["underlying"])))
        for opaque in header["opaque"]:
            yield Claim("opaque", f"{name} declares struct {opaque} and does not define it",
                        cls.holds(f"!is_complete<{opaque}>::value"))


LANGUAGES = (C11, Cxx17)


def record_claims(lang, name, record):
    tag = f"{record['kind']} {record['name']}"
    size, alignment = f"sizeof({tag}) == {record['size']}", f"alignof({tag}) == {record['align']}"
    if lang is C11:
        alignment = "_" + alignment.replace("alignof", "Alignof")
    yield Claim("structs", f"{name} {tag} has {record['size']} bytes, aligned to {record['align']}",
                lang.holds(f"{size} && {alignment}"))
    for field in record["fields"]:
        place = f"offsetof({tag}, {field['name']}) == {field['offset']}"
        size = f"sizeof((({tag} *)0)->{field['name']}) == {field['size']}"
        yield Claim("structs", f"{name} {tag}: {field['type']} {field['name']} at {field['offset']}",
                    lang.holds(f"{place} && {size} && {lang.field_type(record, field)}"))


def macro_claim(lang, name, macro):
    """That it is defined, and its value where that is a constant; scan.py holds the parameters."""
    value = macro.get("value", "")
    source = f"\n#ifndef {macro['name']}\n#error {macro['name']} is not defined\n#endif\n"
    if re.fullmatch(r"-? ?(0x)?[0-9a-fA-F]+", value):
        source += lang.holds(f"({macro['name']}) == ({value})")
    elif value.startswith('"'):
        characters = [f"{macro['name']}[{n}] == '{c}'" for n, c in enumerate(value.strip('"'))]
        source += lang.holds(f"sizeof({macro['name']}) == sizeof({value})")
        if lang is Cxx17:  # an element of a string is no constant in C
            source += lang.holds(" && ".join(characters))
    return Claim("macros", f"{name} {macro['name']} {value}".rstrip(), source)


def claims(lang, name, header):
    """Every claim about one header that a compiler can judge."""
    for enum in header["enums"]:
        for value in enum["values"]:
            yield Claim("enums", f"{name} {value['name']} is {value['value']}",
                        lang.holds(f"(long long)({value['name']}) == {value['value']}LL"))
    for record in records(header):
        yield from record_claims(lang, name, record)
    for function in header["functions"]:
        yield Claim("functions", f"{name} {function['ret']} {function['name']}({parameters(function)})",
                    lang.function_has_type(function))
    for typedef in header["typedefs"]:
        yield Claim("typedefs", f"{name} typedef {typedef['type']} {typedef['name']}",
                    lang.holds(lang.same_type(typedef["name"], typedef["type"])))
    for macro in header["macros"]:
        if not is_per_target(macro):
            yield macro_claim(lang, name, macro)
    yield from lang.extra_claims(name, header)
