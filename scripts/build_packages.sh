#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the Debian packages of this tree, with uncommitted changes, and checks them with lintian.
#
#   scripts/build_packages.sh [--test] [OUTPUT]          default: build-packages; the packages are in OUTPUT/*.deb,
#                                                        and those for /opt/mellanox/doca in OUTPUT/opt/*.deb
#   scripts/build_packages.sh --arch ARCH [OUTPUT]       default: build-packages-ARCH
#
# --test also installs, tests and purges the packages in a fresh minimal Debian 12 (docs/packages.md), which takes some
# minutes and needs a mirror of Debian. --arch arm64 cross-builds the packages of another CPU in a fresh Debian 12, and
# installs and tests them there under an emulator. Missing programs are installed by apt. meson uses ccache if it is
# installed.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
usage() {
    sed -n 's/^#   scripts/usage: scripts/p' "$0" >&2
    exit 2
}
with_test=
native=$(dpkg --print-architecture)
arch=$native
output=
while [ $# -gt 0 ]; do
    case $1 in
    --test) with_test=1 ;;
    --arch)
        [ $# -gt 1 ] || usage
        arch=$2
        shift
        ;;
    -*) usage ;;
    *)
        [ -z "$output" ] || usage
        output=$1
        ;;
    esac
    shift
done
if [ "$arch" = "$native" ]; then
    output=${output:-$top/build-packages}
else
    [ -z "$with_test" ] || usage
    output=${output:-$top/build-packages-$arch} # a folder of its own: apt would mix the packages of two CPUs
fi
case $arch in
amd64 | arm64) ;;
*)
    echo "build_packages.sh: packages are for amd64 and arm64, and not for $arch" >&2
    exit 2
    ;;
esac

[ "$arch" != "$native" ] || "$top/scripts/install_dependencies.sh"
"$top/scripts/install_dependencies.sh" packages

mkdir -p "$output"
output=$(cd "$output" && pwd)
rm -rf "$output/source" "$output/opt" "$output"/opendoca_*"_$arch".* "$output"/*"_$arch.deb"
mkdir "$output/source" "$output/opt"
if git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$top" ls-files -z --cached --others --exclude-standard
else
    (cd "$top" && find . -path './build*' -prune -o -type f -print0 -o -type l -print0)
fi | tar -C "$top" --null --files-from=- --ignore-failed-read -cf - 2>/dev/null | tar -C "$output/source" -xf -

if [ "$arch" = "$native" ]; then
    rm -f "$output"/*_all.deb "$output"/opendoca_*.dsc "$output"/opendoca_*.tar.*
    # Neither signatures nor packages with debug information are built.
    (cd "$output/source" &&
        DEB_BUILD_OPTIONS="noautodbgsym nocheck ${DEB_BUILD_OPTIONS-}" dpkg-buildpackage --unsigned-source --unsigned-changes)
else
    "$top/tests/packages/cross_build.sh" "$arch" "$output"
    "$top/tests/packages/compare_packages.py" "$arch" "$output" "$top/build-packages"
fi
cd "$output"
lintian --allow-root --tag-display-limit 0 --fail-on error,warning opendoca_*_"$arch".changes
# These exclude each other and a real DOCA, so that `apt install ./*.deb` must not see them.
mv opendoca*-opt_*.deb opt
echo "the packages are in $output:"
ls -1 ./*.deb opt/*.deb

if [ -n "$with_test" ]; then
    "$top/tests/packages/in_fresh_debian.sh" "$output"
fi
