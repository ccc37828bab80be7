#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds opendoca in all supported configurations and runs all of its tests: g++ release, and g++ with the address,
# undefined-behaviour and thread sanitizers. clang and g++ 11 compile libraries and tools, with warnings as errors.
# Everything is cross-built for 64-bit Arm, where tests of a single process run under an emulator (docs/testing.md lists
# what that cannot show). The steps that users take are run in minimal roots of Debian 13 and 12, which are skipped with the
# reason where they cannot be made (scripts/test_in_fresh_debian.sh). While the tests of one configuration run, the next
# configuration is built at low priority.
# Missing packages are installed (scripts/install_dependencies.sh). The last line counts the tests, if the configurations have any.
#
#   scripts/run_all_tests.sh [CONFIGURATION...]    release, clang, gxx11, asan, tsan, aarch64, debian13,
#                                                  debian12; default: all, gxx11 where g++-11 is, aarch64 on
#                                                  Debian; debian13 and debian12 need root and mmdebstrap
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
    configurations+=(debian13 debian12)
fi

case " ${configurations[*]} " in
*" aarch64 "*) "$top/scripts/install_dependencies.sh" aarch64 ;;
esac
case " ${configurations[*]} " in
*" debian1"*)
    # Without these packages the roots are skipped.
    timeout --kill-after=10 300 "$top/scripts/install_dependencies.sh" roots || true
    ;;
esac

clang_c=$(command -v clang || command -v clang-14 || ls /usr/bin/clang-[0-9]* 2>/dev/null | sed -n 1p)
clang_cxx=$(command -v clang++ || command -v clang++-14 || ls /usr/bin/clang++-[0-9]* 2>/dev/null | sed -n 1p)

# A report of a sanitizer must fail the test, and contain the stack.
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=0:exitcode=66:second_deadlock_stack=1

# Prints meson's option for warnings. They are errors with the compilers that CI uses; other versions may have warnings of
# their own.
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
        ninja -C "$build" --quiet build.ninja >/dev/null # the list of tests is that of the sources as they are now
    else
        meson setup --fatal-meson-warnings "$build" "$top" "$@"
    fi
}

# ccache stores results for each language of the compiler's messages separately, so all builds use the same one.
unset LC_CTYPE LC_MESSAGES
export LANG=C.UTF-8 LC_ALL=C.UTF-8

# Large headers are precompiled. ccache, if it is installed, needs these settings to store what includes them.
sloppiness=${CCACHE_SLOPPINESS:-$(ccache -k sloppiness 2>/dev/null || true)}
export CCACHE_SLOPPINESS=${sloppiness:+$sloppiness,}pch_defines,time_macros

# -g1 suffices for functions and lines in the reports of sanitizers; debug information of variables takes another tenth
# of the time of compilation.
# With `together`, twenty files of a library are compiled as one, in half of the time. Users compile them one by one, as
# the README's first command does; tests/scripts/test_includes.py finds includes that only such a build would miss.
together=(-Dunity=on -Dunity_size=20)
sanitize=("${together[@]}" -Dtests=true -Ddocs=disabled -Dbuildtype=debug -Db_pch=true -Dc_args=-g1 -Dcpp_args=-g1)

# Prints the options of `meson test` that select the suites of a configuration.
suites_of() { # CONFIGURATION
    case $1 in
    # The inputs of the suite fuzz run in asan, which detects invalid accesses to memory. The suite rxe needs a quiet machine.
    release) echo --no-suite fuzz --no-suite rxe ;;
    # The suite abi checks headers and symbols, which a sanitizer does not change.
    asan) echo --no-suite abi ;;
    # These suites run one thread, or the threads of doca_bench; the tests with storms and models run more threads.
    tsan) echo --no-suite tools --no-suite scripts --no-suite samples --no-suite older --no-suite fuzz --no-suite abi ;;
    aarch64) echo --suite cross ;;
    quick) echo --suite unit --suite conformance --suite quick ;;
    esac
}

# Builds a configuration. Ends with exec, so the process that start_build() started is ninja, which stops its compilers
# when it is stopped.
build() { # CONFIGURATION
    case $1 in
    release) setup release -Dtests=true -Db_pch=true "${together[@]}" ;;
    # Libraries and tools only: users may compile them with clang, and the tests run with g++.
    clang) CC=$clang_c CXX=$clang_cxx setup clang -Dbuildtype=debug -Doptimization=0 -Ddebug=false -Db_pch=true -Dtests=false -Ddocs=disabled "${together[@]}" ;;
    # The compiler of Ubuntu 22.04.
    gxx11) CC=gcc-11 CXX=g++-11 setup gxx11 -Dbuildtype=plain -Dtests=false -Ddocs=disabled "${together[@]}" ;;
    asan) setup asan "${sanitize[@]}" -Db_sanitize=address,undefined ;;
    quick) setup quick -Dtests=true -Ddocs=disabled -Dbuildtype=plain "${together[@]}" ;;
    tsan) setup tsan "${sanitize[@]}" -Db_sanitize=thread ;;
    # At -O1, g++ 12 for Arm warns about concatenations of strings, so this uses -O2.
    aarch64)
        "$top/scripts/aarch64_sysroot.sh" "$root/aarch64-sysroot"
        cross=(--cross-file "$top/packaging/aarch64-linux-gnu.cross" --cross-file "$root/aarch64-sysroot/meson.cross")
        [ ! -f "$root/aarch64/build.ninja" ] || cross=() # stored in the build tree
        setup aarch64 "${cross[@]}" -Dtests=true -Ddocs=disabled -Doptimization=2 -Db_pch=true "${together[@]}"
        ;;
    debian12 | debian13) exec nice -n 19 "$top/scripts/test_in_fresh_debian.sh" "$1" "$root/$1" ;;
    esac
    local targets=()
    case $1 in
    release | asan | tsan | quick | aarch64)
        local options names
        read -ra options <<<"$(suites_of "$1")"
        case $1 in # tests of these configurations install the libraries and tools
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
times=() # one line for each configuration: the time of its build and tests, which overlap with the next build
untested=()
tested_elsewhere=()
skipped=() # minimal roots, with the reason
failed=()
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
        77) skipped+=("$configuration: $(grep '^skipped: ' "$root/build-$configuration.log" | tail -n 1)") ;;
        *)
            cat "$root/build-$configuration.log"
            failed+=("$configuration")
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
[ ${#skipped[@]} = 0 ] || printf '%s\n' "${skipped[@]}"
[ ${#failed[@]} = 0 ] || echo "${failed[*]}: FAILED in a minimal root (its messages are above)"
[ ${#logs[@]} = 0 ] || python3 "$top/scripts/count_tests.py" "${logs[@]}" || status=1
exit $status
