#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Makes the SVG files of docs/drawings/ from the DOT files beside them. Needs Graphviz (apt install graphviz).
set -eu

cd "$(dirname "$0")/../docs/drawings"
command -v dot >/dev/null || { echo "$0: dot is not installed: apt install graphviz" >&2; exit 1; }
for source in *.dot; do
    drawing=${source%.dot}.svg
    # A test compares the sum with that of the source, so a drawing that is out of date is found.
    sum=$(sha256sum <"$source" | cut -d ' ' -f 1)
    { dot -Tsvg "$source" && echo "<!-- made by scripts/draw.sh of $source, SHA-256 $sum -->"; } >"$drawing.part"
    mv "$drawing.part" "$drawing"
done
