#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Prints the ninja targets that some tests of a build tree need, one per line.

  targets_of_tests.py BUILD [--suite SUITE]... [--no-suite SUITE]... [NAME...]

Selects as `meson test` does: the tests of the suites that are not left out, or of all suites, and if there are names,
only these. --default-of FOLDER adds what a plain `ninja` builds below a folder of the sources, for example src.
"""
import argparse
import json
import os
import sys


def load(build, name):
    """Returns what meson has stored about the build tree (meson-info/NAME.json)."""
    with open(os.path.join(build, 'meson-info', f'{name}.json'), encoding='utf-8') as file:
        return json.load(file)


def selects(options, test):
    """Returns whether the options select a test, by the rules of `meson test`."""
    suites = {suite.split(':')[-1] for suite in test['suite']}
    if suites & set(options.no_suite) or (options.suite and not suites & set(options.suite)):
        return False
    return not options.names or test['name'] in options.names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('--suite', action='append', default=[])
    parser.add_argument('--no-suite', action='append', default=[])
    parser.add_argument('--default-of', metavar='FOLDER', action='append', default=[])
    parser.add_argument('names', metavar='NAME', nargs='*')
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    if not os.path.exists(os.path.join(build, 'meson-info', 'intro-tests.json')):
        sys.exit(f'{build}: not a build tree of meson')
    source = load(build, 'meson-info')['directories']['source']
    tests = [test for test in load(build, 'intro-tests') if selects(options, test)]
    missing = set(options.names) - {test['name'] for test in tests}
    if missing or not tests:
        sys.exit(f'{build}: no such tests: {", ".join(sorted(missing)) or "in these suites"}')
    needed = {target for test in tests for target in test['depends']}
    for target in load(build, 'intro-targets'):
        # The first component of the path of the target's meson.build, as --default-of names it.
        folder = os.path.relpath(target['defined_in'], source).split(os.sep)[0]
        if target['id'] in needed or (folder in options.default_of and target['build_by_default']):
            print(*(os.path.relpath(name, build) for name in target['filename']), sep='\n')


if __name__ == '__main__':
    main()
