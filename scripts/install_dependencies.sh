#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Installs the packages that opendoca needs on Debian and Ubuntu, with apt, if they are missing.
#
#   scripts/install_dependencies.sh          what building the libraries, tools and samples needs
#   scripts/install_dependencies.sh tests    the same, and what the tests need
#   scripts/install_dependencies.sh vm       what tests in virtual machines and on RDMA devices need, and nothing else
#   scripts/install_dependencies.sh aarch64  what cross-building for 64-bit Arm needs, and nothing else
#   scripts/install_dependencies.sh packages what Debian packages are built and tested with, and nothing else
#   scripts/install_dependencies.sh lint     the programs of scripts/lint.sh, and nothing else
#   scripts/install_dependencies.sh card     third-party programs that test the card made of software, and nothing else
#   scripts/install_dependencies.sh roots    what scripts/test_in_fresh_debian.sh needs, and nothing else
set -eu

build_packages="meson ninja-build pkg-config gcc g++ libibverbs-dev librdmacm-dev libjson-c-dev nlohmann-json3-dev libssl-dev libbsd-dev"
test_packages="libgtest-dev python3 clang make libtbb-dev doxygen mandoc valgrind gnuplot-nox"
# Installed if the release has them. Releases without libclang-rt-dev have clang's runtime in the packages above; g++ 11
# is the compiler of the configuration gxx11 of scripts/run_all_tests.sh.
optional_test_packages="libclang-rt-dev g++-11"
vm_packages="qemu-system-x86 busybox-static cpio kmod iproute2 ibverbs-providers ibverbs-utils perftest valgrind"
# Without the Arm libraries, which scripts/aarch64_sysroot.sh unpacks.
aarch64_packages="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user"
lint_packages="clang-format clang-tidy shellcheck flake8"
card_packages="ibverbs-providers ibverbs-utils perftest python3-pyverbs python3-scapy ucx-utils iproute2"
roots_packages="mmdebstrap git"
packages_packages="debhelper doxygen dpkg-dev libtbb-dev lintian mmdebstrap"

case "${1-}" in
'')
    wanted=$build_packages
    optional=
    ;;
tests)
    wanted="$build_packages $test_packages $card_packages"
    optional=$optional_test_packages
    ;;
vm)
    wanted=$vm_packages
    optional=
    ;;
aarch64)
    wanted=$aarch64_packages
    optional=
    ;;
card)
    wanted=$card_packages
    optional=
    ;;
lint)
    wanted=$lint_packages
    optional=
    ;;
packages)
    wanted=$packages_packages
    optional=
    ;;
roots)
    wanted=$roots_packages
    optional=
    ;;
*)
    echo "usage: $0 [tests|vm|aarch64|card|packages|roots|lint]" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "$0: no apt here. Going on, in the hope that these are installed, by whatever name: $wanted" >&2
    exit 0
fi

# Prints those of the packages that are not installed.
not_installed() {
    for package in "$@"; do
        # shellcheck disable=SC2016 # dpkg-query's own variables
        [ -n "$(dpkg-query -W -f '${db:Status-Abbrev}\n' "$package" 2>/dev/null | grep '^.i')" ] || echo "$package"
    done
}

# shellcheck disable=SC2086 # lists of words
missing=$(not_installed $wanted | tr '\n' ' ')
# shellcheck disable=SC2086
missing_optional=$(not_installed $optional | tr '\n' ' ')
# Debian packages rdma-core's tests as documentation, which dpkg does not install in minimal images.
reinstall=
case " $wanted " in
*" python3-pyverbs "*) [ -d /usr/share/doc/rdma-core/tests ] || reinstall=python3-pyverbs ;;
esac
if [ -z "$missing" ] && [ -z "$missing_optional" ] && [ -z "$reinstall" ]; then
    exit 0
fi

as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        [ -n "$missing" ] || exit 0
        echo "$0: run this as root, or install these packages: $missing" >&2
        exit 1
    fi
    as_root=sudo
fi

apt_get() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@"
}

to_install=$missing
if [ -n "$missing" ]; then
    echo "Installing by apt: $missing"
    apt_get update || echo "$0: not all package lists could be updated; trying all the same" >&2
fi
for package in $missing_optional; do
    case $(apt-cache policy "$package") in
    *"Candidate: (none)"*) ;;
    *"Candidate: "*) to_install="$to_install $package" ;;
    esac
done
if [ -n "$to_install" ]; then
    # shellcheck disable=SC2086
    apt_get install --no-install-recommends $to_install
fi
if [ -n "$reinstall" ] && [ ! -d /usr/share/doc/rdma-core/tests ]; then
    apt_get -o DPkg::Options::=--path-include=/usr/share/doc/rdma-core/* install --reinstall "$reinstall" ||
        echo "$0: rdma-core's tests can't be had; what needs them will be skipped" >&2
fi
