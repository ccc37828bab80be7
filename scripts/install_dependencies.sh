#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Installs what opendoca needs, and only where it is missing: with apt on Debian and Ubuntu, with dnf on RHEL, Rocky Linux
# and others like them from 9 on and on Fedora, with zypper on SLES and openSUSE.
#
#   scripts/install_dependencies.sh          what building the libraries, tools and samples needs
#   scripts/install_dependencies.sh tests    and what the tests need
#   scripts/install_dependencies.sh lint     the programs of scripts/lint.sh, and nothing else
#   scripts/install_dependencies.sh card     third-party programs that test the card made of software, and nothing else
#
# On Debian and Ubuntu alone, elsewhere these install nothing:
#   scripts/install_dependencies.sh vm       what tests in virtual machines and on RDMA devices need, and nothing else
#   scripts/install_dependencies.sh aarch64  what cross-building for 64-bit Arm needs, and nothing else
#   scripts/install_dependencies.sh packages what Debian packages are built and tested with, and nothing else
#   scripts/install_dependencies.sh roots    what minimal roots of Debian are made with, and nothing else
#
# Some packages for RHEL and its like are in EPEL and in CodeReady Builder (CRB). EPEL is installed (epel-release) where it is
# missing; CRB is enabled for the commands of this script alone. See docs/install.md.
set -eu

# Prints the first of the package managers whose programs are all here.
package_manager() {
    if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
        echo apt
    elif command -v dnf >/dev/null && command -v rpm >/dev/null; then
        echo dnf
    elif command -v zypper >/dev/null && command -v rpm >/dev/null; then
        echo zypper
    fi
}
manager=$(package_manager)

# Prints a macro of rpm, or 0 where it is not defined: rhel, suse_version.
rpm_macro() { rpm -E "%{?$1}%{!?$1:0}"; }

# Optional packages are installed where they exist. Those of the build are the libraries beneath libdoca_compress
# and libdoca_erasure_coding.
optional_build_packages=
optional_test_packages=
optional_card_packages=
debian_only=
case $manager in
dnf | zypper)
    # pkgconfig(NAME) is the package with NAME.pc, whatever its name: what meson.build asks for.
    libraries="pkgconfig(libibverbs) pkgconfig(librdmacm) pkgconfig(libmlx5) pkgconfig(json-c) pkgconfig(nlohmann_json) pkgconfig(libbsd)"
    test_libraries="pkgconfig(gtest) pkgconfig(tbb)"
    debian_only="vm aarch64 packages roots"
    ;;
esac
case $manager in
dnf)
    build_packages="meson ninja-build pkgconf-pkg-config gcc gcc-c++ $libraries pkgconfig(libcrypto)"
    test_packages="$test_libraries python3 python3-pyyaml clang make doxygen valgrind gnuplot"
    optional_build_packages="libdeflate-devel lz4-devel xxhash-devel isa-l-devel"
    optional_test_packages="compiler-rt mandoc zlib-devel lz4 qpdf"
    lint_packages="clang-tools-extra ShellCheck python3-flake8 yamllint"
    card_packages="libibverbs libibverbs-utils infiniband-diags librdmacm-utils perftest python3-pyverbs ucx ucx-ib iproute"
    optional_card_packages="python3-scapy ucx-ib-mlx5 libfabric"
    ;;
zypper)
    compiler="gcc gcc-c++"
    # The default compiler of SLES and Leap 15 is gcc 7.
    [ "$(rpm_macro suse_version)" -ge 1600 ] || compiler="gcc13 gcc13-c++"
    build_packages="meson ninja pkg-config $compiler $libraries libopenssl-3-devel"
    test_packages="$test_libraries python3 python3-PyYAML clang make doxygen valgrind gnuplot"
    optional_build_packages="libdeflate-devel liblz4-devel xxhash-devel libisal-devel"
    optional_test_packages="mandoc zlib-devel lz4 qpdf"
    lint_packages="clang-tools ShellCheck python3-flake8"
    card_packages="libibverbs libibverbs-utils libmlx5-1 infiniband-diags perftest iproute2"
    optional_card_packages="librdmacm-utils python3-pyverbs python3-scapy ucx-tools libfabric"
    ;;
