#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Run by `meson install` after all else: prints what a shell needs to find the trees that were installed.
#
#   print_exports.sh GENERATION LIBDIR...    e.g. 2.2 lib 3.0 lib/opendoca/3.0/lib; each below the prefix
set -eu
[ -z "${MESON_INSTALL_QUIET-}" ] || exit 0
prefix=$MESON_INSTALL_DESTDIR_PREFIX
echo
while [ $# -gt 1 ]; do
    echo "For programs of DOCA $1:"
    echo "export PKG_CONFIG_PATH=$prefix/$2/pkgconfig"
    echo "export LD_LIBRARY_PATH=$prefix/$2"
    shift 2
done
