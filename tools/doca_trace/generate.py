#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Generates the stubs of doca_trace and the tables that describe the functions of both API generations: parameters, results
and the names of enumerations. The input is the facts of each generation, as tests/abi has them.

    generate.py FACTS_2.2 FACTS_3.0 OUTPUT.cpp
"""
import json
import pathlib
import re
import sys

INTEGERS = {
    'uint8_t': 'unsigned8', 'uint16_t': 'unsigned16', 'uint32_t': 'unsigned32', 'uint64_t': 'unsigned64',
    'size_t': 'unsigned64', 'uintptr_t': 'hexadecimal', 'int': 'signed32', '_Bool': 'boolean',
    'unsigned int': 'unsigned32', 'int32_t': 'signed32', 'int64_t': 'signed64',
}

MAX_PARAMETERS = 10  # of a function, also in trace.hpp


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


class Generation:
    """The functions, typedefs and enumerations of one API generation, read from its facts."""

    def __init__(self, path):
        headers = json.loads(pathlib.Path(path).read_text())['headers'].values()
        self.functions = {function['name']: function for header in headers for function in header['functions']
                          if function.get('exported_by')}
        self.typedefs = {typedef['name']: typedef['type'] for header in headers for typedef in header['typedefs']}
        self.enums = {enum['name']: enum['values'] for header in headers for enum in header['enums'] if enum['name']}

    def resolved(self, kind):
        """Returns the type behind typedefs."""
        while kind in self.typedefs:
            kind = self.typedefs[kind]
        return kind

    def scalar(self, kind):
        """Returns (format of a value of the type, its enumeration), or None if the type is no scalar."""
        kind = self.resolved(kind.removeprefix('const '))
        if kind in INTEGERS:
            return INTEGERS[kind], None
        if kind == 'union doca_data':
            return 'hexadecimal', None
        name = kind.removeprefix('enum ')
        if kind.startswith('enum ') and name in self.enums:
            return 'enumeration', name
        return None

    def shown(self, kind):
        """Returns (format of a parameter, its enumeration, whether it is an output)."""
        by_value = self.scalar(kind)
        if by_value:
            return (*by_value, False)
        kind = self.resolved(kind)
        if kind == 'const char *':
            return 'text', None, False
        if '(' in kind or re.fullmatch(r'\w+_cb(_t)? \*', kind):
            return 'callback', None, False
        if kind in ('const struct doca_job *', 'struct doca_event *'):
            return ('job', None, False) if 'job' in kind else ('event', None, True)
        if kind.endswith('*') and not kind.startswith('const '):
            pointed = kind[:-1].strip()
            if pointed == 'char':
                return 'buffer', None, True
            if pointed.endswith('*'):
                return 'out_pointer', None, True
            scalar = self.scalar(pointed)
            if scalar:
                return 'out_' + scalar[0], scalar[1], True
        if kind.startswith('const ') and kind.endswith('**'):
            return 'out_pointer', None, True
        return 'pointer', None, False

    def returned(self, kind):
        """Returns (format of a result, its enumeration)."""
        if kind == 'void':
            return 'nothing', None
        if kind == 'const char *':
            return 'text', None
        return self.scalar(kind) or ('pointer', None)


def main():
    generations = [Generation(path) for path in sys.argv[1:3]]
    names = sorted(name for generation in generations for name, function in generation.functions.items()
                   if not function['variadic'])
    # The order of all tables. An index means the same function in each of them; a generation without it has an empty entry.
    names = sorted(set(names))
    lines = ['// Made by generate.py.', '#include "trace.hpp"', '', 'namespace trace {', 'namespace {', '']
    tables = []
    for number, generation in enumerate(generations, 2):
        used = {}
        entries = []
        for name in names:
            function = generation.functions.get(name)
            if function is None or function['variadic']:
                entries.append('    {},')
                continue
            if len(function['params']) > MAX_PARAMETERS:
                sys.exit(f'generate.py: {name} has more than {MAX_PARAMETERS} parameters')
            parameters = []
            for parameter in function['params']:
                shown, enum, _ = generation.shown(parameter['type'])
                if enum:
                    used[enum] = generation.enums[enum]
                table = f'values_{number}_{enum}' if enum else '{}'
                parameters.append(f'{{{quoted(parameter["name"] or "")}, Shown::{shown}, {table}}}')
            returned, enum = generation.returned(function['ret'])
            if enum:
                used[enum] = generation.enums[enum]
            table = f'values_{number}_{enum}' if enum else '{}'
            listed = f'parameters_{number}_{name}' if parameters else '{}'
            if parameters:
                tables.append(f'const Parameter {listed}[] = {{{", ".join(parameters)}}};')
            entries.append(f'    {{{quoted(name)}, Shown::{returned}, {table}, {listed}}},')
        enums = []
        for enum, values in sorted(used.items()):
            rows = ', '.join(f'{{{value["value"]}, {quoted(value["name"])}}}' for value in values)
            enums.append(f'const Value values_{number}_{enum}[] = {{{rows}}};')
        tables = enums + tables
        tables += ['', f'const Function functions_{number}[] = {{', *entries, '};', '']
        lines += tables
        tables = []
    lines += ['} // namespace', '', 'const std::span<const Function> functions_of_2{functions_2};',
              'const std::span<const Function> functions_of_3{functions_3};', '', 'const char *const names[] = {',
              *[f'    {quoted(name)},' for name in names], '};', 'const std::size_t num_names = std::size(names);', '',
              '} // namespace trace', '',
              '// Each parameter of either API is an integer, a pointer or a union of these, and no function has more than',
              '// max_parameters: all of them can be called through one type.',
              f'static_assert(trace::max_parameters == {MAX_PARAMETERS});',
              '#define STUB(NAME, INDEX)                                                                          \\',
              '    extern "C" __attribute__((visibility("default"))) std::uintptr_t NAME(                          \\',
              f'        {", ".join(f"std::uintptr_t a{i}" for i in range(MAX_PARAMETERS))}) \\',
              '    {                                                                                               \\',
              f'        return trace::call(INDEX, {{{", ".join(f"a{i}" for i in range(MAX_PARAMETERS))}}}); \\',
              '    }', '']
    lines += [f'STUB({name}, {index})' for index, name in enumerate(names)]
    pathlib.Path(sys.argv[3]).write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
