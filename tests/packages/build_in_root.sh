#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the packages of OUTPUT/source in a fresh minimal root of a release of Debian, for this CPU or another one, as Debian does
# it, installs them there, and tries them, under an emulator where they are for another CPU; the packages are in OUTPUT then. On
# this machine it needs mmdebstrap. The root is thrown away, so dpkg need not wait for the disk.
#
#   tests/packages/build_in_root.sh CODENAME ARCH OUTPUT
#
# DEBIAN_MIRROR names another mirror than deb.debian.org. What DEB_BUILD_OPTIONS has is added to ours. Where ccache is installed
# and root runs this, the compilers' results are kept in a folder of its cache, one for each release.
set -euo pipefail

codename=$1
arch=$2
output=$(cd "$3" && pwd)
here=$(dirname "$(readlink -f "$0")")
native=$(dpkg --print-architecture)
rm -rf "$output/root"
mkdir "$output/root"
trap 'rm -rf "$output/root"' EXIT

architectures=$native
packages="build-essential"
if [ "$arch" != "$native" ]; then
    architectures+=,$arch
    packages+=,crossbuild-essential-$arch,qemu-user
fi
# Hooks see the root as $1. What they copy out belongs to whoever runs this.
build='chroot "$1" env -i PATH="$PATH" TERM=dumb CCACHE_SLOPPINESS=pch_defines,time_macros'
build+=" CCACHE_DIR=/ccache DEB_BUILD_OPTIONS='${DEB_BUILD_OPTIONS-}' /build/build_inside.sh $arch"
isolated=()
if [ "$(id -u)" = 0 ] && command -v ccache >/dev/null; then
    kept=$(ccache -k cache_dir)/$codename
    mkdir -p "$kept"
    packages+=,ccache
    # The mount must be gone before mmdebstrap removes the root. In a namespace of its own it is never seen outside.
    isolated=(unshare --mount)
    build="mkdir \"\$1/ccache\"; mount --bind '$kept' \"\$1/ccache\" || exit 1; $build; result=\$?; umount \"\$1/ccache\"; exit \$result"
fi
"${isolated[@]}" mmdebstrap --quiet --variant=apt --format=null --architectures="$architectures" \
    --include="$packages" --dpkgopt=force-unsafe-io \
    --customize-hook='mkdir "$1/build"' \
    --customize-hook="copy-in '$output/source' '$here/build_inside.sh' /build" \
    --customize-hook="$build" \
    --customize-hook="copy-out /build/packages '$output/root'" \
    "$codename" - "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >/dev/null
mv "$output"/root/packages/* "$output"
