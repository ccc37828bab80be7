#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Installs opendoca-opt and then opendoca3.0-opt in a fresh minimal Debian by `apt install ./FILE`, and types the commands of DOCA's
# guides there, word for word: tests/samples/test_guides.py.
#
#   tests/packages/guides_in_fresh_debian.sh FOLDER_OF_PACKAGES [CODENAME]        default: bookworm
#
# Ends with 77 where it is not root, or where mmdebstrap or the mirror can't be had. DEBIAN_MIRROR names another mirror than
# deb.debian.org.
set -euo pipefail

packages=$(cd "$1" && pwd)
codename=${2:-bookworm}
here=$(dirname "$(readlink -f "$0")")
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
command -v mmdebstrap >/dev/null || { echo "skipped: no mmdebstrap"; exit 77; }
unshare --mount true 2>/dev/null || { echo "skipped: not root, or no namespaces of mounts here"; exit 77; }
/usr/lib/apt/apt-helper download-file "$mirror/dists/$codename/InRelease" "$(mktemp)" >/dev/null 2>&1 ||
    { echo "skipped: $mirror can't be reached"; exit 77; }

repository=$(mktemp -d)
trap 'rm -rf "$repository"' EXIT
"$here/../../scripts/make_apt_repository.sh" --codename "$codename" "$repository" "$packages"/*.deb

# python3 runs the test, sudo is in the guides' commands. Mounts that the test makes are never seen outside of this namespace.
unshare --mount mmdebstrap --quiet --variant=minbase --format=null --dpkgopt=force-unsafe-io --include=python3,sudo \
    --customize-hook='mkdir -p "$1/guides/samples" "$1/guides/abi"' \
    --customize-hook="cp '$here'/../samples/test_guides.py '$here'/../samples/program.py \"\$1/guides/samples\"" \
    --customize-hook="cp '$here'/../abi/tree.py \"\$1/guides/abi\" && cp '$here'/guides_inside.sh \"\$1/guides\"" \
    --customize-hook="cp '$packages'/opt/*.deb \"\$1/guides\" && cp -r '$repository' \"\$1/repository\" && chmod 755 \"\$1/repository\"" \
    --customize-hook='mount --types proc proc "$1/proc"' \
    --customize-hook='chroot "$1" env -i PATH="$PATH" HOME=/root TERM=dumb /guides/guides_inside.sh '"$codename" \
    --customize-hook='umount "$1/proc"' \
    "$codename" - "$mirror" >/dev/null
echo "the guides' commands work after apt install in a fresh Debian ($codename), in both generations"
