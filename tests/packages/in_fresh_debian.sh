#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Installs packages in a fresh minimal Debian, from a repository that is made of them, tries them with nothing in the environment,
# beside a DOCA with modules of its own, too, and purges them: nothing may be left.
#
#   tests/packages/in_fresh_debian.sh FOLDER_OF_PACKAGES [CODENAME]        default: bookworm
#
# Ends with 77 where mmdebstrap or the mirror can't be had. DEBIAN_MIRROR names another mirror than deb.debian.org.
set -euo pipefail

packages=$(cd "$1" && pwd)
codename=${2:-bookworm}
here=$(dirname "$(readlink -f "$0")")
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
command -v mmdebstrap >/dev/null || { echo "skipped: no mmdebstrap"; exit 77; }
# The release alone, to tell a mirror that is away from packages that fail.
/usr/lib/apt/apt-helper download-file "$mirror/dists/$codename/InRelease" "$(mktemp)" >/dev/null 2>&1 ||
    { echo "skipped: $mirror can't be reached"; exit 77; }

repository=$(mktemp -d)
trap 'rm -rf "$repository"' EXIT
"$here/../../scripts/make_apt_repository.sh" --codename "$codename" "$repository" "$packages"/*.deb "$packages"/opt/*.deb

# The root lives as long as the hooks; what users install to build programs is there from the beginning, and so is adduser, which
# Debian's libibverbs1 needs and apt does not remove with it.
mmdebstrap --quiet --variant=minbase --format=null --dpkgopt=force-unsafe-io \
    --include=adduser,gcc,libc6-dev,libbsd-dev,meson,pkg-config \
    --customize-hook="mkdir \"\$1/packages\" && cp -r '$packages'/*.deb '$packages/opt' '$here'/../../debian/tests/* '$here/inside.sh' \"\$1/packages\"" \
    --customize-hook="cp -r '$repository' \"\$1/repository\" && chmod 755 \"\$1/repository\"" \
    --customize-hook='chroot "$1" env -i PATH="$PATH" TERM=dumb /packages/inside.sh '"$codename" \
    "$codename" - "$mirror" >/dev/null
echo "installed, tried and purged in a fresh Debian ($codename): all well"
