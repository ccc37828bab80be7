#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds hello_comch.c against the SDK tree of DOCA 3.0 that pkg-config finds, and runs its two sides on software devices.
#
#   PKG_CONFIG_PATH=<prefix>/lib/opendoca/3.0/lib/<triplet>/pkgconfig run.sh
#
# Exits 0 when the server has heard the client.
set -eu

here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

# The word splitting of pkg-config's options is meant.
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API "$here/hello_comch.c" -o "$work/hello" \
    $(pkg-config --cflags --libs doca-common doca-comch)

LD_LIBRARY_PATH=$(pkg-config --variable=libdir doca-common)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH DOCA_SOFT=1
DOCA_SOFT_ROLE=dpu timeout 60 "$work/hello" server &
server=$!
DOCA_SOFT_ROLE=host timeout 60 "$work/hello" client # waits for the server by itself
wait "$server"
