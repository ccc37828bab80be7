#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Each message that docs/troubleshooting.md explains is one that the libraries have. Argument: the project's directory."""
import pathlib
import re
import sys
import unittest

TOP = pathlib.Path()
TEXT = r'"((?:[^"\\]|\\.)*)"'
FORMAT = r'%[-+#0]*\d*(?:\.\d+|\.\*)?(?:hh|h|ll|l|z|t|j)?[diouxXcsp]|%'


def messages_of_the_libraries():
    """Texts in the sources; neighbours make one text, and what stands between them in an expression is a value."""
    for file in sorted((TOP / 'src').rglob('*.[ch]pp')):
        source = re.sub(r"//.*|'\"'|'\\\"'", '', file.read_text())
        # PRIu64 and its like stand between two texts of one message.
        source = re.sub(r'"\s*PRI\w+\s*"', '', source)
        source = re.sub(r'"\s*PRI\w+', '"', source)
        for found in re.finditer(TEXT + r'(?:\s*(?:\+\s*[\w:.()]+\s*\+)?\s*' + TEXT + ')*', source):
            yield re.sub(FORMAT, ' ', ' '.join(re.findall(TEXT, found.group())).replace('\\"', '"'))


class Messages(unittest.TestCase):
    def test_each_exists(self):
        page = (TOP / 'docs' / 'troubleshooting.md').read_text()
        rows = [re.match(r'\| `([^`]+)`', line)
                for table in page.split('| message |')[1:] for line in table.splitlines()]
        explained = [row.group(1) for row in rows if row]
        explained += re.findall(r'`(waiting for [^`]+)`', page)
        self.assertGreater(len(explained), 25)
        known = [re.sub(r'\s+', '', text) for text in messages_of_the_libraries()]
        missing = []
        for message in explained:
            pieces = [re.sub(r'\s+', '', piece) for piece in message.split('...')]
            pattern = re.compile('.*'.join(re.escape(piece) for piece in pieces))
            if not any(pattern.search(text) for text in known):
                missing.append(message)
        self.assertEqual(missing, [])


if __name__ == '__main__':
    TOP = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
