#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The comments of src/ and tools/, the log messages and the pages of docs/ use the field's plain terms.

Objects do not tell, say, know or hear, and the subject of a sentence is a thing and not "who". A few such words are right
(a page says; a name that is known); more than a few per 10,000 words mean that a private way of writing has come back.

    test_prose.py SOURCE_ROOT [--list]    with --list: prints each place
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
SPEECH = re.compile(r"\b(tells?|told|telling|says?|said|saying|knows?|knew|known|knowing|hears?|heard|hearing)\b", re.I)
PERSON = re.compile(r"\b(who|whose|whoever|whom)\b", re.I)
MOST_SPEECH = 8  # per 10,000 words
MOST_PERSON = 3
WORD = re.compile(r"[A-Za-z']+")
# Comments, and the literals that must not be taken for such.
PIECE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LOG_CALL = re.compile(r'\b(?:LOG_[A-Z]+|fail|warn)\s*\((?:[^;"]*?)((?:"(?:\\.|[^"\\\n])*"\s*)+)', re.S)


def sources():
    for folder in ("src", "tools"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".c", ".h"):
                yield path, path.read_text(encoding="utf-8")


def comments():
    for path, text in sources():
        for match in PIECE.finditer(text):
            piece = match.group(0)
            if piece.startswith("/") and "SPDX" not in piece and "Copyright" not in piece:
                yield path, piece


def log_messages():
    for path, text in sources():
        for match in LOG_CALL.finditer(text):
            yield path, match.group(1)


def pages():
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        # Blocks and names of code are not prose.
        yield path, re.sub(r"```.*?```|`[^`\n]*`", " ", text, flags=re.S)


class Prose(unittest.TestCase):
    def hold(self, pieces):
        words, found = 0, {SPEECH: [], PERSON: []}
        for path, text in pieces:
            words += len(WORD.findall(text))
            for pattern, places in found.items():
                places += [f"{path.relative_to(ROOT)}: {' '.join(text.split())[:160]}" for _ in pattern.findall(text)]
        self.assertGreater(words, 1000, "the check no longer finds the text that it is about")
        for pattern, limit in ((SPEECH, MOST_SPEECH), (PERSON, MOST_PERSON)):
            rate = len(found[pattern]) * 10000 / words
            print(f"{self.id()}: {len(found[pattern])} of {pattern.pattern[4:30]}... in {words} words: {rate:.1f} in 10,000")
            if LIST:
                print("\n".join(found[pattern]))
            with self.subTest(pattern=pattern.pattern):
                self.assertLessEqual(rate, limit, "\n".join(found[pattern]))

    def test_comments(self):
        self.hold(comments())

    def test_log_messages(self):
        self.hold(log_messages())

    def test_pages(self):
        self.hold(pages())


LIST = "--list" in sys.argv
if LIST:
    sys.argv.remove("--list")
if __name__ == "__main__":
    unittest.main()
