#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the Debian packages of this tree, with uncommitted changes, and checks them with lintian.
#
#   scripts/build_packages.sh [--test] [OUTPUT]          default: build-packages; the packages are in OUTPUT/*.deb,
#                                                        and those for /opt/mellanox/doca in OUTPUT/opt/*.deb
#   scripts/build_packages.sh --arch ARCH [OUTPUT]       default: build-packages-ARCH
#   scripts/build_packages.sh --release NAME [--arch ARCH] [--test] [OUTPUT]
#                                                        default: build-packages-NAME, or build-packages-NAME-ARCH
#
# --test also installs, tests and purges the packages in a fresh minimal Debian (docs/packages.md), which takes some minutes and
# needs a mirror of Debian. --arch arm64 cross-builds the packages of another CPU in a fresh Debian 12, and installs and tests
# them there under an emulator. --release bookworm (Debian 12) or trixie (Debian 13) builds in a fresh root of that release,
# whatever this machine has. Missing programs are installed by apt. meson uses ccache if it is installed.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=scripts/usage.sh
source "$top/scripts/usage.sh"
with_test=
native=$(dpkg --print-architecture)
arch=$native
release=
output=
while [ $# -gt 0 ]; do
    case $1 in
    --test) with_test=1 ;;
    --arch)
        [ $# -gt 1 ] || usage
        arch=$2
        shift
        ;;
    --release)
        [ $# -gt 1 ] || usage
        release=$2
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
default=$top/build-packages${release:+-$release} # folders of their own: apt would mix the packages of two releases or CPUs
if [ "$arch" != "$native" ]; then
    [ -z "$with_test" ] || usage
    default+=-$arch
fi
output=${output:-$default}
case $release in
'' | bookworm | trixie) ;;
*)
    echo "build_packages.sh: packages are for bookworm (Debian 12) and trixie (Debian 13), and not for $release" >&2
    exit 2
    ;;
esac
case $arch in
amd64 | arm64) ;;
*)
    echo "build_packages.sh: packages are for amd64 and arm64, and not for $arch" >&2
    exit 2
    ;;
esac

[ "$arch" != "$native" ] || [ -n "$release" ] || "$top/scripts/install_dependencies.sh"
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

[ "$arch" != "$native" ] || rm -f "$output"/*_all.deb "$output"/opendoca_*.dsc "$output"/opendoca_*.tar.*
if [ "$arch" = "$native" ] && [ -z "$release" ]; then
    # Neither signatures nor packages with debug information are built.
    (cd "$output/source" &&
        DEB_BUILD_OPTIONS="noautodbgsym nocheck ${DEB_BUILD_OPTIONS-}" dpkg-buildpackage --unsigned-source --unsigned-changes)
else
    "$top/tests/packages/build_in_root.sh" "${release:-bookworm}" "$arch" "$output"
    "$top/tests/packages/compare_packages.py" "$arch" "$output" "$top/build-packages${release:+-$release}"
fi
cd "$output"
lintian --allow-root --tag-display-limit 0 --fail-on error,warning opendoca_*_"$arch".changes
# These exclude each other and a real DOCA, so that `apt install ./*.deb` must not see them.
mv opendoca*-opt_*.deb opt
echo "the packages are in $output:"
ls -1 ./*.deb opt/*.deb

if [ -n "$with_test" ]; then
    "$top/tests/packages/in_fresh_debian.sh" "$output" "${release:-bookworm}"
fi
