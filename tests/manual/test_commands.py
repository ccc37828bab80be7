#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Runs the commands that the documentation shows, in the order of each page, and compares what they print.

What stands in front of a block of code says what is done with it:

    <!-- file: NAME -->       the block is written to a file of that name
    <!-- run -->              it is run; in a ```console block, lines after "$ " are commands, others what they print,
                              where "..." stands for anything
    <!-- not run: REASON -->  it is not, and why

Each block of commands (```sh, ```console) has one of them. A page is one shell, in a directory of its own; $HOME/doca
there is what `meson install` leaves, with the SDK tree of DOCA 3.0 at the prefix.

Arguments: the project's directory, a build directory.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'abi'))
from tree import build_options, install  # pylint: disable=wrong-import-position

TOP = BUILD = pathlib.Path()
BLOCK = re.compile(r'(?:<!-- (?P<mark>[^>]*?) -->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```$',
                   flags=re.DOTALL | re.MULTILINE)
COMMANDS = ('sh', 'console')
HANG_LIMIT = 120


def blocks(page):
    for found in BLOCK.finditer(page.read_text()):
        yield found['mark'] or '', found['language'], found['text']


def steps(language, text):
    """[(command, what it prints, or None when nobody cares)] of a block."""
    if language == 'sh':
        return [(text, None)]
    found = []
    for line in text.splitlines():
        if line.startswith('$ '):
            found.append((line[2:], []))
        elif found[-1][0].endswith('\\'):
            found[-1] = (found[-1][0] + '\n' + line, [])
        else:
            found[-1][1].append(line)
    return found


def matches(expected, printed):
    pattern = '\n'.join(re.escape(line).replace(r'\.\.\.', '.*') for line in expected)
    return re.fullmatch(pattern, '\n'.join(line.rstrip() for line in printed), flags=re.DOTALL) is not None


def run(page, home, scratch):
    """Runs a page; returns what was not as the page says."""
    script, wanted = ['set -e', 'exec 2>&1'], []
    for mark, language, text in blocks(page):
        if mark.startswith('file: '):
            (scratch / mark.removeprefix('file: ')).write_text(text)
        elif mark == 'run':
            for command, expected in steps(language, text):
                script += [f'echo "@@ {len(wanted)}"', command]
                wanted.append((command, expected))
    if not wanted:
        return []
    environment = {'HOME': str(home), 'PATH': os.environ['PATH'], 'DOCA_SOFT': '1', 'LANG': 'C.UTF-8'}
    done = subprocess.run(['bash'], input='\n'.join([*script, 'echo @@ end']), capture_output=True, text=True,
                          cwd=scratch, env=environment, timeout=HANG_LIMIT, check=False)
    parts = re.split(r'^@@ (\w+)\n', done.stdout, flags=re.MULTILINE)[1:]
    wrong = []
    for number, printed in zip(parts[0::2], parts[1::2]):
        if number == 'end':
            break
        command, expected = wanted[int(number)]
        if expected is not None and not matches(expected, printed.splitlines()):
            wrong.append(f'$ {command}\n{printed}and not\n' + '\n'.join(expected))
    else:
        wrong.append(f'$ {wanted[len(parts) // 2 - 1][0]}\n{parts[-1] if parts else done.stderr}status {done.returncode}')
    return wrong


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = [TOP / 'README.md', *sorted((TOP / 'docs').glob('*.md'))]

    def test_each_block_says_whether_it_is_run(self):
        self.assertEqual([f'{page.name}: {text.splitlines()[0]}' for page in self.pages
                          for mark, language, text in blocks(page) if language in COMMANDS
                          if mark != 'run' and not mark.startswith('not run: ')], [])

    def test_they_do_what_the_page_says(self):
        ran = 0
        with tempfile.TemporaryDirectory() as directory:
            home = pathlib.Path(directory)
            sdk = install(BUILD, home / 'tree')
            if build_options(BUILD)['prefix_generation'] == '2.2':
                top = sdk.prefix
                sdk = sdk.below('lib/opendoca/3.0')
                # It is at the prefix alone, and finds both trees from there.
                (sdk.prefix / 'bin/with_opendoca').symlink_to(top / 'bin/with_opendoca')
            (home / 'doca').symlink_to(sdk.prefix)
            for page in self.pages:
                scratch = home / '_'.join(page.relative_to(TOP).with_suffix('').parts)
                scratch.mkdir()
                with self.subTest(page=page.name):
                    self.assertEqual(run(page, home, scratch), [])
                ran += any(mark == 'run' for mark, _, _ in blocks(page))
        self.assertGreater(ran, 0)


if __name__ == '__main__':
    TOP, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
