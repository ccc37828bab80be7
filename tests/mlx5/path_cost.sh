#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Counts the instructions that our libraries add to an operation on an RDMA device, from submit to the call of libibverbs
# and from the completion to the program: all that is theirs in submit and in the retrieve (2.2) or progress (3.0) that
# completes the operation, the inline parts of libibverbs included, and nothing of the rest of it, of the device's driver
# and of the C library; less what a program executes that makes the same calls itself (bare_verbs.cpp).
#
#   path_cost.sh PROGRAMS KIND=LIMIT...
#
# PROGRAMS are separated by commas: path_cost (jobs of 2.2) or task_cost (tasks of 3.0) with bare_cost, or dma_cost. KIND
# is an operation that they count. Exit status 1 if more than LIMIT instructions are added to an operation of that kind.
set -euo pipefail

if [ $# -lt 2 ]; then
    echo "usage: ${0##*/} PROGRAMS KIND=LIMIT..." >&2
    exit 2
fi
jobs=32 # as counted_jobs.hpp has it
IFS=, read -ra programs <<<"$1"
shift
if ! valgrind --version >/dev/null 2>&1; then
    echo "skipped: there is no valgrind here" >&2
    exit 77
fi
if ! compgen -G '/sys/class/infiniband/*' >/dev/null; then
    echo "skipped: there is no RDMA device here" >&2
    exit 77
fi
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# Programs find the libraries of their generation by their RUNPATH. LD_LIBRARY_PATH, to which meson adds both generations of
# the build tree, has precedence: only what the user has put there stays.
build=${programs[0]%%/tests/*}
LD_LIBRARY_PATH=$(tr : '\n' <<<"${LD_LIBRARY_PATH-}" | grep -vF "$build/" | paste -sd : || true)
export LD_LIBRARY_PATH
for program in "${programs[@]}"; do
    DOCA_SOFT=0 valgrind --tool=callgrind --collect-atstart=no --dump-line=no \
        --callgrind-out-file="$directory/out.${program##*/}" "$program" >>"$directory/log" 2>&1 || {
        cat "$directory/log"
        exit 1
    }
done

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

# Sets total and functions; idle is what a retrieve that finds nothing takes.
count() { # KIND PATTERN IDLE
    local empty all
    all=$(instructions_of "$1" "$2")
    functions=$(tail -n +2 <<<"$all")
    empty=$(sed -n "s/^empty retrieves of $1: //p" "$directory/log")
    total=$(awk -v all="$(head -n 1 <<<"$all")" -v empty="${empty:-0}" -v idle="$3" -v jobs="$jobs" \
        'BEGIN { printf "%.1f", all - empty * idle / jobs }')
}

status=0
count nothing libdoca_ 0
idle=$total
count 'bare nothing' '^[^ ]* bare::' 0
bare_idle=$total
for bound in "$@"; do
    kind=${bound%%=*} limit=${bound#*=}
    count "bare $kind" '^[^ ]* bare::' "$bare_idle"
    bare=$total
    count "$kind" libdoca_ "$idle"
    awk -v kind="$kind" -v total="$total" -v bare="$bare" -v limit="$limit" 'BEGIN {
            printf "%s: %.1f instructions, %.1f above the %.1f of the bare calls, of at most %d:\n", kind, total,
                total - bare, bare, limit
            exit bare <= 0 || total - bare <= 0 || total - bare > limit
        }' || status=1
    echo "$functions"
done
exit $status
