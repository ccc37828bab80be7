#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Checks packages by lintian and rpmlint, and the spec of rpm by rpmlint: an error fails, and so does a warning of lintian.
#
#   scripts/lint_packages.sh [FOLDER...]        default: all folders build-packages* of scripts/build_packages.sh
#
# In a FOLDER, *.deb and opt/*.deb are checked, and *.rpm. packaging/rpm/rpmlint.filters lists what is intended. Missing programs are
# installed by apt.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=scripts/usage.sh
source "$top/scripts/usage.sh"
refuse_options "$@"
if [ $# = 0 ]; then
    mapfile -t folders < <(ls -d "$top"/build-packages*/ 2>/dev/null)
    set -- "${folders[@]}"
fi
"$top/scripts/install_dependencies.sh" packages
status=0
rpmlint "$top/packaging/rpm/opendoca.spec" || status=1
for folder in "$@"; do
    mapfile -t debs < <(find "$folder" -maxdepth 2 -name '*.deb' ! -path '*/source/*' | sort)
    mapfile -t rpms < <(find "$folder" -maxdepth 1 -name '*.rpm' | sort)
    echo "== $folder: ${#debs[@]} packages of Debian, ${#rpms[@]} of rpm"
    [ ${#debs[@]} = 0 ] || lintian --allow-root --tag-display-limit 0 --fail-on error,warning "${debs[@]}" || status=1
    [ ${#rpms[@]} = 0 ] || rpmlint --rpmlintrc "$top/packaging/rpm/rpmlint.filters" "${rpms[@]}" || status=1
done
exit $status
