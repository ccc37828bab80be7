#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs in a minimal Debian 12 root: see scripts/test_in_fresh_debian.sh.
set -euo pipefail
cd /opendoca

echo "-- README: the first command"
samples/run_dma_samples.sh

echo "-- the tutorial's installation, compiled faster"
scripts/install_dependencies.sh
meson setup build --prefix="$HOME/doca" -Dprefix_generation=3.0 -Dtests=false \
    -Dbuildtype=plain -Dunity=on -Dunity_size=20
meson install -C build --quiet

echo "-- the commands of the documents"
python3 tests/manual/test_commands.py . build
echo "-- generations, with the make that machines of CI services have"
DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends make >/dev/null
CC=cc CXX=c++ PYTHONDONTWRITEBYTECODE=1 python3 tests/abi/test_generations.py "$PWD/build"
