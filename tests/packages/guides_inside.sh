#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# What guides_in_fresh_debian.sh does inside of the fresh root, with the name of its release: the packages for /opt/mellanox/doca are in
# /guides, and a repository of the others is in /repository.
set -eu
exec 1>&2
cd /guides

# Nobody answers: in place of the user, apt takes each question as accepted.
cat >/etc/apt/apt.conf.d/90unattended <<'END'
APT::Get::Assume-Yes "true";
APT::Install-Recommends "true"; # Debian's default, which mmdebstrap's roots may not have
END
export DEBIAN_FRONTEND=noninteractive
echo "deb [trusted=yes] file:/repository $1 main" >/etc/apt/sources.list.d/opendoca.list
quietly() { "$@" >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }; }

quietly apt-get -q update
for package in ./opendoca-opt_*.deb ./opendoca3.0-opt_*.deb; do
    echo "== apt install $package"
    quietly apt install "$package"
    python3 samples/test_guides.py --installed -v
done
