#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# What in_fresh_debian.sh does inside of the fresh root, with the name of its release: the packages are in /packages, and a
# repository of them is in /repository.
set -eu
exec 1>&2
export DEBIAN_FRONTEND=noninteractive
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -dumpmachine)
public=/usr/lib/$triplet/pkgconfig

title() { echo "== $*"; }

# Everything that packages can leave behind; apt's and dpkg's own books are none of theirs, nor is what adduser leaves when
# Debian's libibverbs1 makes its group.
listing() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /packages -o -path /tmp -o -path /var/cache \
        -o -path /var/lib/apt -o -path /var/lib/dpkg/info -o -path /var/log -o -path /etc/gshadow- \
        -o -path /run/adduser \) -prune -o -print |
        grep -v '^/var/lib/dpkg/[a-z-]*$' | sort
    dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' | sort
}

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/bin:/bin HOME=/tmp "$@"; }

purge() {
    # shellcheck disable=SC2046 # a list of names
    apt-get purge -qq -y $(dpkg-query -W -f '${Package}\n' | grep opendoca) >/dev/null
    apt-get autoremove -qq -y --purge >/dev/null
}

# install PACKAGE...
install() {
    apt-get install -qq -y --no-install-recommends "$@" >/tmp/installed 2>&1 || { cat /tmp/installed; exit 1; }
}

echo "deb [trusted=yes] file:/repository $1 main" >/etc/apt/sources.list.d/opendoca.list
rm -f /var/lib/dpkg/*-old
listing >/tmp/before

title "apt update, apt install"
apt-get update -qq >/tmp/installed 2>&1 || { cat /tmp/installed; exit 1; }
# shellcheck disable=SC2046 # a list of names
install $(for package in /packages/*.deb; do basename "$package" | sed 's/_.*//'; done)
apt-cache policy libopendoca3.0 | grep -q file:/repository
for test in tools three-lines samples; do
    title "$test"
    as_user "/packages/$test"
done

title "a program that was linked with another DOCA"
printf 'int doca_version_runtime(void);\nint main(void) { return doca_version_runtime() == 0; }\n' >/tmp/old.c
gcc /tmp/old.c -o /tmp/old "-L/usr/lib/$triplet/opendoca/2.2" -ldoca_common
! as_user /tmp/old 2>/dev/null
as_user with_opendoca /tmp/old

title "/opt/mellanox/doca, of one generation and of the other"
install opendoca-opt
as_user /packages/opt-tree
install opendoca3.0-opt
as_user /packages/opt-tree
[ "$(cat /opt/mellanox/doca/applications/VERSION)" = 3.0.0058 ]

title "purge"
purge
mkdir -p /opt # which dpkg has taken with what was in it
listing >/tmp/after
diff /tmp/before /tmp/after

title "beside a DOCA with modules of its own, installed before and after"
mkdir -p "/tmp/real/DEBIAN" "/tmp/real$public" /tmp/real/opt/mellanox/doca/include
echo "// the original's" >/tmp/real/opt/mellanox/doca/include/doca_version.h
ln -s /opt/mellanox/doca/doca-common.pc "/tmp/real$public/doca-common.pc"
printf 'Package: libdoca-sdk-common-dev\nVersion: 3.0.0058\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: stands for the original\n' \
    >/tmp/real/DEBIAN/control
dpkg-deb -b /tmp/real /tmp/real.deb >/dev/null
is_real() { [ "$(readlink "$public/doca-common.pc")" = /opt/mellanox/doca/doca-common.pc ]; }
dpkg -i /tmp/real.deb >/dev/null
install /packages/*.deb
is_real
[ "$(pkg-config --modversion doca)" = 2.2.0080 ]
for package in /packages/opt/*.deb; do
    if dpkg -i "$package" >/tmp/installed 2>&1; then exit 1; fi
    grep -q 'trying to overwrite .* which is also in package libdoca-sdk-common-dev' /tmp/installed
done
[ "$(cat /opt/mellanox/doca/include/doca_version.h)" = "// the original's" ]
purge
is_real
dpkg -P libdoca-sdk-common-dev >/dev/null
install /packages/*.deb
[ "$(pkg-config --modversion doca-common)" = 3.0.0058 ]
dpkg -i /tmp/real.deb >/dev/null
is_real
purge
is_real
dpkg -P libdoca-sdk-common-dev >/dev/null
mkdir -p /opt # which dpkg has taken with what stood for the original
listing >/tmp/after
diff /tmp/before /tmp/after
