#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds packages of rpm from the last commit of this checkout by packaging/rpm/opendoca.spec, and checks their lists of files.
#
#   scripts/build_rpm_packages.sh [--noopt] [OUTPUT]
#
# The packages are in OUTPUT/*.rpm; default: build-packages-rpm. --noopt leaves optimization out, to try the packaging in half of the time.
# On Debian, where the packages have other names than those that the spec requires, the check of BuildRequires is left out and missing
# programs are installed by apt. meson uses ccache if it is installed.
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
# shellcheck source=scripts/usage.sh
source "$top/scripts/usage.sh"
options=()
if [ "${1-}" = --noopt ]; then
    options+=(--without optimization)
    shift
fi
refuse_options "$@"
[ $# -le 1 ] || usage
output=${1:-$top/build-packages-rpm}
mkdir -p "$output"
output=$(cd "$output" && pwd)
build=$output/rpmbuild
rm -rf "$build" "$output"/*.rpm

"$top/scripts/install_dependencies.sh"
"$top/scripts/install_dependencies.sh" packages
if command -v dpkg >/dev/null; then options+=(--nodeps); fi
"$top/scripts/make_release.sh" "$build/SOURCES"
rpmbuild -ba "${options[@]}" --define "_topdir $build" "$top/packaging/rpm/opendoca.spec"
find "$build/RPMS" "$build/SRPMS" -name '*.rpm' -exec mv -t "$output" {} +
rm -rf "$build"
"$top/tests/packages/check_rpm_packages.py" "$output" "$top/packaging/rpm/opendoca.spec"
echo "the packages are in $output:"
(cd "$output" && ls -1 ./*.rpm)
