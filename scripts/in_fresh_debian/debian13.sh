#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs in a minimal Debian 13 root, with the argument packages and then test: see scripts/test_in_fresh_debian.sh.
set -euo pipefail
cd /opendoca
scripts/install_dependencies.sh
apt-get -qq -y install --no-install-recommends libgtest-dev python3 make iproute2 zlib1g-dev \
    ibverbs-providers ibverbs-utils python3-pyverbs python3-scapy ucx-utils ${CCACHE_DIR:+ccache} >/dev/null
[ "$1" = test ] || exit 0

# Unit tests of code that depends on the system, one test program for each library of 3.0 and for the core of 2.2, and the
# samples that are built outside the tree against the installed libraries.
unit=(wake lock process sealed_file topology includes layers)
conformance=(dev dma rdma v3_core v3_comch v3_rdma v3_sha v3_compress v3_erasure_coding v3_aes_gcm v3_argp)
samples=(samples samples_v3 first_contact)
# The tests of this release's rdma-core, and its UCX, on the card.
judges=(judge_{bluefield-3,infiniband}_pyverbs judge_{bluefield-3,connectx-7,connectx-5,infiniband}_ucx_devx)
tests=("${unit[@]}" "${conformance[@]}" "${samples[@]}" "${judges[@]}")

[ -e /build/build.ninja ] ||
    meson setup --fatal-meson-warnings /build . -Dtests=true -Ddocs=disabled -Dbuildtype=plain -Dwerror=true \
        -Db_pch=true -Dunity=on -Dunity_size=20
targets=$(scripts/targets_of_tests.py --no-suite fuzz --default-of src --default-of tools /build "${tests[@]}")
mapfile -t wanted <<<"$targets"
ninja -C /build --quiet "${wanted[@]}"
echo "-- compiled after $SECONDS s"
meson test -C /build --no-rebuild --print-errorlogs --no-suite fuzz "${tests[@]}"
echo "-- tested after $SECONDS s"
