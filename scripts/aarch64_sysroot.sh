#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Prepares cross-building for 64-bit Arm on Debian: unpacks the Arm libraries below DIR/root, and writes the cross file
# DIR/meson.cross for meson.
#
#   scripts/aarch64_sysroot.sh DIR
#
# The cross compiler and the emulator must be installed (scripts/install_dependencies.sh aarch64). The Arm libraries are
# downloaded by apt and only unpacked. Installing them next to the machine's own packages (dpkg --add-architecture)
# requires equal versions of both, so apt might replace the machine's. DEBIAN_MIRROR names another mirror than the
# machine's own.
set -eu

if [ $# != 1 ]; then
    echo "usage: $0 DIR" >&2
    exit 2
fi
mkdir -p "$1"
top=$(cd "$1" && pwd)
root=$top/root
triplet=aarch64-linux-gnu

# Includes the libraries that the .pc files of others require: libnl for libibverbs, libmd for libbsd.
packages="libibverbs-dev libibverbs1 librdmacm-dev librdmacm1 ibverbs-providers libnl-3-dev libnl-3-200 libnl-route-3-dev
    libnl-route-3-200
    libjson-c-dev libjson-c5 nlohmann-json3-dev libssl-dev libssl3 libbsd-dev libbsd0 libmd-dev libmd0 libgtest-dev"
packages="$packages libdeflate-dev libdeflate0 liblz4-dev liblz4-1 libxxhash-dev libxxhash0 zlib1g-dev zlib1g libisal-dev libisal2"

# shellcheck source=/dev/null
. /etc/os-release
if [ "${ID-}" != debian ]; then
    echo "$0: knows where Debian keeps its Arm packages, and not where ${ID-this system} does" >&2
    exit 2
fi

# Runs apt-get with lists and a cache of its own, below DIR/apt, so that the machine's are not changed.
private_apt() {
    apt-get -qq -o Dir::State="$top/apt/state" -o Dir::State::status="$top/apt/status" \
        -o Dir::Cache="$top/apt/cache" -o Dir::Etc::sourcelist="$top/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

# The packages are unpacked again if the list has changed since. DIR/unpacked is written last, so a run that was
# interrupted is repeated.
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
    # A library that is a linker script (libbsd.so) names files by the paths that they have when they are installed.
    grep -lIs '^GROUP' "$root/usr/lib/$triplet"/*.so | while read -r script; do
        sed -i "s|\([( ]\)/usr/lib/$triplet/|\1$root/usr/lib/$triplet/|g" "$script"
    done
    rm -rf "$top/apt"
    printf '%s\n' "$packages" >"$top/unpacked"
fi

# A cross compiler does not search the folders of Debian's CPU-specific headers and libraries below DIR/root by itself.
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
