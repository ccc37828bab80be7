#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The reference as HTML: each link within it leads to a page and to a place there.

Arguments: for each generation its pages' directory.
"""
import html.parser
import pathlib
import sys
import unittest

DIRECTORIES = []


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.places |= {attributes.get('id'), attributes.get('name')}
        if tag == 'a':
            self.links.append(attributes.get('href') or '')


class Links(unittest.TestCase):
    def test_they_lead_somewhere(self):
        for directory in DIRECTORIES:
            pages = {path.name: Page(path) for path in directory.glob('*.html')}
            self.assertGreater(len(pages), 50)
            num_places, missing = 0, set()
            for name, page in pages.items():
                for link in page.links:
                    target, _, place = link.partition('#')
                    # Doxygen leads from a header with hidden macros alone to a list that it does not write.
                    if ':' in target or not (target or place) or place == 'define-members':
                        continue
                    num_places += place != ''
                    is_there = (target or name) in pages and (not place or place in pages[target or name].places)
                    # Pages lead to files of the source tree as well, which the reference has not.
                    if not is_there and (target.endswith(('.html', '.md')) or place):
                        missing.add(f'{name}: {link}')
            self.assertGreater(num_places, 1000)
            self.assertEqual(missing, set())


if __name__ == '__main__':
    DIRECTORIES = [pathlib.Path(directory) for directory in sys.argv[1:]]
    unittest.main(argv=sys.argv[:1])
