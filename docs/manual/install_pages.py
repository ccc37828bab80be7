#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Copies the manual pages of one directory to another; meson runs it when it installs."""

import os
import pathlib
import shutil
import sys

source, destination = map(pathlib.Path, sys.argv[1:])
root = pathlib.Path(os.environ.get('DESTDIR', '/'))
target = root / destination.relative_to('/')
target.mkdir(parents=True, exist_ok=True)
for page in sorted(source.iterdir()):
    shutil.copy(page, target)
    (target / page.name).chmod(0o644)
print(f'Installing {source} to {target}')
