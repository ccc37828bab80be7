#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Prepares cross-building for 64-bit Arm on Debian: what meson takes for it is in DIR/meson.cross afterwards.
#
#   scripts/aarch64_sysroot.sh DIR
#
# The cross compiler and the emulator must be installed (scripts/install_dependencies.sh aarch64). The Arm libraries are
# fetched by apt and only unpacked, below DIR/root: installed beside the machine's own (dpkg --add-architecture), they
# would have these changed to the very same versions. DEBIAN_MIRROR names another mirror than the machine's own.
set -eu

if [ $# != 1 ]; then
    echo "usage: $0 DIR" >&2
    exit 2
fi
mkdir -p "$1"
top=$(cd "$1" && pwd)
root=$top/root
triplet=aarch64-linux-gnu

# What the .pc files of a library name must be there, too: libnl for libibverbs, libmd for libbsd.
packages="libibverbs-dev libibverbs1 librdmacm-dev librdmacm1 ibverbs-providers libnl-3-dev libnl-3-200 libnl-route-3-dev
    libnl-route-3-200
    libjson-c-dev libjson-c5 nlohmann-json3-dev libssl-dev libssl3 libbsd-dev libbsd0 libmd-dev libmd0 libgtest-dev"

# shellcheck source=/dev/null
. /etc/os-release
if [ "${ID-}" != debian ]; then
    echo "$0: knows where Debian keeps its Arm packages, and not where ${ID-this system} does" >&2
    exit 2
fi

# An apt with its own lists and cache.
private_apt() {
    apt-get -qq -o Dir::State="$top/apt/state" -o Dir::State::status="$top/apt/status" \
        -o Dir::Cache="$top/apt/cache" -o Dir::Etc::sourcelist="$top/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# Unpacked again where the list has changed.
if [ "$(cat "$top/unpacked" 2>/dev/null)" != "$packages" ]; then
    rm -rf "$top/apt" "$root"
    mkdir -p "$root" "$top/apt/packages" "$top/apt/state/lists/partial" "$top/apt/cache/archives/partial"
    : >"$top/apt/status"
    mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format "\$(ORIGIN) \$(CODENAME) \$(REPO_URI)" 'Created-By: Packages' |
        sed -n "s/^Debian $VERSION_CODENAME //p" | sed -n 1p)}
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:-http://deb.debian.org/debian}" \
        "$VERSION_CODENAME main" >"$top/apt/sources.list"
    private_apt update
    # shellcheck disable=SC2086 # a list of words
    (cd "$top/apt/packages" && private_apt download $packages)
    for package in "$top"/apt/packages/*.deb; do
        dpkg-deb -x "$package" "$root"
    done
    # A library that is a script for the linker (libbsd.so) names files by where they would be installed.
    grep -lIs '^GROUP' "$root/usr/lib/$triplet"/*.so | while read -r script; do
        sed -i "s|\([( ]\)/usr/lib/$triplet/|\1$root/usr/lib/$triplet/|g" "$script"
    done
    rm -rf "$top/apt"
    printf '%s\n' "$packages" >"$top/unpacked"
fi

# Headers that differ from one CPU to the next are where a cross compiler does not look by itself; neither is libgtest.
cat >"$top/meson.cross" <<END
[constants]
sysroot = '$root'
libraries = sysroot / 'usr/lib/$triplet'
includes = ['-isystem' + sysroot / 'usr/include/$triplet', '-isystem' + sysroot / 'usr/include']
link_args = ['-L' + libraries, '-Wl,-rpath-link,' + libraries + ':' + sysroot / 'lib/$triplet']
[binaries]
c = ['$triplet-gcc'] + includes
cpp = ['$triplet-g++'] + includes
exe_wrapper = ['qemu-aarch64', '-L', '/usr/$triplet', '-E', 'LD_LIBRARY_PATH=' + libraries + ':' + sysroot / 'lib/$triplet']
[properties]
sys_root = sysroot
pkg_config_libdir = [libraries / 'pkgconfig', sysroot / 'usr/share/pkgconfig']
[built-in options]
c_link_args = link_args
cpp_link_args = link_args
END
