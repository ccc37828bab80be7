#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the packages of OUTPUT/source for another CPU in a fresh minimal Debian 12, as Debian does it, installs them there,
# and tries them under an emulator; the packages are in OUTPUT then. On this machine it needs mmdebstrap.
#
#   tests/packages/cross_build.sh ARCH OUTPUT
#
# DEBIAN_MIRROR names another mirror than deb.debian.org.
set -euo pipefail

arch=$1
output=$(cd "$2" && pwd)
here=$(dirname "$(readlink -f "$0")")
rm -rf "$output/cross"
mkdir "$output/cross"
trap 'rm -rf "$output/cross"' EXIT
# Hooks see the root as $1. What they copy out belongs to whoever runs this.
mmdebstrap --quiet --variant=apt --format=null --architectures="$(dpkg --print-architecture),$arch" \
    --include="build-essential,crossbuild-essential-$arch,qemu-user" \
    --customize-hook='mkdir "$1/build"' \
    --customize-hook="copy-in '$output/source' '$here/cross_inside.sh' /build" \
    --customize-hook='chroot "$1" env -i PATH="$PATH" TERM=dumb /build/cross_inside.sh '"$arch" \
    --customize-hook="copy-out /build/packages '$output/cross'" \
    bookworm - "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >/dev/null
mv "$output"/cross/packages/* "$output"
