#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The reference of one API generation from the comments in its headers: manual pages, or HTML with search."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import man3

# The newest level of each API's headers (opendoca/level.h), and headers that only older levels have.
NEWEST_LEVEL = {'2.2': 20200, '3.0': 30000}
OF_LEVELS = {'2.2': set(), '3.0': {'doca_cc.h', 'doca_cc_consumer.h', 'doca_cc_producer.h', 'doca_comm_channel.h'}}

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]


def run_doxygen(program, settings):
    """Runs Doxygen. Every warning is an error with the releases that CI has; others have warnings of their own."""
    config = (HERE / 'Doxyfile.in').read_text()
    config += ''.join(f'{name} {value}\n' if name.endswith('=') else f'{name} = {value}\n' for name, value in settings.items())
    done = subprocess.run([program, '-'], input=config, text=True, capture_output=True, cwd=TOP, check=False)
    version = subprocess.run([program, '--version'], text=True, capture_output=True, check=True).stdout
    if done.returncode == 0 and not version.startswith('1.9.4'):
        print(done.stderr, end='')
        return
    if done.returncode != 0 or done.stderr:
        sys.exit(f'{done.stderr}{program} has warnings or has failed ({done.returncode})')


def quoted(paths):
    return ' '.join(f'"{path}"' for path in paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--doxygen', default='doxygen', help='the program')
    parser.add_argument('--api', required=True, help='the release of DOCA, for instance 2.2')
    parser.add_argument('--include', required=True, type=pathlib.Path, help='directory of its headers')
    parser.add_argument('--section', default='3', help='section of the manual pages, for instance 3doca')
    parser.add_argument('--date', default='', help='the date in the manual pages')
    parser.add_argument('--depfile', type=pathlib.Path, help='for ninja: what the output was made from')
    parser.add_argument('kind', choices=['man', 'html'])
    parser.add_argument('output', type=pathlib.Path, help='directory that is made anew')
    options = parser.parse_args()

    headers = sorted(path for path in options.include.resolve().glob('doca_*.h') if path.name not in OF_LEVELS[options.api])
    pages = [*sorted(TOP.glob('*.md')), *sorted((TOP / 'docs').glob('*.md'))]
    inputs = headers if options.kind == 'man' else [*headers, *pages]
    with tempfile.TemporaryDirectory() as scratch:
        run_doxygen(options.doxygen, {
            'PREDEFINED +=': f'OPENDOCA_LEVEL={NEWEST_LEVEL[options.api]}',
            'PROJECT_NUMBER': f'"for DOCA {options.api}"',
            'INPUT': quoted(inputs),
            # With its path: docs has a README.md, too.
            'USE_MDFILE_AS_MAINPAGE': quoted([TOP / 'README.md']),
            'FILTER_PATTERNS': f'"*.md={HERE / "page.py"}"',
            'STRIP_FROM_PATH': quoted([options.include.resolve(), TOP]),
            'OUTPUT_DIRECTORY': scratch,
            'GENERATE_XML': 'YES' if options.kind == 'man' else 'NO',
            'GENERATE_HTML': 'YES' if options.kind == 'html' else 'NO',
        })
        shutil.rmtree(options.output, ignore_errors=True)
        if options.kind == 'html':
            shutil.move(f'{scratch}/html', options.output)
        else:
            man3.Manual(f'{scratch}/xml', options.output, options.api, options.section, options.date).write_all()
    if options.depfile:
        made_from = [*inputs, HERE / 'Doxyfile.in', HERE / 'man3.py', HERE / 'page.py']
        options.depfile.write_text(f'{options.output}: {" ".join(str(path) for path in made_from)}\n')


if __name__ == '__main__':
    main()
