#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds opendoca in every way that counts and runs all of its tests: g++ release, and g++ with the address,
# undefined-behaviour and thread sanitizers; clang compiles libraries and tools, with warnings as errors. Installs by apt what is missing. Ends with a line that counts.
#
#   scripts/run_all_tests.sh [CONFIGURATION...]    release, clang, asan, tsan; default all
#
# Environment: OPENDOCA_BUILD_ROOT  where the build trees go (default: build-tests below the project)
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
root=${OPENDOCA_BUILD_ROOT:-$top/build-tests}
configurations=("$@")
[ ${#configurations[@]} -gt 0 ] || configurations=(clang release asan tsan)

"$top/scripts/install_dependencies.sh" tests

clang_c=$(command -v clang || command -v clang-14 || ls /usr/bin/clang-[0-9]* 2>/dev/null | head -n 1)
clang_cxx=$(command -v clang++ || command -v clang++-14 || ls /usr/bin/clang++-[0-9]* 2>/dev/null | head -n 1)

# A sanitizer's report must fail the test, and say where.
export ASAN_OPTIONS=abort_on_error=0:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=0:exitcode=66:second_deadlock_stack=1

setup() { # NAME MESON_ARGUMENT...
    local build=$root/$1
    shift
    if [ -f "$build/build.ninja" ]; then
        meson configure "$build" "$@" >/dev/null
    else
        meson setup "$build" "$top" "$@" >"$root/setup.log" 2>&1 || { cat "$root/setup.log"; exit 1; }
    fi
}

mkdir -p "$root"
status=0
reports=()
for configuration in "${configurations[@]}"; do
    echo "== $configuration"
    case $configuration in
    release) setup release ;;
    # Libraries and tools: what users compile with clang; the tests run with g++.
    clang) CC=$clang_c CXX=$clang_cxx setup clang -Dbuildtype=debug -Doptimization=0 -Ddebug=false -Dtests=false ;;
    asan) setup asan -Dbuildtype=debug -Db_sanitize=address,undefined ;;
    tsan) setup tsan -Dbuildtype=debug -Db_sanitize=thread ;;
    *) echo "no such configuration: $configuration (release, clang, asan, tsan)" >&2; exit 2 ;;
    esac
    ninja -C "$root/$configuration" --quiet
    [ "$configuration" != clang ] || continue
    meson test -C "$root/$configuration" --no-rebuild --print-errorlogs || status=1
    reports+=("$root/$configuration/meson-logs/testlog.junit.xml")
done

echo
python3 "$top/scripts/count_tests.py" "${reports[@]}" || status=1
exit $status
