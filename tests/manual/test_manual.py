#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The manual pages of both generations: one for each public function, correct roff, no reference into nothing.

Arguments: for each generation its facts, its pages' directory and its section.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

GENERATIONS = []


def rendered(page):
    text = subprocess.run(['mandoc', '-T', 'utf8', '-O', 'width=1000', page], capture_output=True, text=True,
                          check=True).stdout
    return re.sub('.\b', '', text)


class Pages(unittest.TestCase):
    @staticmethod
    def each():
        for facts, pages, section in GENERATIONS:
            yield json.loads(pathlib.Path(facts).read_text()), pathlib.Path(pages), section

    def test_each_public_function_has_one(self):
        for facts, pages, section in self.each():
            functions = {function['name'] for header in facts['headers'].values() for function in header['functions']
                         if function.get('exported_by')}
            self.assertGreater(len(functions), 200)
            self.assertEqual([name for name in sorted(functions) if not (pages / f'{name}.{section}').exists()], [])

    def test_each_header_has_one(self):
        for facts, pages, section in self.each():
            self.assertEqual([name for name in sorted(facts['headers']) if not (pages / f'{name}.{section}').exists()],
                             [])

    def test_they_are_correct(self):
        for _, pages, _ in self.each():
            done = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning', *sorted(pages.iterdir())],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout + done.stderr, '')

    def test_they_name_only_pages_that_exist(self):
        for _, pages, section in self.each():
            names = {page.name.removesuffix('.' + section) for page in pages.iterdir()}
            missing = set()
            for page in pages.iterdir():
                text = page.read_text().replace('\\fR', '').replace('\\fB', '').replace('\\-', '-')
                missing |= set(re.findall(r'([\w.]+)\(' + section + r'\)', text)) - names
            self.assertEqual(missing, set())

    def test_a_page_says_what_the_header_says(self):
        for _, pages, section in self.each():
            page = rendered(pages / f'doca_mmap_set_memrange.{section}')
            for part in ('doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);',
                         '#include <doca_mmap.h>', 'PARAMETERS', 'len (in)', 'ERRORS',
                         'DOCA_ERROR_NOT_PERMITTED', 'libdoca_common', f'doca_mmap.h({section})'):
                self.assertIn(part, page)


if __name__ == '__main__':
    arguments = sys.argv[1:]
    GENERATIONS += zip(arguments[0::3], arguments[1::3], arguments[2::3])
    unittest.main(argv=sys.argv[:1])
