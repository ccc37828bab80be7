#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""No link in the documentation leads to nothing: files, and headings within them. Argument: the project's directory."""
import hashlib
import pathlib
import re
import sys
import unittest

TOP = pathlib.Path()
LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')  # of images, too


def without_code(text):
    text = re.sub(r'^```.*?^```', '', text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r'`[^`\n]*`', '', text)


def anchors(text):
    """What GitHub makes of the headings."""
    found = {}
    for heading in re.findall(r'^#+ +(.*?)\s*$', re.sub(r'^```.*?^```', '', text, flags=re.DOTALL | re.MULTILINE),
                              flags=re.MULTILINE):
        name = re.sub(r'[^\w\- ]', '', re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).lower()).replace(' ', '-')
        count = found.get(name, 0)
        found[name] = count + 1
        yield name if count == 0 else f'{name}-{count}'


class Drawings(unittest.TestCase):
    def test_none_is_older_than_its_source(self):
        sources = sorted((TOP / 'docs/drawings').glob('*.dot'))
        self.assertTrue(sources)
        for source in sources:
            made_of = hashlib.sha256(source.read_bytes()).hexdigest()
            self.assertIn(f'SHA-256 {made_of}', source.with_suffix('.svg').read_text(), f'scripts/draw.sh makes {source.stem} anew')


class Links(unittest.TestCase):
    def test_each_leads_somewhere(self):
        broken = []
        checked = 0
        pages = [page for page in TOP.rglob('*.md') if not any(part.startswith(('.', 'build')) for part in
                                                               page.relative_to(TOP).parts)]
        for page in sorted(pages):
            for target in LINK.findall(without_code(page.read_text())):
                if re.match(r'[a-z]+:', target):
                    continue
                checked += 1
                path, _, anchor = target.partition('#')
                file = (page.parent / path) if path else page
                if not file.exists():
                    broken.append(f'{page.relative_to(TOP)}: {target}: no such file')
                elif anchor and anchor not in set(anchors(file.read_text())):
                    broken.append(f'{page.relative_to(TOP)}: {target}: no such heading')
        self.assertGreater(checked, 50)
        self.assertEqual(broken, [])

    def test_the_list_of_pages_has_each_page(self):
        self.assertIn('docs/README.md', LINK.findall((TOP / 'README.md').read_text()))
        listed = {target.partition('#')[0] for target in LINK.findall((TOP / 'docs/README.md').read_text())}
        self.assertEqual([page.name for page in sorted((TOP / 'docs').glob('*.md'))
                          if page.name not in listed | {'README.md'}], [])


if __name__ == '__main__':
    TOP = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
