#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs in a minimal Debian 12 root, with the argument packages and then test: see scripts/test_in_fresh_debian.sh.
set -euo pipefail
cd /opendoca

# make: for the test generations, as machines of CI services have it.
install_more() { apt-get -qq -y install --no-install-recommends "$@" >/dev/null; }
if [ "$1" = packages ]; then
    scripts/install_dependencies.sh
    install_more make ${CCACHE_DIR:+ccache}
    exit
fi
[ -z "${CCACHE_DIR-}" ] || install_more ccache

echo "-- README: the first command, compiled faster"
CFLAGS=-O0 CXXFLAGS=-O0 samples/run_dma_samples.sh

echo "-- the tutorial's installation, compiled faster"
scripts/install_dependencies.sh
meson setup build --prefix="$HOME/doca" -Dprefix_generation=3.0 -Dtests=false \
    -Dbuildtype=plain -Dunity=on -Dunity_size=20
meson install -C build --quiet
echo "-- after $SECONDS s: the commands of the documents"
python3 tests/manual/test_commands.py . build
echo "-- after $SECONDS s: generations"
install_more make
CC=cc CXX=c++ PYTHONDONTWRITEBYTECODE=1 python3 tests/abi/test_generations.py "$PWD/build"
echo "-- tested after $SECONDS s"
