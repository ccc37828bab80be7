#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Collects the files of a release from the last commit of this checkout.
#
#   scripts/make_release.sh [--tag TAG] OUTPUT [FILE...]
#
# In OUTPUT, which must be new or empty, are afterwards: the source archive, the SBOM (SPDX 2.3), the notes of this version from
# CHANGELOG.md (NOTES.md), copies of the FILEs, which are packages as a rule, and SHA256SUMS of all of these. The same commit
# and files give the same bytes; a checkout with changes is refused. With --tag, refuses a TAG that is not "v" and the version in meson.build.
set -euo pipefail

usage() { sed -n '7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
refuse() { echo "make_release.sh: $*" >&2; exit 1; }

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
tag=
while [ $# != 0 ]; do
    case $1 in
    --tag)
        tag=${2-}
        [ -n "$tag" ] || usage
        shift
        ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# != 0 ] || usage
output=$1
shift
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$top/meson.build")
[ -z "$tag" ] || [ "$tag" = "v$version" ] || refuse "the tag is $tag, and the version in meson.build is $version"
for file in "$@"; do
    [ -f "$file" ] || refuse "$file is no file"
done
[ -z "$(ls -A "$output" 2>/dev/null)" ] || refuse "$output is not empty"
[ -z "$(git -C "$top" status --porcelain --untracked-files=no)" ] || refuse "$top has changes that are not committed"
notes=$(awk -v heading="## [$version]" 'index($0, "## [") == 1 { inside = index($0, heading) == 1; next } inside' "$top/CHANGELOG.md")
[ -n "$notes" ] || refuse "CHANGELOG.md has no section of $version"

mkdir -p "$output"
[ $# = 0 ] || cp -- "$@" "$output"
# Settings of this user and machine that change what is archived.
git -C "$top" -c core.autocrlf=false -c core.eol=lf -c tar.umask=0002 archive --format=tar --prefix="opendoca-$version/" HEAD | gzip -9n >"$output/opendoca-$version.tar.gz"
"$top/scripts/sbom.py" --output "$output/opendoca-$version.spdx.json" "$output/opendoca-$version.tar.gz" "${@/#*\//$output/}"
printf '%s\n' "$notes" | sed '/./,$!d' >"$output/NOTES.md"
(cd "$output" && find . -type f ! -name SHA256SUMS -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum >SHA256SUMS)
echo "the release $version is in $output:"
cut -d ' ' -f 3 "$output/SHA256SUMS"
