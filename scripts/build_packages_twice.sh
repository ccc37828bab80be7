#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the Debian packages of this tree twice and compares them byte by byte: the same source has to give the same packages. The
# builds differ in folder, time, time zone, language, umask and number of processes, and neither takes anything from ccache.
#
#   scripts/build_packages_twice.sh [OUTPUT]          default: build-packages-twice
#
# The packages are in OUTPUT/first and OUTPUT/second/in/a/longer/path. Where two differ, the report of diffoscope, if it is installed, is
# in OUTPUT/NAME.txt. Ends with 1 then. Both builds get what DEB_BUILD_OPTIONS has, as noopt for a quick check of the packaging alone.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=scripts/usage.sh
source "$top/scripts/usage.sh"
refuse_options "$@"
[ $# -le 1 ] || usage
output=${1:-$top/build-packages-twice}
rm -rf "$output"
mkdir -p "$output"
output=$(cd "$output" && pwd)
first=$output/first
second=$output/second/in/a/longer/path
mkdir -p "$first" "$second"
export CCACHE_DISABLE=1

(umask 022 && TZ=UTC LC_ALL=C.UTF-8 "$top/scripts/build_packages.sh" "$first")
(umask 027 && TZ=Asia/Tokyo LC_ALL=POSIX DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-} parallel=1" "$top/scripts/build_packages.sh" "$second")

packages() { (cd "$1" && find . -name source -prune -o -name '*.deb' -print | LC_ALL=C sort); }
names=$(packages "$first")
[ -n "$names" ] || { echo "build_packages_twice.sh: there is no package in $first" >&2; exit 1; }
if [ "$names" != "$(packages "$second")" ]; then
    echo "build_packages_twice.sh: the builds have made different packages:" >&2
    diff <(packages "$first") <(packages "$second") >&2 || true
    exit 1
fi
different=0
for name in $names; do
    cmp -s "$first/$name" "$second/$name" && continue
    different=$((different + 1))
    echo "different: $name"
    report=$output/$(basename "$name").txt
    if command -v diffoscope >/dev/null && ! diffoscope --text "$report" "$first/$name" "$second/$name"; then
        echo "see $report"
    fi
done
[ "$different" = 0 ] || exit 1
echo "both builds have made the same $(wc -l <<<"$names") packages, bit for bit"
