#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Counts the instructions of an operation on the software device, from its submit to the call that retrieves it (2.2) or
# calls back (3.0): all that our libraries and the C library execute, and nothing of the program.
#
#   count.sh PROGRAM KIND=LIMIT...
#
# PROGRAM is soft_cost_jobs (2.2) or soft_cost_tasks (3.0). KIND is an operation that it counts. Exit status 1 if an
# operation of that kind takes more than LIMIT instructions.
set -euo pipefail

if [ $# -lt 2 ]; then
    echo "usage: ${0##*/} PROGRAM KIND=LIMIT..." >&2
    exit 2
fi
program=$1
shift
# shellcheck source=tests/common/callgrind.sh
. "${0%/*}/../common/callgrind.sh"
export DOCA_SOFT=1
profile "$program"

status=0
for bound in "$@"; do
    kind=${bound%%=*} limit=${bound#*=}
    all=$(instructions_of "$kind" '^[^ ]*/lib(doca_|c[.-])')
    awk -v kind="$kind" -v total="$(head -n 1 <<<"$all")" -v limit="$limit" 'BEGIN {
            printf "%s: %.1f instructions, of at most %d:\n", kind, total, limit
            exit total <= 0 || total > limit
        }' || status=1
    tail -n +2 <<<"$all"
done
exit $status
