#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""docs/not-built.md names, for DOCA 3.0, functions that there are, and each that its conformance test knows to be not built,
with the code that it answers there. Arguments: the project's directory and the facts of 3.0.
"""
import fnmatch
import json
import pathlib
import re
import sys
import unittest

TOP, FACTS = pathlib.Path(), pathlib.Path()


def functions_of_the_facts():
    facts = json.loads(FACTS.read_text())
    return {function['name'] for header in facts['headers'].values() for function in header['functions']}


def calls_of_the_test():
    """Each function of test_not_built.cpp, with its answer to arguments that are there."""
    source = (TOP / 'tests' / 'conformance' / 'v3' / 'test_not_built.cpp').read_text()
    for name, code in re.findall(r'^ +CALL\((\w+)(?:, (\w+))?.*\),?$', source, re.MULTILINE):
        yield name, code or 'DOCA_ERROR_NOT_SUPPORTED'


def expanded(words, functions):
    """The functions that the words of a row name: in full, by a *, or by what replaces the end of the one before."""
    named, before = set(), ''
    for word in words:
        patterns = [word]
        if word.startswith('_'):
            parts = before.split('_')
            patterns = ['_'.join(parts[:length]) + word for length in range(len(parts), 0, -1)]
        elif not word.startswith(('doca_', '*')):
            continue
        found = next((match for pattern in patterns if (match := fnmatch.filter(functions, pattern))), [])
        if not found:
            raise AssertionError(f'{word} is no function of DOCA 3.0')
        before = found[0] if '*' not in word else word
        named |= set(found)
    return named


class NotBuilt(unittest.TestCase):
    maxDiff = None

    def test_the_page_says_what_the_test_knows(self):
        functions = functions_of_the_facts()
        page = (TOP / 'docs' / 'not-built.md').read_text()
        section = re.search(r'^## DOCA 3\.0$(.*?)^## ', page, re.MULTILINE | re.DOTALL).group(1)
        answers = {}
        for what, answer in re.findall(r'^\| (.*?) \| (.*) \|$', section, re.MULTILINE):
            for name in expanded(re.findall(r'`([\w*]+)`', what), functions):
                answers[name] = answer
        calls = dict(calls_of_the_test())
        self.assertGreater(len(calls), 70)
        wrong = {name: code for name, code in calls.items() if code not in answers.get(name, '')}
        self.assertEqual(wrong, {})


if __name__ == '__main__':
    TOP, FACTS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
