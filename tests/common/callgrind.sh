# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Functions for scripts that count instructions by callgrind, in programs that use tests/mlx5/counted_jobs.hpp. Sourced by
# bash, which then has a temporary directory.

if ! valgrind --version >/dev/null 2>&1; then
    echo "skipped: there is no valgrind here" >&2
    exit 77
fi
jobs=32 # as counted_jobs.hpp has it
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# Runs programs of one build tree, and leaves their profiles and their output ($directory/log) in $directory. They find the
# libraries of their generation by their RUNPATH. LD_LIBRARY_PATH, to which meson adds both generations of the build tree,
# has precedence: only what the user has put there stays.
profile() { # PROGRAM...
    local build=${1%%/tests/*} program
    LD_LIBRARY_PATH=$(tr : '\n' <<<"${LD_LIBRARY_PATH-}" | grep -vF "$build/" | paste -sd : || true)
    export LD_LIBRARY_PATH
    for program in "$@"; do
        valgrind --tool=callgrind --collect-atstart=no --dump-line=no \
            --callgrind-out-file="$directory/out.${program##*/}" "$program" >>"$directory/log" 2>&1 || {
            cat "$directory/log"
            exit 1
        }
    done
}

# Prints what a kind of operation takes in functions that match a pattern, object or name, and then which they are. A profile
# names each object and function once, and gives their numbers after that. The line that follows "calls=" is the cost of
# what is called, which is listed by itself.
instructions_of() { # KIND PATTERN
    local profile
    profile=$(grep -lx "desc: Trigger: Client Request: $1" "$directory"/out.* || true)
    if [ -z "$profile" ]; then
        echo "no profile of $1" >&2
        exit 1
    fi
    awk -v jobs="$jobs" -v pattern="$2" '
        function name_of(text, names,    number) {
            sub(/^[a-z]+=/, "", text)
            number = substr(text, 1, index(text, ")"))
            text = substr(text, length(number) + 2)
            if (text != "")
                names[number] = text
            return number
        }
        /^ob=/ { object = name_of($0, objects); next }
        /^cob=/ { name_of($0, objects); next }
        /^fn=/ { fn = name_of($0, functions); next }
        /^cfn=/ { name_of($0, functions); next }
        /^calls=/ { is_call = 1; next }
        /^[-+*0-9]/ {
            if (!is_call && (objects[object] " " functions[fn]) ~ pattern) {
                total += $2
                cost[fn] += $2
            }
            is_call = 0
        }
        END {
            print total / jobs
            for (fn in cost)
                printf "%8.1f %s\n", cost[fn] / jobs, functions[fn] | "sort -rn"
        }' "$profile"
}
