# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Holds the libraries of an installed tree against the facts."""
import os
import re

from elf import Elf
from facts import exported_functions

# Of ours, and not of the original's: they take nothing from a program. For older APIs, see docs/older-apis.md.
OWN_NODES = {name: {"INTERNAL"} for name in ("libdoca_comm_channel", "libdoca_comch", "libdoca_rdma", "libdoca_argp")}
# And what our own libraries have of each other: docs/versioning.md.
RELEASE_NODE = re.compile(r"OPENDOCA_\d+\.\d+\.\d+")


def is_private(node):
    return node == "INTERNAL" or RELEASE_NODE.fullmatch(node) is not None


def is_link_to(directory, link, target):
    """Whether the link leads to the target by its own name: a tree with such links can be moved."""
    path = os.path.join(directory, link)
    return (os.path.islink(path) and not os.path.isabs(os.readlink(path))
            and os.path.realpath(path) == os.path.realpath(os.path.join(directory, target)))


def check_files(directory, name, soname, version):
    real_name = f"{soname[:-len('.2')]}.{version}"
    path = os.path.join(directory, real_name)
    yield "files", f"{name} is the file {real_name}", os.path.isfile(path) and not os.path.islink(path)
    for link in (soname, f"{name}.so"):
        yield "files", f"{name} has the link {link}", is_link_to(directory, link, real_name)
    if name == "libdoca_common" and version.startswith("2."):
        leads_there = is_link_to(directory, "libdoca_core.so", real_name)
        yield "files", "libdoca_core.so leads to libdoca_common", leads_there


def check_dynamic_section(elf, name, fact):
    nodes = set(fact["version_nodes"])
    have = elf.defined_nodes()
    if name == "libdoca_common":
        of_release = {node for node in have if RELEASE_NODE.fullmatch(node)}
        yield "sonames", f"{name} defines one version node of the release", len(of_release) == 1
        have -= of_release
    soname = fact["soname"]
    yield "sonames", f"{name} has the soname {soname}, not '{elf.soname}'", elf.soname == soname
    for node in sorted(nodes | have - OWN_NODES.get(name, set())):
        says = "defines" if node in nodes else "does not define"
        yield "sonames", f"{name} {says} the version node {node}", (node in nodes) == (node in have)
    yield "sonames", f"{name} binds all symbols at start", elf.binds_now
    paths = elf.search_paths
    yield "sonames", f"{name} has no search path of its own {paths or ''}".rstrip(), not paths


def check_symbols(elf, name, functions):
    have = {symbol.name: symbol for symbol in elf.defined()}
    for function, node in sorted(functions.items()):
        symbol = have.get(function)
        holds = symbol is not None and symbol.version == node and symbol.is_default
        yield "symbols", f"{name} exports {function}@@{node}", holds
    for symbol in sorted(have.values()):
        if not is_private(symbol.version) and symbol.name not in functions:
            what = f"{symbol.name}@{symbol.version}"
            yield "extra", f"{name} exports {what}, which no header of it declares", False
        if is_private(symbol.version) and symbol.name.startswith("doca_"):
            yield "extra", f"{name} exports {symbol.name}, a public name, to our own libraries alone", False
        if symbol.version == "INTERNAL" and symbol.name.startswith("_Z"):
            yield "extra", f"{name} exports the C++ symbol {symbol.name} without its release", False


def check_library(facts, name, directory):
    """(kind, label, whether it holds) for each fact; a missing one has that fact alone."""
    fact = facts["libraries"][name]
    path = os.path.join(directory, fact["soname"])
    is_there = os.path.exists(path)
    yield "libraries", f"{name} is installed", is_there
    if not is_there:
        return
    yield from check_files(directory, name, fact["soname"], facts["api"])
    elf = Elf(path)
    yield from check_dynamic_section(elf, name, fact)
    yield from check_symbols(elf, name, exported_functions(facts, name))
