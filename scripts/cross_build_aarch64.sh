#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the libraries for 64-bit ARM on a Debian machine of another CPU, and runs one DMA copy with them.
#
#   scripts/cross_build_aarch64.sh [BUILD_DIR]          default: build-aarch64
#
# The cross compiler is installed with apt when it is missing. The ARM libraries and the emulator are only
# unpacked under BUILD_DIR: the machine's own packages and its list of architectures stay as they are. The SDK
# is left in BUILD_DIR/installed. DEBIAN_MIRROR names another mirror than deb.debian.org.
set -eu

source_root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source_root/build-aarch64}
mkdir -p "$build"
build=$(cd "$build" && pwd)
sysroot=$build/sysroot
triplet=aarch64-linux-gnu

# shellcheck source=/dev/null
. /etc/os-release
case "${ID-}" in
debian) ;;
*)
    echo "$0: knows where Debian keeps its ARM packages, and not where ${ID-this system} does" >&2
    exit 2
    ;;
esac

if ! command -v $triplet-g++ >/dev/null; then
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends g++-$triplet
fi

# An apt with its own lists and cache, for the packages that are unpacked and not installed.
private_apt() {
    apt-get -qq \
        -o Dir::State="$build/apt/state" -o Dir::State::status="$build/apt/status" \
        -o Dir::Cache="$build/apt/cache" \
        -o Dir::Etc::sourcelist="$build/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o APT::Architectures="$(dpkg --print-architecture),arm64" -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Languages=none "$@"
}

download() {
    (cd "$build/apt/packages" && rm -f ./*.deb && private_apt download "$@")
}

if [ ! -e "$sysroot/complete" ]; then
    mkdir -p "$sysroot" "$build/apt/packages" "$build/apt/state/lists/partial" \
        "$build/apt/cache/archives/partial"
    : >"$build/apt/status"
    mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $VERSION_CODENAME main" \
        >"$build/apt/sources.list"
    private_apt update
    # libibverbs' pkg-config file names libnl's, so those come with it.
    download libibverbs-dev:arm64 libibverbs1:arm64 ibverbs-providers:arm64 nlohmann-json3-dev \
        libnl-3-dev:arm64 libnl-3-200:arm64 \
        libnl-route-3-dev:arm64 libnl-route-3-200:arm64 \
        libjson-c-dev:arm64 libjson-c5:arm64 nlohmann-json3-dev libssl-dev:arm64 libssl3:arm64
    for package in "$build"/apt/packages/*.deb; do
        dpkg-deb -x "$package" "$sysroot"
    done
    if download qemu-user-static; then
        dpkg-deb --fsys-tarfile "$build"/apt/packages/qemu-*.deb |
            tar -x -C "$sysroot" ./usr/bin/qemu-aarch64-static
    else
        echo "$0: no qemu-user-static, so nothing will be run" >&2
    fi
    rm -rf "$build/apt"
    touch "$sysroot/complete"
fi

cat >"$build/sysroot.cross" <<END
[properties]
sys_root = '$sysroot'
pkg_config_libdir = '$sysroot/usr/lib/$triplet/pkgconfig:$sysroot/usr/share/pkgconfig'
[built-in options]
# Headers that differ from one CPU to the next: a cross compiler does not look here by itself.
c_args = ['-isystem$sysroot/usr/include/$triplet']
cpp_args = ['-isystem$sysroot/usr/include/$triplet']
c_link_args = ['-Wl,-rpath-link,$sysroot/usr/lib/$triplet:$sysroot/lib/$triplet']
cpp_link_args = ['-Wl,-rpath-link,$sysroot/usr/lib/$triplet:$sysroot/lib/$triplet']
END
if [ ! -e "$build/meson/build.ninja" ]; then
    meson setup "$build/meson" "$source_root" --cross-file "$source_root/packaging/$triplet.cross" \
        --cross-file "$build/sysroot.cross" --prefix=/opt/mellanox/doca -Dlibdir=lib/$triplet -Dtests=false
fi
ninja -C "$build/meson"
rm -rf "$build/installed"
meson install -C "$build/meson" --no-rebuild --quiet --destdir "$build/installed"
sdk=$build/installed/opt/mellanox/doca

# The contract is that of the facts on this CPU too.
CC="$triplet-gcc -isystem $sysroot/usr/include" CXX="$triplet-g++ -isystem $sysroot/usr/include" \
    python3 "$source_root/tests/abi/check_abi.py" --include "$sdk/include" --libdir "$sdk/lib/$triplet"

# The headers choose the DPU's role and the ARM by themselves.
printf '%s\n' '#include <doca_config.h>' \
    '#if !defined(DOCA_ARCH_DPU) || !defined(DOCA_ARCH_ARM)' '#error not a DPU with an ARM' '#endif' \
    '#if defined(DOCA_ARCH_HOST) || defined(DOCA_ARCH_X86)' '#error a host, or x86' '#endif' |
    $triplet-gcc -I "$sdk/include" -fsyntax-only -x c -

# A program built with the SDK by its pkg-config file, as users do.
program=$build/dma_copy
# shellcheck disable=SC2046 # a list of flags
$triplet-gcc -std=gnu11 -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API \
    "$source_root/tests/abi/programs/dma_copy.c" -o "$program" \
    $(PKG_CONFIG_LIBDIR="$sdk/lib/$triplet/pkgconfig" pkg-config --cflags --libs doca) \
    -Wl,-rpath-link,"$sysroot/usr/lib/$triplet:$sysroot/lib/$triplet"

qemu=$sysroot/usr/bin/qemu-aarch64-static
if [ -x "$qemu" ]; then
    DOCA_SOFT=1 "$qemu" -L /usr/$triplet -E \
        LD_LIBRARY_PATH="$sdk/lib/$triplet:$sysroot/usr/lib/$triplet:$sysroot/lib/$triplet" \
        "$program" -t 'hello from aarch64' | tee "$build/said"
    grep -q 'copied on the DPU: hello from aarch64' "$build/said"
fi
echo "the SDK for aarch64 is in $sdk"
