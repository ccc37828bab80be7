#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds and tests the files of this git checkout in a minimal Debian root where only git is installed, so that packages
# of this machine cannot hide a missing dependency.
#
#   scripts/test_in_fresh_debian.sh RELEASE DIR
#
#   RELEASE  debian12  the README's first command, then the tutorial's installation, then the tests
#                      documentation_commands and generations on what it installed; the root is made anew each time
#            debian13  libraries, tools and one test program for each library, with warnings as errors; then the tests of
#                      the suites unit, conformance and samples; the root and its build tree are kept
#   DIR      where the root, its archive and the results are kept. The logs of debian13's tests: DIR/meson-logs
#
# Ends with 77, after a line that says why, where no such root can be made. DEBIAN_MIRROR names another mirror than
# deb.debian.org. Needs root and mmdebstrap (scripts/install_dependencies.sh roots).
set -euo pipefail

skip() {
    echo "skipped: $*"
    exit 77
}

usage() {
    sed -n '8,19s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

[ $# = 2 ] || usage
release=$1
case $release in
debian12) suite=bookworm ;;
debian13) suite=trixie ;;
*) usage ;;
esac
top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
mkdir -p "$2"
dir=$(cd "$2" && pwd)
root=$dir/root
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

[ "$(id -u)" = 0 ] || skip "a $release root is made by root alone"
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces of mounts and processes here"
git -C "$top" rev-parse --git-dir >/dev/null 2>&1 || skip "$top is not a git checkout"
if [ ! -e "$dir/minbase.tar" ]; then
    command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
    # Downloads the release file only: a mirror that is unreachable skips the test, packages that fail do not.
    /usr/lib/apt/apt-helper download-file "$mirror/dists/$suite/InRelease" "$dir/InRelease" >/dev/null 2>&1 ||
        skip "$mirror/dists/$suite cannot be reached"
    rm -rf "$dir/minbase.new"
    mmdebstrap --quiet --format=tar --variant=minbase --include=git,ca-certificates "$suite" "$dir/minbase.new" "$mirror"
    mv "$dir/minbase.new" "$dir/minbase.tar"
fi

# Mounts and processes exist in namespaces of their own and end with them. unshare ignores SIGTERM while its child runs;
# killed, it takes the child and so the whole namespace with it.
inside=
trap '[ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM HUP
in_root() { # COMMAND...
    local status=0
    # shellcheck disable=SC2016 # variables of the inner shell
    unshare --mount --pid --ipc --fork --kill-child bash -c '
        set -e
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/dev/shm"
        mount --rbind -o ro /sys "$root/sys"
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb "$@"' \
        in_root "$root" "$@" &
    inside=$!
    wait "$inside" || status=$?
    inside=
    return $status
}

if [ "$release" = debian12 ] || [ ! -e "$root/complete" ]; then
    rm -rf --one-file-system "$root"
    mkdir "$root"
    tar -C "$root" -xf "$dir/minbase.tar" --exclude='./dev/*'
    touch "$root/complete"
fi
cp --remove-destination -L /etc/resolv.conf "$root/etc/resolv.conf"
# Package lists of a cached archive may name packages that the mirror no longer has.
in_root apt-get -qq update || skip "$mirror cannot be reached from the $release root"

# The files of the checkout with uncommitted changes. They keep their times, so that ninja builds only what has changed.
rm -rf "${root:?}/opendoca"
mkdir "$root/opendoca"
git -C "$top" ls-files -z --cached --others --exclude-standard |
    tar -C "$top" --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -C "$root/opendoca" --no-same-owner -xf -

cp "$top/scripts/in_fresh_debian/$release.sh" "$root/commands.sh"
status=0
in_root bash /commands.sh || status=$?
rm -rf "$dir/meson-logs"
[ ! -d "$root/build/meson-logs" ] || cp -r "$root/build/meson-logs" "$dir/meson-logs"
[ "$status" = 0 ] || exit "$status"
echo "$release: built and tested in a minimal root"
