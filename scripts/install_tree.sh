#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the libraries and tools of both generations, without tests, and installs them as a tree: what containers and
# CI jobs of programs that use opendoca need. Installs the packages that the build needs where they are missing.
#
#   scripts/install_tree.sh [OPTION...] [-- MESON_OPTION...]
#
#   --prefix PREFIX      where the tree is installed (default: /opt/opendoca); made with sudo where it cannot be made without
#   --generation 2.2|3.0 the API generation whose tree is at PREFIX itself (default: 2.2); the other one is in
#                        PREFIX/lib/opendoca
#   --build BUILD        where it is built (default: build-tree below the project); a build tree of this script is used again
#
# Libraries are in PREFIX/lib on every system, so that no path depends on the distribution or the CPU. MESON_OPTION...
# are passed to `meson setup`.
set -eu

usage() {
    sed -n '8,13s/^# \{0,1\}//p' "$0"
}
refuse() {
    echo "install_tree.sh: $*" >&2
    usage >&2
    exit 2
}

top=$(cd "$(dirname "$0")/.." && pwd)
prefix=/opt/opendoca
generation=2.2
build=$top/build-tree
while [ $# != 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    --)
        shift
        break
        ;;
    --prefix | --generation | --build)
        [ -n "${2-}" ] || refuse "$1 needs a value"
        case $1 in
        --prefix) prefix=$2 ;;
        --generation) generation=$2 ;;
        --build) build=$2 ;;
        esac
        shift
        ;;
    *) refuse "no such option: '$1'" ;;
    esac
    shift
done
case $generation in
2.2 | 3.0) ;;
*) refuse "generations are 2.2 and 3.0, and not '$generation'" ;;
esac
case $prefix in
/usr) refuse "/usr has another layout: install the packages there" ;;
/*) ;;
*) refuse "the prefix must be an absolute path, and is '$prefix'" ;;
esac

"$top/scripts/install_dependencies.sh"
if ! mkdir -p "$prefix" 2>/dev/null || [ ! -w "$prefix" ]; then
    sudo install -d -o "$(id -un)" "$prefix"
fi
reconfigure=
[ ! -f "$build/build.ninja" ] || reconfigure=--reconfigure
# Twenty files of a library are compiled as one, in half of the time.
meson setup $reconfigure "$build" "$top" --prefix="$prefix" --libdir=lib -Dprefix_generation="$generation" -Dtests=false \
    -Ddocs=disabled -Dunity=on -Dunity_size=20 "$@"
meson compile -C "$build"
meson install -C "$build" --no-rebuild --quiet
echo "opendoca is installed in $prefix, with the API of $generation at the prefix"
