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
IFS=, read -ra programs <<<"$1"
shift
# shellcheck source=tests/common/callgrind.sh
. "${0%/*}/../common/callgrind.sh"
if ! compgen -G '/sys/class/infiniband/*' >/dev/null; then
    echo "skipped: there is no RDMA device here" >&2
    exit 77
fi
export DOCA_SOFT=0
profile "${programs[@]}"

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
