#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs the commands of DOCA's guides, word for word, in fresh minimal Debians after `apt install ./opendoca-opt_*.deb` and
# `apt install ./opendoca3.0-opt_*.deb`.
#
#   scripts/test_guides_in_fresh_debian.sh [RELEASE[=FOLDER]...]        default: bookworm trixie (Debian 12 and 13)
#
# FOLDER has the packages: by default that of scripts/build_packages.sh --release RELEASE, which is called if there are none. Needs
# root, mmdebstrap and a mirror of Debian; a release for which there is none is skipped, and the script ends with 77.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=scripts/usage.sh
source "$top/scripts/usage.sh"
[ $# != 0 ] || set -- bookworm trixie
for each in "$@"; do
    case $each in
    bookworm | trixie | bookworm=?* | trixie=?*) ;;
    *) usage ;;
    esac
done
result=0
for each in "$@"; do
    release=${each%%=*}
    folder=$top/build-packages-$release
    [ "$each" = "$release" ] || folder=${each#*=}
    if ! ls "$folder"/opt/opendoca-opt_*.deb >/dev/null 2>&1; then
        [ "$each" = "$release" ] || { echo "test_guides_in_fresh_debian.sh: $folder has no packages" >&2; exit 1; }
        "$top/scripts/build_packages.sh" --release "$release"
    fi
    status=0
    "$top/tests/packages/guides_in_fresh_debian.sh" "$folder" "$release" || status=$?
    [ "$status" = 0 ] || [ "$status" = 77 ] || exit 1
    [ "$status" = 0 ] || result=77
done
exit $result
