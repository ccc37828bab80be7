#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Makes a repository of Debian packages, which apt reads from a folder or a web server.
#
#   scripts/make_apt_repository.sh [OPTION...] DIRECTORY PACKAGE...
#
#   --codename NAME   the release of Debian that the packages are for (default: bookworm); may be repeated
#   --key ID          the key of gpg that signs; its public part is put in dists/NAME/opendoca.asc
#
# PACKAGE... are all packages of these releases, of amd64, arm64 and all: what DIRECTORY has of the same releases is replaced, and
# other releases stay. So packages that were built on two releases take two calls. In DIRECTORY are afterwards
# dists/NAME/Release, dists/NAME/main/binary-ARCH/Packages and Packages.gz, the packages in pool/NAME, and with --key
# dists/NAME/InRelease and Release.gpg. The same packages give the same bytes, but for signatures: the date of a release is
# SOURCE_DATE_EPOCH, or else that of the newest package. Nothing is changed if anything fails. Needs apt-ftparchive (apt-utils).
set -euo pipefail

architectures="amd64 arm64"

usage() { sed -n '7,10s/^# \{0,1\}//p' "$0"; }
misused() {
    echo "make_apt_repository.sh: $*" >&2
    usage >&2
    exit 2
}
refuse() { echo "make_apt_repository.sh: $*" >&2; exit 1; }

codenames=()
key=
while [ $# != 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    --codename | --key)
        [ -n "${2-}" ] || misused "$1 needs a value"
        case $1 in
        --codename) codenames+=("$2") ;;
        --key) key=$2 ;;
        esac
        shift
        ;;
    -*) misused "there is no option $1" ;;
    *) break ;;
    esac
    shift
done
[ $# -ge 2 ] || misused "needs a directory and one package at least"
[ ${#codenames[@]} != 0 ] || codenames=(bookworm)
directory=$1
shift
export LC_ALL=C
for codename in "${codenames[@]}"; do
    [[ $codename =~ ^[a-z][a-z0-9-]*$ ]] || misused "'$codename' is no codename of a release: a-z, 0-9 and -"
done
for program in apt-ftparchive:apt-utils dpkg-deb:dpkg ${key:+gpg:gpg}; do
    command -v "${program%:*}" >/dev/null || refuse "${program%:*} is not installed; it is in the package ${program#*:}"
done
[ ! -e "$directory" ] || [ -d "$directory" ] || refuse "$directory is no directory"
[ -z "$key" ] || gpg --batch --list-secret-keys -- "$key" >/dev/null 2>&1 || refuse "gpg has no secret key $key"

field() { dpkg-deb --field "$1" "$2" 2>/dev/null; } # PACKAGE FIELD

# Packages by where they are in the pool, and the newest of their dates.
declare -A pool=()
newest=0
for package in "$@"; do
    [ -f "$package" ] || refuse "$package is no file"
    case $package in /*) ;; *) package=./$package ;; esac
    name=$(field "$package" Package) || refuse "$package is no Debian package"
    version=$(field "$package" Version)
    architecture=$(field "$package" Architecture)
    source=$(field "$package" Source)
    source=${source%% *} # a version may follow
    source=${source:-$name}
    for word in "$name" "$source"; do
        [[ $word =~ ^[a-z0-9][a-z0-9+.-]+$ ]] || refuse "$package: '$word' is no name of a package"
    done
    [[ $version =~ ^([0-9]+:)?[0-9][A-Za-z0-9.+~-]*$ ]] || refuse "$package: '$version' is no version"
    case " $architectures all " in
    *" $architecture "*) ;;
    *) refuse "$package is for $architecture; this makes repositories of $architectures" ;;
    esac
    case $source in
    lib?*) prefix=${source:0:4} ;;
    *) prefix=${source:0:1} ;;
    esac
    place=main/$prefix/$source/${name}_${version#*:}_$architecture.deb
    other=${pool[$place]-}
    [ -z "$other" ] || cmp -s "$other" "$package" ||
        refuse "$other and $package differ, and both are $name $version of $architecture"
    pool[$place]=$package
    # A package is an archive of ar, where the first member's date follows 8 bytes of the archive and 16 of a name.
    date=$(head -c 36 "$package" | tail -c 12 | tr -d ' ')
    [[ $date =~ ^[0-9]{1,11}$ ]] || refuse "$package: '$date' is no date of a member of an archive"
    [ "$date" -le "$newest" ] || newest=$date
done
epoch=${SOURCE_DATE_EPOCH:-$newest}
[[ $epoch =~ ^[0-9]{1,11}$ ]] || refuse "SOURCE_DATE_EPOCH is '$epoch', and no number of seconds"

umask 022
is_new=
[ -d "$directory" ] || is_new=1
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
new=$directory/.new.$$
clean_up() {
    rm -rf "$new"
    # Only where it is empty: this has made it, and nothing is in it.
    [ -z "$is_new" ] || rmdir "$directory" 2>/dev/null || true
}
trap clean_up EXIT
mkdir "$new"
# The settings of this machine are not read.
mkdir -p "$new/etc/apt/apt.conf.d"
printf 'Dir "%s/";\n' "$new" >"$new/apt.conf"
export APT_CONFIG=$new/apt.conf

for codename in "${codenames[@]}"; do
    for place in "${!pool[@]}"; do
        mkdir -p "$new/pool/$codename/${place%/*}"
        cp -- "${pool[$place]}" "$new/pool/$codename/$place"
        chmod 644 "$new/pool/$codename/$place"
    done
    release=$new/dists/$codename
    for architecture in $architectures; do
        lists=$release/main/binary-$architecture
        mkdir -p "$lists"
        (cd "$new" && apt-ftparchive -q -q --arch "$architecture" packages "pool/$codename/main") >"$lists/Packages"
        gzip -9nc "$lists/Packages" >"$lists/Packages.gz"
    done
    options=()
    for option in Origin=opendoca Label=opendoca Suite="$codename" Codename="$codename" Components=main \
        Architectures="$architectures" "Description=opendoca for Debian $codename" \
        Date="$(date -u -d "@$epoch" '+%a, %d %b %Y %H:%M:%S UTC')"; do
        options+=(-o "APT::FTPArchive::Release::$option")
    done
    apt-ftparchive -q -q "${options[@]}" release "$release" >"$new/Release"
    mv "$new/Release" "$release/Release"
    if [ -n "$key" ]; then
        sign() { gpg --batch --yes --quiet --digest-algo SHA512 --local-user "$key" --output "$1" "${@:2}" "$release/Release"; }
        sign "$release/InRelease" --clear-sign || refuse "gpg could not sign with the key $key"
        sign "$release/Release.gpg" --armor --detach-sign || refuse "gpg could not sign with the key $key"
        gpg --batch --yes --quiet --armor --output "$release/opendoca.asc" --export -- "$key"
    fi
done
find "$new" -exec touch -h -d "@$epoch" {} +

mkdir -p "$directory/pool" "$directory/dists"
for codename in "${codenames[@]}"; do
    for part in pool dists; do
        rm -rf "${directory:?}/$part/$codename"
        mv "$new/$part/$codename" "$directory/$part/$codename"
    done
done
rm -rf "$new"
touch -d "@$epoch" "$directory/pool" "$directory/dists" "$directory"
echo "the repository of ${codenames[*]} is in $directory: ${#pool[@]} packages, $([ -n "$key" ] && echo "signed by $key" || echo "not signed")"