*)
    build_packages="meson ninja-build pkg-config gcc g++ libibverbs-dev librdmacm-dev libjson-c-dev nlohmann-json3-dev libssl-dev libbsd-dev"
    build_packages="$build_packages libdeflate-dev liblz4-dev libxxhash-dev libisal-dev"
    test_packages="libgtest-dev python3 python3-yaml clang make libtbb-dev doxygen mandoc valgrind gnuplot-nox"
    test_packages="$test_packages zlib1g-dev lz4 qpdf" # other implementations of what libdoca_compress does
    # libclang-rt-dev: elsewhere the runtime of clang is part of the packages above. g++-11: the compiler of the
    # configuration gxx11 of scripts/run_all_tests.sh.
    # libjerasure-dev: redundancy of libdoca_erasure_coding next to that of others.
    optional_test_packages="libclang-rt-dev g++-11 libjerasure-dev"
    vm_packages="qemu-system-x86 busybox-static cpio kmod iproute2 ibverbs-providers ibverbs-utils perftest valgrind"
    # The Arm libraries are not installed: scripts/aarch64_sysroot.sh.
    aarch64_packages="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user"
    lint_packages="clang-format clang-tidy shellcheck flake8 yamllint"
    card_packages="ibverbs-providers ibverbs-utils infiniband-diags rdmacm-utils perftest python3-pyverbs python3-scapy ucx-utils libfabric-bin iproute2"
    roots_packages="mmdebstrap git"
    packages_packages="apt-utils debhelper doxygen dpkg-dev gpg libtbb-dev lintian mmdebstrap rpm rpmlint"
    ;;
esac

case " $debian_only " in
*" ${1:--} "*)
    echo "$0: $1 is for Debian and Ubuntu alone. Going on without it" >&2
    exit 0
    ;;
esac
optional=
case "${1-}" in
'')
    wanted=$build_packages
    optional=$optional_build_packages
    ;;
tests)
    wanted="$build_packages $test_packages $card_packages"
    optional="$optional_build_packages $optional_test_packages $optional_card_packages"
    ;;
vm) wanted=$vm_packages ;;
aarch64) wanted=$aarch64_packages ;;
card)
    wanted=$card_packages
    optional=$optional_card_packages
    ;;
lint) wanted=$lint_packages ;;
packages) wanted=$packages_packages ;;
roots) wanted=$roots_packages ;;
*)
    echo "usage: $0 [tests|vm|aarch64|card|packages|roots|lint]" >&2
    exit 2
    ;;
esac

if [ -z "$manager" ]; then
    echo "$0: no apt, dnf or zypper here. Going on, in the hope that these are installed, by whatever name: $wanted" >&2
    exit 0
fi
rhel=0
if [ "$manager" = dnf ]; then
    rhel=$(rpm_macro rhel)
    if [ "$rhel" != 0 ] && [ "$rhel" -lt 9 ]; then
        echo "$0: RHEL $rhel and its like are too old: their g++ has no C++20, OpenSSL is older than 3.0 and meson than 0.61.2" >&2
        exit 1
    fi
fi
case "$manager $wanted " in
zypper*" gcc13 "*)
    [ -n "${CXX-}" ] || echo "$0: the default compiler here is older than C++20: set CC=gcc-13 and CXX=g++-13 for meson" >&2
    ;;
esac

is_installed() { # PACKAGE
    if [ "$manager" = apt ]; then
        # shellcheck disable=SC2016 # dpkg-query's own variables
        [ -n "$(dpkg-query -W -f '${db:Status-Abbrev}\n' "$1" 2>/dev/null | grep '^.i')" ]
    else
        rpm -q --whatprovides "$1" >/dev/null 2>&1
    fi
}

