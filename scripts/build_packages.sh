#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the Debian packages of this tree, as it is on the disk, and holds them against lintian.
#
#   scripts/build_packages.sh [--test] [OUTPUT]      default: build-packages; the packages are in OUTPUT/*.deb
#
# --test also installs, tries and purges them in a fresh minimal Debian 12 below OUTPUT, which takes some minutes and a
# mirror of Debian: docs/packages.md. What is missing for all of it is installed by apt. meson uses ccache where
# it is installed.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
with_test=
if [ "${1-}" = --test ]; then
    with_test=1
    shift
fi
output=${1:-$top/build-packages}

"$top/scripts/install_dependencies.sh"
"$top/scripts/install_dependencies.sh" packages

mkdir -p "$output"
output=$(cd "$output" && pwd)
rm -rf "$output/source" "$output"/opendoca_* "$output"/*.deb
mkdir "$output/source"
if git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$top" ls-files -z --cached --others --exclude-standard
else
    (cd "$top" && find . -path './build*' -prune -o -type f -print0 -o -type l -print0)
fi | tar -C "$top" --null --files-from=- --ignore-failed-read -cf - 2>/dev/null | tar -C "$output/source" -xf -

cd "$output/source"
# The packages alone: no signature, no packages of debug information.
DEB_BUILD_OPTIONS="noautodbgsym nocheck ${DEB_BUILD_OPTIONS-}" dpkg-buildpackage --unsigned-source --unsigned-changes
cd "$output"
lintian --allow-root --tag-display-limit 0 --fail-on error,warning opendoca_*.changes
echo "the packages are in $output:"
ls -1 ./*.deb

if [ -n "$with_test" ]; then
    "$top/tests/packages/in_fresh_debian.sh" "$output"
fi
