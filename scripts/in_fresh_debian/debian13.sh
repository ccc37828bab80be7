#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs in a minimal Debian 13 root: see scripts/test_in_fresh_debian.sh.
set -euo pipefail
cd /opendoca
scripts/install_dependencies.sh
DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends libgtest-dev python3 make iproute2 zlib1g-dev >/dev/null

# Unit tests of code that depends on the system, one test program for each library of both generations, and the samples
# that are built outside the tree against the installed libraries.
unit=(wake lock process sealed_file topology includes layers)
conformance=(dev dma graph rdma sha compress erasure_coding comm_channel sync_event argp
    v3_core v3_comch v3_rdma v3_sha v3_compress v3_erasure_coding v3_aes_gcm v3_argp)
samples=(samples samples_v3 first_contact)
tests=("${unit[@]}" "${conformance[@]}" "${samples[@]}")

[ -e /build/build.ninja ] ||
    meson setup --fatal-meson-warnings /build . -Dtests=true -Ddocs=disabled -Dbuildtype=plain -Dwerror=true \
        -Dunity=on -Dunity_size=20
targets=$(scripts/targets_of_tests.py --default-of src --default-of tools /build "${tests[@]}")
mapfile -t wanted <<<"$targets"
ninja -C /build --quiet "${wanted[@]}"
meson test -C /build --no-rebuild --print-errorlogs "${tests[@]}"
