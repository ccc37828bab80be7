#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# What build_in_root.sh does inside of the fresh root, with the name of an architecture: the packages are in /build/packages.
set -eu
exec 1>&2
export DEBIAN_FRONTEND=noninteractive
arch=$1
triplet=$(dpkg-architecture -a"$arch" -qDEB_HOST_MULTIARCH 2>/dev/null)
cpu=$(dpkg-architecture -a"$arch" -qDEB_HOST_GNU_CPU 2>/dev/null)
is_cross=
[ "$arch" = "$(dpkg --print-architecture)" ] || is_cross=1

title() { echo "== $*"; }
# Runs a command; what it prints is shown if it fails.
quietly() { "$@" >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }; }

title "what debian/control asks for"
cd /build/source
quietly apt-get build-dep -qq -y --no-install-recommends ${is_cross:+--host-architecture "$arch" --build-profiles cross,nocheck} ./

title "dpkg-buildpackage"
export DEB_BUILD_OPTIONS="noautodbgsym nocheck ${DEB_BUILD_OPTIONS-}"
if [ -n "$is_cross" ]; then
    quietly dpkg-buildpackage -a"$arch" -Pcross,nocheck --build=any --unsigned-changes
else
    quietly dpkg-buildpackage --unsigned-source --unsigned-changes
fi
mkdir /build/packages
mv /build/*.deb /build/opendoca_* /build/packages

title "apt install"
# Those for /opt/mellanox/doca exclude each other; they have links and sources only.
# shellcheck disable=SC2046 # a list of names
quietly apt-get install -qq -y --no-install-recommends $(find /build/packages -name '*.deb' ! -name '*-opt_*') libbsd-dev:"$arch"
run() {
    if [ -n "$is_cross" ]; then
        DOCA_SOFT=1 "qemu-$cpu" "$@"
    else
        DOCA_SOFT=1 "$@"
    fi
}

title "tools"
for program in "/usr/bin/doca_caps" "/usr/lib/$triplet/opendoca/3.0/bin/doca_caps"; do
    run "$program" --version
    said=$(run "$program" --json) || { echo "$said"; exit 1; }
    case $said in
    *0000:03:00.0*) ;;
    *) echo "$program lists no DPU: $said"; exit 1 ;;
    esac
done

title "samples, built as users do"
[ -z "$is_cross" ] || /usr/share/meson/debcrossgen --arch "$arch" -o /tmp/cross
for sample in doca_dma/dma_local_copy 3.0/doca_dma/dma_local_copy; do
    echo "-- $sample"
    quietly meson setup ${is_cross:+--cross-file /tmp/cross} "/tmp/$sample" "/build/source/samples/$sample"
    quietly ninja -C "/tmp/$sample"
    said=$(run "/tmp/$sample/doca_dma_local_copy" 2>&1) || { echo "$said"; exit 1; }
    echo "$said"
    case $said in
    *'Sample finished successfully'*) ;;
    *) exit 1 ;;
    esac
done
