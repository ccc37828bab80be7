#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""A page of docs/ as Doxygen wants it: headings that links lead to get a name, as GitHub gives each one by itself."""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r'\]\((?:[\w./-]*/)?([\w.-]+\.md)?#([\w-]+)\)')  # to a heading, of this page or of another


def name_of(page, anchor):
    """Of a heading, in all pages together."""
    return f'{pathlib.Path(page).stem.replace(".", "-")}-{anchor}'


def anchor_of(heading):
    """What GitHub makes of a heading's text."""
    return re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def main():
    path = pathlib.Path(sys.argv[1])
    text = path.read_text()
    wanted = {anchor for page in [*TOP.glob('*.md'), *TOP.glob('docs/*.md')]
              for name, anchor in LINK.findall(page.read_text()) if (name or page.name) == path.name}

    def named(match):
        anchor = anchor_of(match[2])
        return f'{match[0]} {{#{name_of(path, anchor)}}}' if anchor in wanted else match[0]

    # Doxygen loses a link whose text goes on in the next line, and the format of all that follows it.
    text = re.sub(r'\[([^\[\]\n]+)\n([^\[\]\n]+)\]\(', r'[\1 \2](', text)
    text = re.sub(r'^(#+) (.*)$', named, text, flags=re.MULTILINE)
    text = LINK.sub(lambda match: f'](#{name_of(match[1] or path, match[2])})', text)
    # Doxygen looks for a name behind two colons, also in code.
    text = re.sub(r'`::(\S+?)`', r'<code>\\::\1</code>', text)
    sys.stdout.write(text)


if __name__ == '__main__':
    main()
