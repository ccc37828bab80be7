#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Counts the instructions that our libraries execute for a job on an RDMA device, from doca_workq_submit() to the call
# of libibverbs and from the completion to the event: all that is theirs in submit and in the retrieve that gives the
# job out, the inline parts of libibverbs included, and nothing of the rest of it, the device's driver and the C library.
#
#   path_cost.sh PROGRAM LIMIT [KIND...]
#
# PROGRAM is path_cost.cpp. Exit status 1 if a job of any kind takes more than LIMIT instructions.
set -euo pipefail

program=$1 limit=$2 jobs=100
shift 2
kinds=("$@")
[ $# != 0 ] || kinds=(write read send receive copy)
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

DOCA_SOFT=0 valgrind --tool=callgrind --collect-atstart=no --dump-line=no \
    --callgrind-out-file="$directory/out" "$program" >"$directory/log" 2>&1 || {
    cat "$directory/log"
    exit 1
}

# A profile names each object and function once, and gives their numbers after that. The line that follows "calls=" is
# the cost of what is called, which is listed by itself.
status=0
idle=0
for kind in nothing "${kinds[@]}"; do
    profile=$(grep -lx "desc: Trigger: Client Request: $kind" "$directory"/out.* || true)
    if [ -z "$profile" ]; then
        echo "no profile of $kind"
        exit 1
    fi
    empty=$(sed -n "s/^empty retrieves of $kind: //p" "$directory/log")
    awk -v kind="$kind" -v jobs="$jobs" -v limit="$limit" -v empty="${empty:-0}" -v idle="$idle" '
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
            if (!is_call && objects[object] ~ /libdoca_/) {
                total += $2
                cost[fn] += $2
            }
            is_call = 0
        }
        END {
            total -= empty * idle
            printf "%s: %.1f instructions, of at most %d; with %d empty retrieves of %.1f:\n", kind, total / jobs, limit,
                empty, idle
            for (fn in cost)
                printf "%8.1f %s\n", cost[fn] / jobs, functions[fn] | "sort -rn"
            close("sort -rn")
            if (kind == "nothing")
                print total / jobs >"/dev/stderr"
            exit total <= 0 || total > limit * jobs
        }' "$profile" 2>"$directory/total" || status=1
    [ "$kind" != nothing ] || idle=$(cat "$directory/total")
done
exit $status