# Prints those of the packages that are not installed.
not_installed() {
    for package in "$@"; do
        is_installed "$package" || echo "$package"
    done
}

# shellcheck disable=SC2086 # lists of words
missing=$(not_installed $wanted | tr '\n' ' ')
# shellcheck disable=SC2086
missing_optional=$(not_installed $optional | tr '\n' ' ')
# rdma-core's tests are documentation to the packages, which small images leave out of every package.
reinstall=
case "$manager $wanted " in
zypper*) ;;
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

enabled=
apt_get() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@"
}
run_dnf() {
    # shellcheck disable=SC2086 # options, or none
    $as_root dnf -q -y $enabled "$@"
}
run_zypper() {
    $as_root zypper --non-interactive --quiet "$@"
}

update_lists() {
    case $manager in
    apt) apt_get update ;;
    dnf) run_dnf makecache ;;
    zypper) run_zypper refresh ;;
    esac
}

is_available() { # PACKAGE
    case $manager in
    apt)
        case $(apt-cache policy "$1") in
        *"Candidate: (none)"*) false ;;
        *"Candidate: "*) ;;
        *) false ;;
        esac
        ;;
    dnf) run_dnf list "$1" >/dev/null 2>&1 ;;
    zypper) run_zypper search --match-exact "$1" >/dev/null 2>&1 ;;
    esac
}

install_packages() { # PACKAGE...
    case $manager in
    apt) apt_get install --no-install-recommends "$@" ;;
    dnf) run_dnf install --setopt=install_weak_deps=False "$@" ;;
    zypper)
        status=0
        run_zypper install --no-recommends "$@" || status=$?
        # It has installed everything, and asks for a restart of the machine or of itself.
        case $status in
        102 | 103) ;;
        *) return $status ;;
        esac
        ;;
    esac
}

# Prints the first of dnf's repositories, enabled or not, whose name matches.
repository() { # EXPRESSION
    run_dnf repolist --all | awk '{ print $1 }' | grep -xE "$1" | sed -n 1p
}

# Makes CRB and EPEL available to run_dnf: repositories beside those of RHEL and its like.
add_repositories() {
    for expression in 'crb|codeready-builder-for-rhel-[0-9]+-[^-]*-rpms|ol[0-9]+_codeready_builder' \
        'epel|ol[0-9]+_developer_EPEL'; do
        name=$(repository "$expression")
        [ -z "$name" ] || enabled="$enabled --enablerepo=$name"
    done
    case $enabled in *[eE][pP][eE][lL]*) return ;; esac
    for release in epel-release "oracle-epel-release-el$rhel"; do
        if is_available "$release"; then
            echo "Installing by dnf: $release"
            run_dnf install "$release"
            return
        fi
    done
    echo "$0: some packages are in EPEL, which this installs:" \
        "dnf install https://dl.fedoraproject.org/pub/epel/epel-release-latest-$rhel.noarch.rpm" >&2
}
[ "$rhel" = 0 ] || add_repositories

to_install=$missing
if [ -n "$missing" ]; then
    echo "Installing by $manager: $missing"
    update_lists || echo "$0: not all package lists could be updated; trying all the same" >&2
fi
for package in $missing_optional; do
    if is_available "$package"; then to_install="$to_install $package"; fi
done
if [ -n "$to_install" ]; then
    # shellcheck disable=SC2086
    install_packages $to_install
fi
if [ -n "$reinstall" ] && [ ! -d /usr/share/doc/rdma-core/tests ]; then
    case $manager in
    apt) apt_get -o DPkg::Options::=--path-include=/usr/share/doc/rdma-core/* install --reinstall "$reinstall" ;;
    dnf) run_dnf reinstall --setopt=tsflags= "$reinstall" ;;
    esac || echo "$0: rdma-core's tests can't be had; what needs them will be skipped" >&2
fi
