#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds opendoca in every way that counts and runs all of its tests: g++ release, and g++ with the address,
# undefined-behaviour and thread sanitizers; clang and g++ 11 compile libraries and tools, with warnings as errors; all is
# cross-built for 64-bit Arm, where the tests of one process run under an emulator (docs/testing.md says what that does
# not show). On request, minimal roots of Debian 12 and 13 build and test what users do there
# (scripts/test_in_fresh_debian.sh). While the tests of one configuration run, the next one is built with what they
# leave of the processors.
# Installs by apt what is missing. Ends with a line that counts the tests, if the configurations have any.
#
#   scripts/run_all_tests.sh [CONFIGURATION...]    release, clang, gxx11, asan, tsan, aarch64, debian13,
#                                                  debian12; default: all but the last two, gxx11 where g++-11
#                                                  is, aarch64 on Debian; debian13 and debian12 need root
#   scripts/run_all_tests.sh quick                 for each change: unit tests, conformance on the software device and one
#                                                  card, checks of the sources; six minutes when it was built before
#
# Environment: OPENDOCA_BUILD_ROOT  where the build trees go (default: build-tests below the project)
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
root=${OPENDOCA_BUILD_ROOT:-$top/build-tests}
configurations=("$@")
"$top/scripts/install_dependencies.sh" tests
if [ ${#configurations[@]} = 0 ]; then
    configurations=(clang release asan tsan)
    ! command -v g++-11 >/dev/null || configurations=(gxx11 "${configurations[@]}")
    # shellcheck source=/dev/null
    if [ "$(uname -m)" != aarch64 ] && [ "$(. /etc/os-release && echo "$ID")" = debian ]; then
        configurations+=(aarch64)
    fi
fi

case " ${configurations[*]} " in
*" aarch64 "*) "$top/scripts/install_dependencies.sh" aarch64 ;;
esac
case " ${configurations[*]} " in
*" debian1"*) "$top/scripts/install_dependencies.sh" roots ;;
esac

clang_c=$(command -v clang || command -v clang-14 || ls /usr/bin/clang-[0-9]* 2>/dev/null | sed -n 1p)
clang_cxx=$(command -v clang++ || command -v clang++-14 || ls /usr/bin/clang++-[0-9]* 2>/dev/null | sed -n 1p)

# A sanitizer's report must fail the test, and say where.
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=0:exitcode=66:second_deadlock_stack=1

# Warnings are errors with the compilers that CI has; others have warnings of their own.
werror() { # COMPILER
    case $("$1" --version | sed -n 1p) in
    *clang\ version\ 14.* | *\)\ 11.* | *\)\ 12.* | *\)\ 14.*) echo -Dwerror=true ;;
    *) echo -Dwerror=false ;;
    esac
}

setup() { # NAME MESON_ARGUMENT...
    local build=$root/$1
    shift
    set -- "$(werror "${CXX:-c++}")" "$@"
    if [ -f "$build/build.ninja" ]; then
        meson configure "$build" "$@" >/dev/null
    else
        meson setup --fatal-meson-warnings "$build" "$top" "$@"
    fi
}

# The cache takes messages of another language for other results.
unset LC_CTYPE LC_MESSAGES
export LANG=C.UTF-8 LC_ALL=C.UTF-8

# Headers that take long are precompiled; a cache of compilers that is here (ccache) may use what includes these.
sloppiness=${CCACHE_SLOPPINESS:-$(ccache -k sloppiness 2>/dev/null || true)}
export CCACHE_SLOPPINESS=${sloppiness:+$sloppiness,}pch_defines,time_macros

# -g1: what a sanitizer reports has functions and lines; variables would take a tenth of the time to compile.
# Together: twenty files of a library are compiled as one, in half of the time. Users compile them one by one, as the
# README's first command does; tests/scripts/test_includes.py finds what such a build lacks.
together=(-Dunity=on -Dunity_size=20)
sanitize=("${together[@]}" -Dtests=true -Ddocs=disabled -Dbuildtype=debug -Db_pch=true -Dc_args=-g1 -Dcpp_args=-g1)

# Options of `meson test`: the suites that a configuration runs.
suites_of() { # CONFIGURATION
    case $1 in
    # Hostile inputs show more where memory is checked: asan runs them.
    release) echo --no-suite fuzz ;;
    # Headers and symbols are the same with a sanitizer (abi).
    asan) echo --no-suite abi ;;
    # What these run has one thread, or those of doca_bench, of which the storms and the models have more.
    tsan) echo --no-suite tools --no-suite scripts --no-suite samples --no-suite older --no-suite fuzz --no-suite abi ;;
    aarch64) echo --suite cross ;;
    quick) echo --suite unit --suite conformance --suite quick ;;
    esac
}

