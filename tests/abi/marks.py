# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Which functions a compiler warns about when the program has not allowed experimental API."""
from compiler import failing, unit
from facts import C11, Claim


def check(compilers, name, header):
    """(kind, label, whether it holds): without the macro experimental functions are deprecated, no others."""
    functions = header["functions"]
    uses = [Claim("marks", f"{name} {function['name']} is {function['stability']}",
                  f"void *use_{function['name']}(void); "
                  f"void *use_{function['name']}(void) {{ return (void *)&{function['name']}; }}")
            for function in functions]
    if not uses:
        return
    result = compilers.run(C11, unit(C11, name, uses), ["-fsyntax-only", "-Werror=deprecated-declarations"])
    warned = failing(result.stderr, uses)
    for number, (use, function) in enumerate(zip(uses, functions)):
        yield use.kind, use.label, (number in warned) == (function["stability"] == "experimental")
