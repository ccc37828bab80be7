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
# Ends with 77, after a line that says why, where no such root can be made or its packages cannot be downloaded. Needs root
# and mmdebstrap (scripts/install_dependencies.sh roots). Where ccache is installed, the root has a folder in its cache.
#
# Environment: DEBIAN_MIRROR            another mirror than http://deb.debian.org/debian
#              OPENDOCA_DOWNLOAD_LIMIT  seconds that a download may take, of which there are three (default: 300)
set -euo pipefail

skip() {
    echo "skipped: $*"
    exit 77
}

usage() {
    sed -n '8,22s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
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

# Seconds that each download may take, and then everything else.
download_limit=${OPENDOCA_DOWNLOAD_LIMIT:-300}
test_limit=1800

[ "$(id -u)" = 0 ] || skip "a $release root is made by root alone"
unshare --mount --pid --ipc --fork true 2>/dev/null || skip "no namespaces of mounts and processes here"
git -C "$top" rev-parse --git-dir >/dev/null 2>&1 || skip "$top is not a git checkout"

# Runs a command and ends it, by the signal, when this script ends: bash runs its traps while it waits, and not while a
# command runs in the foreground. A command also ends with a script that is killed.
running=
trap '[ -z "$running" ] || kill -s "$signal" "$running" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM HUP
run() { # SIGNAL COMMAND...
    local status=0
    signal=$1
    shift
    setpriv --pdeathsig "$signal" "$@" &
    running=$!
    wait "$running" || status=$?
    running=
    return $status
}

# The last message of a program that has failed, or that it took too long.
reason() { # STATUS LOG SECONDS
    if [ "$1" = 124 ] || [ "$1" = 137 ]; then
        echo "stopped after $3 s"
    else
        sed -n 's/^\(E\|W\|Err\): *//p' "$2" | tail -n 1
    fi
}

if [ ! -e "$dir/minbase.tar" ]; then
    command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
    run TERM timeout "$download_limit" /usr/lib/apt/apt-helper -o Acquire::http::Timeout=30 \
        download-file "$mirror/dists/$suite/InRelease" "$dir/InRelease" >/dev/null 2>&1 || skip "$mirror/dists/$suite cannot be reached"
    rm -rf "$dir/minbase.new"
    status=0
    # Its options for apt and dpkg stay in the root: a connection without data is given up, nothing waits for the disk.
    TMPDIR=$dir run TERM timeout --kill-after=20 "$download_limit" mmdebstrap --format=tar --variant=minbase \
        --include=git,ca-certificates --aptopt='Acquire::http::Timeout "30"' --aptopt='Acquire::Retries "1"' \
        --dpkgopt=force-unsafe-io "$suite" "$dir/minbase.new" "$mirror" >"$dir/mmdebstrap.log" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        cat "$dir/mmdebstrap.log"
        skip "mmdebstrap could not make a $release root from $mirror: $(reason "$status" "$dir/mmdebstrap.log" "$download_limit")"
    fi
    mv "$dir/minbase.new" "$dir/minbase.tar"
fi

if [ "$release" = debian12 ] || [ ! -e "$root/complete" ]; then
    rm -rf --one-file-system "$root"
    mkdir "$root"
    tar -C "$root" -xf "$dir/minbase.tar" --exclude='./dev/*'
    touch "$root/complete"
fi
cp --remove-destination -L /etc/resolv.conf "$root/etc/resolv.conf"

# Results of the root's compilers are stored beside those of this machine's, which may be those of another ccache.
compiler_cache=
if command -v ccache >/dev/null; then
    compiler_cache=$(ccache -k cache_dir)/$release
    mkdir -p "$compiler_cache" "$root/ccache"
fi

# Mounts and processes exist in namespaces of their own and end with them: unshare, killed, takes the child and so all
# processes with it.
in_root() { # SECONDS COMMAND...
    # shellcheck disable=SC2016 # variables of the inner shell
    run KILL unshare --mount --pid --ipc --fork --kill-child bash -c '
        set -e
        root=$1 compiler_cache=$2 seconds=$3
        shift 3
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/dev/shm"
        mount --rbind -o ro /sys "$root/sys"
        ccache=()
        if [ -n "$compiler_cache" ]; then
            mount --bind "$compiler_cache" "$root/ccache"
            ccache=(CCACHE_DIR=/ccache CCACHE_MAXSIZE=500M CCACHE_SLOPPINESS=pch_defines,time_macros)
        fi
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb \
            DEBIAN_FRONTEND=noninteractive "${ccache[@]}" timeout --kill-after=10 "$seconds" "$@"' \
        in_root "$root" "$compiler_cache" "$@"
}

# The files of the checkout with uncommitted changes. They keep their times, so that ninja builds only what has changed.
rm -rf "${root:?}/opendoca"
mkdir "$root/opendoca"
git -C "$top" ls-files -z --cached --others --exclude-standard |
    tar -C "$top" --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -C "$root/opendoca" --no-same-owner -xf -

# All packages are downloaded first, by the same commands that install them later: only this needs the mirror.
cp "$top/scripts/in_fresh_debian/$release.sh" "$root/commands.sh"
echo 'APT::Get::Download-Only "true";' >"$root/download.conf"
status=0
in_root "$download_limit" env APT_CONFIG=/download.conf bash -c '
    set -e
    apt-get -q update --error-on=any
    bash /commands.sh packages' >"$dir/packages.log" 2>&1 || status=$?
if [ "$status" != 0 ]; then
    cat "$dir/packages.log"
    # The package lists are new, so a package that they do not have is an error of ours.
    ! grep -qE 'Unable to locate package|has no installation candidate' "$dir/packages.log" || exit 1
    skip "$release: packages cannot be downloaded from $mirror: $(reason "$status" "$dir/packages.log" "$download_limit")"
fi

status=0
in_root "$test_limit" bash /commands.sh test || status=$?
rm -rf "$dir/meson-logs"
[ ! -d "$root/build/meson-logs" ] || cp -r "$root/build/meson-logs" "$dir/meson-logs"
[ "$status" != 124 ] || echo "$release: stopped after $test_limit s"
[ "$status" = 0 ] || exit 1
echo "$release: built and tested in a minimal root"
