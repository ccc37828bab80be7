# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Libraries with the names and the version nodes of the original and nothing in them, made from the facts."""
import pathlib
import subprocess

from facts import exported_functions
from programs import compiler_of

BUILT = ("libdoca_common", "libdoca_argp", "libdoca_dma", "libdoca_sha", "libdoca_compress", "libdoca_erasure_coding",
         "libdoca_comm_channel", "libdoca_rdma")
LINK_FLAGS = [f"-l{name[len('lib'):]}" for name in BUILT]


def version_script(fact, functions):
    if not fact["version_nodes"]:
        return "{\nglobal:\n    *;\n};\n"
    nodes = []
    for node in fact["version_nodes"]:
        names = sorted(name for name, version in functions.items() if version == node)
        globals_ = "".join(f"    {name};\n" for name in names)
        nodes.append(f"{node} {{\n" + (f"global:\n{globals_}" if names else "") + "};\n")
    return "".join(nodes)


def make(facts, directory):
    """Write every library of BUILT into the directory, with the links that a linker and a loader look for."""
    directory = pathlib.Path(directory)
    directory.mkdir()
    for library in BUILT:
        fact, functions = facts["libraries"][library], exported_functions(facts, library)
        script, source = directory / f"{library}.map", directory / f"{library}.c"
        script.write_text(version_script(fact, functions), encoding="utf-8")
        definitions = [f"long {f}(void);\nlong {f}(void) {{ return 0; }}\n" for f in sorted(functions)]
        source.write_text("".join(definitions), encoding="utf-8")
        subprocess.run([*compiler_of(source), "-shared", "-fPIC", "-fno-builtin", source, "-o",
                        directory / fact["soname"], f"-Wl,-soname,{fact['soname']}",
                        f"-Wl,--version-script={script}", "-Wl,-z,now"], check=True)
        (directory / f"{library}.so").symlink_to(fact["soname"])
    return directory


def every_symbol_source(facts):
    """A program that refers to each function of these libraries: it starts only where all of them are."""
    names = sorted(name for library in BUILT for name in exported_functions(facts, library))
    declarations = "".join(f"extern char {name}[];\n" for name in names)
    table = "".join(f"    {name},\n" for name in names)
    return (f"#include <stdio.h>\n{declarations}char *volatile table[] = {{\n{table}}};\n"
            "int main(void)\n{\n    size_t there = 0;\n"
            "    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)\n"
            "        there += table[i] != NULL;\n"
            '    printf("%zu functions\\n", there);\n    return 0;\n}\n')
