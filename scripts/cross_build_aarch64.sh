#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the libraries and tools for 64-bit Arm on a Debian machine of another CPU, and runs one DMA copy with them.
#
#   scripts/cross_build_aarch64.sh [BUILD_DIR]          default: build-aarch64
#
# The cross compiler and the emulator are installed with apt when they are missing; the Arm libraries are only unpacked,
# under BUILD_DIR (aarch64_sysroot.sh). The SDK is left in BUILD_DIR/installed. All tests that an emulator can run:
# scripts/run_all_tests.sh aarch64.
set -eu

source_root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source_root/build-aarch64}
mkdir -p "$build"
build=$(cd "$build" && pwd)
triplet=aarch64-linux-gnu

"$source_root/scripts/install_dependencies.sh" aarch64
"$source_root/scripts/aarch64_sysroot.sh" "$build/sysroot"
sysroot=$build/sysroot/root
libraries=$sysroot/usr/lib/$triplet:$sysroot/lib/$triplet

if [ ! -e "$build/meson/build.ninja" ]; then
    meson setup "$build/meson" "$source_root" --cross-file "$source_root/packaging/$triplet.cross" \
        --cross-file "$build/sysroot/meson.cross" --prefix=/opt/mellanox/doca -Dlibdir=lib/$triplet -Dtests=false
fi
ninja -C "$build/meson"
rm -rf "$build/installed"
meson install -C "$build/meson" --no-rebuild --quiet --destdir "$build/installed"
sdk=$build/installed/opt/mellanox/doca

# The ABI must match the recorded facts on this CPU as well, for both generations of the API.
check_abi() { # ROOT ARGUMENT...
    root=$1
    shift
    CC="$triplet-gcc -isystem $sysroot/usr/include" CXX="$triplet-g++ -isystem $sysroot/usr/include" \
        python3 "$source_root/tests/abi/check_abi.py" --include "$root/include" --libdir "$root/lib/$triplet" "$@"
}
check_abi "$sdk"
check_abi "$sdk/lib/opendoca/3.0" --facts "$source_root/tests/abi/doca-3.0.json" \
    --exceptions "$source_root/tests/abi/not-built-3.0.json"

# On Arm the headers select the role of a DPU by default.
printf '%s\n' '#include <doca_config.h>' \
    '#if !defined(DOCA_ARCH_DPU) || !defined(DOCA_ARCH_ARM)' '#error not a DPU with an ARM' '#endif' \
    '#if defined(DOCA_ARCH_HOST) || defined(DOCA_ARCH_X86)' '#error a host, or x86' '#endif' |
    $triplet-gcc -I "$sdk/include" -fsyntax-only -x c -

# Builds a program with the SDK by its pkg-config file, as users do, and runs it under the emulator.
program=$build/dma_copy
# shellcheck disable=SC2046 # a list of flags
$triplet-gcc -std=gnu11 -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API \
    "$source_root/tests/abi/programs/dma_copy.c" -o "$program" \
    $(PKG_CONFIG_LIBDIR="$sdk/lib/$triplet/pkgconfig" pkg-config --cflags --libs doca) \
    -Wl,-rpath-link,"$libraries"
DOCA_SOFT=1 qemu-aarch64 -L /usr/$triplet -E LD_LIBRARY_PATH="$sdk/lib/$triplet:$libraries" \
    "$program" -t 'hello from aarch64' | tee "$build/said"
grep -q 'copied on the DPU: hello from aarch64' "$build/said"
echo "the SDK for aarch64 is in $sdk"
