#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs in a minimal Debian 13 root: see scripts/test_in_fresh_debian.sh.
set -euo pipefail
cd /opendoca
scripts/install_dependencies.sh
DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends libgtest-dev python3 make iproute2 >/dev/null

# Unit tests of what touches the system, a test program for each library of both generations, and the samples that are
# built alone against what is installed.
unit=(wake lock process sealed_file topology includes layers)
conformance=(dev dma graph rdma sha comm_channel sync_event argp v3_core v3_comch v3_rdma v3_sha v3_argp)
samples=(samples samples_v3 first_contact)
tests=("${unit[@]}" "${conformance[@]}" "${samples[@]}")

[ -e /build/build.ninja ] ||
    meson setup --fatal-meson-warnings /build . -Dtests=true -Ddocs=disabled -Dbuildtype=plain -Dwerror=true \
        -Dunity=on -Dunity_size=20
# Prints the targets of ninja: libraries and tools, and what the tests depend on.
mapfile -t wanted < <(python3 - "${tests[@]}" <<'PYTHON'
import json
import os
import sys

names = set(sys.argv[1:])
with open('/build/meson-info/intro-tests.json', encoding='utf-8') as file:
    tests = [test for test in json.load(file) if test['name'] in names]
missing = names - {test['name'] for test in tests}
if missing:
    sys.exit(f'no such tests: {sorted(missing)}')
needed = {target for test in tests for target in test['depends']}
with open('/build/meson-info/intro-targets.json', encoding='utf-8') as file:
    for target in json.load(file):
        folder = os.path.relpath(target['defined_in'], '/opendoca').split('/')[0]
        if target['id'] in needed or (folder in ('src', 'tools') and target['build_by_default']):
            print(*(os.path.relpath(name, '/build') for name in target['filename']), sep='\n')
PYTHON
)
[ ${#wanted[@]} != 0 ]
ninja -C /build --quiet "${wanted[@]}"
OPENDOCA_TEST_ONE_SOFT_DEVICE=1 meson test -C /build --no-rebuild --print-errorlogs "${tests[@]}"
