#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# What cross_build.sh does inside of the fresh root, with the name of an architecture: the packages are in /build/packages.
set -eu
exec 1>&2
export DEBIAN_FRONTEND=noninteractive
arch=$1
triplet=$(dpkg-architecture -a"$arch" -qDEB_HOST_MULTIARCH)
cpu=$(dpkg-architecture -a"$arch" -qDEB_HOST_GNU_CPU)

title() { echo "== $*"; }

title "what debian/control asks for"
cd /build/source
apt-get build-dep -qq -y --no-install-recommends --host-architecture "$arch" --build-profiles cross,nocheck ./ >/tmp/installed 2>&1 ||
    { cat /tmp/installed; exit 1; }

title "dpkg-buildpackage"
DEB_BUILD_OPTIONS="noautodbgsym nocheck" dpkg-buildpackage -a"$arch" -Pcross,nocheck --build=any --unsigned-changes \
    >/tmp/built 2>&1 || { cat /tmp/built; exit 1; }
mkdir /build/packages
mv /build/*.deb /build/opendoca_* /build/packages

title "apt install"
# Those for /opt/mellanox/doca exclude each other; they have links and sources only.
# shellcheck disable=SC2046 # a list of names
apt-get install -qq -y --no-install-recommends $(find /build/packages -name '*.deb' ! -name '*-opt_*') libbsd-dev:"$arch" >/tmp/installed 2>&1 ||
    { cat /tmp/installed; exit 1; }
emulated() { DOCA_SOFT=1 "qemu-$cpu" "$@"; }

title "tools"
for program in "/usr/bin/doca_caps" "/usr/lib/$triplet/opendoca/3.0/bin/doca_caps"; do
    emulated "$program" --version
    said=$(emulated "$program" --json) || { echo "$said"; exit 1; }
    case $said in
    *0000:03:00.0*) ;;
    *) echo "$program lists no DPU: $said"; exit 1 ;;
    esac
done

title "samples, built as users do"
/usr/share/meson/debcrossgen --arch "$arch" -o /tmp/cross
for sample in doca_dma/dma_local_copy 3.0/doca_dma/dma_local_copy; do
    echo "-- $sample"
    meson setup --cross-file /tmp/cross "/tmp/$sample" "/build/source/samples/$sample" >/tmp/log &&
        ninja -C "/tmp/$sample" >>/tmp/log || { cat /tmp/log; exit 1; }
    said=$(emulated "/tmp/$sample/doca_dma_local_copy" 2>&1) || { echo "$said"; exit 1; }
    echo "$said"
    case $said in
    *'Sample finished successfully'*) ;;
    *) exit 1 ;;
    esac
done