# Becomes ninja, which ends its compilers when it is ended.
build() { # CONFIGURATION
    case $1 in
    release) setup release -Dtests=true -Db_pch=true "${together[@]}" ;;
    # Libraries and tools: what users compile with clang; the tests run with g++.
    clang) CC=$clang_c CXX=$clang_cxx setup clang -Dbuildtype=debug -Doptimization=0 -Ddebug=false -Db_pch=true -Dtests=false -Ddocs=disabled "${together[@]}" ;;
    # That of Ubuntu 22.04.
    gxx11) CC=gcc-11 CXX=g++-11 setup gxx11 -Dbuildtype=plain -Dtests=false -Ddocs=disabled "${together[@]}" ;;
    asan) setup asan "${sanitize[@]}" -Db_sanitize=address,undefined ;;
    quick) setup quick -Dtests=true -Ddocs=disabled -Dbuildtype=plain "${together[@]}" ;;
    tsan) setup tsan "${sanitize[@]}" -Db_sanitize=thread ;;
    # -O2: at -O1, g++ 12 for Arm warns of strings that are put together.
    aarch64)
        "$top/scripts/aarch64_sysroot.sh" "$root/aarch64-sysroot"
        cross=(--cross-file "$top/packaging/aarch64-linux-gnu.cross" --cross-file "$root/aarch64-sysroot/meson.cross")
        [ ! -f "$root/aarch64/build.ninja" ] || cross=() # it knows
        setup aarch64 "${cross[@]}" -Dtests=true -Ddocs=disabled -Doptimization=2 -Db_pch=true "${together[@]}"
        ;;
    debian12 | debian13) exec nice -n 19 "$top/scripts/test_in_fresh_debian.sh" "$1" "$root/$1" ;;
    esac
    local targets=()
    case $1 in
    release | asan | tsan | quick | aarch64)
        local options names
        read -ra options <<<"$(suites_of "$1")"
        case $1 in # tests install what users get
        release | asan | aarch64) options+=(--default-of src --default-of tools --default-of docs --default-of packaging) ;;
        esac
        names=$("$top/scripts/targets_of_tests.py" "$root/$1" "${options[@]}")
        mapfile -t targets <<<"$names"
        ;;
    esac
    exec nice -n 19 ninja -C "$root/$1" --quiet "${targets[@]}"
}

builder=
start_build() { # CONFIGURATION
    (build "$1") >"$root/build-$1.log" 2>&1 &
    builder=$!
}
trap '[ -z "$builder" ] || kill "$builder" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM HUP

for configuration in "${configurations[@]}"; do
    case $configuration in
    release | clang | gxx11 | asan | tsan | aarch64 | debian12 | debian13 | quick) ;;
    *)
        echo "no such configuration: $configuration (release, clang, gxx11, asan, tsan, aarch64, debian13, debian12, quick)" >&2
        exit 2
        ;;
    esac
done

mkdir -p "$root"
status=0
"$top/scripts/install_dependencies.sh" lint
lint="lint: nothing found"
"$top/scripts/lint.sh" || { status=1 lint="lint: FAILED (its messages are at the beginning)"; }
logs=()
times=() # how long each configuration has taken; while one is tested, the next one is built
untested=()
tested_elsewhere=()
start_build "${configurations[0]}"
for index in "${!configurations[@]}"; do
    configuration=${configurations[index]}
    echo "== $configuration"
    built=0
    started=$SECONDS
    wait "$builder" || built=$?
    builder=
    waited=$((SECONDS - started))
    case $configuration in
    debian1*)
        # Built and tested in one step.
        next=${configurations[index + 1]-}
        [ -z "$next" ] || start_build "$next"
        case $built in
        0) tested_elsewhere+=("$configuration") ;;
        77) sed -n 's/^skipped/'"$configuration"': &/p' "$root/build-$configuration.log" ;;
        *)
            cat "$root/build-$configuration.log"
            status=1
            ;;
        esac
        [ "$built" = 77 ] || [ ! -e "$root/$configuration/meson-logs" ] || logs+=("$root/$configuration/meson-logs")
        times+=("$configuration: $waited s")
        continue
        ;;
    esac
    [ "$built" = 0 ] || { cat "$root/build-$configuration.log"; exit 1; }
    next=${configurations[index + 1]-}
    [ -z "$next" ] || start_build "$next"
    if [ "$configuration" = clang ] || [ "$configuration" = gxx11 ]; then
        untested+=("$configuration")
        times+=("$configuration: $waited s for its build")
        continue
    fi
    read -ra suites <<<"$(suites_of "$configuration")"
    started=$SECONDS
    meson test -C "$root/$configuration" --no-rebuild --print-errorlogs "${suites[@]}" || status=1
    logs+=("$root/$configuration/meson-logs")
    times+=("$configuration: $waited s for its build, $((SECONDS - started)) s for its tests")
done

echo
echo "$lint"
[ ${#times[@]} = 0 ] || printf '%s\n' "${times[@]}"
[ ${#untested[@]} = 0 ] || echo "${untested[*]}: compiled without a warning, no tests"
[ ${#tested_elsewhere[@]} = 0 ] || echo "${tested_elsewhere[*]}: built and tested in minimal roots"
[ ${#logs[@]} = 0 ] || python3 "$top/scripts/count_tests.py" "${logs[@]}" || status=1
exit $status
