#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs a program once with each fault of the software device, see docs/faults.md. It may fail, with an error, or get over
# the fault. It may not crash or hang: then this ends with 1.
#
#   samples/run_with_faults.sh PROGRAM [ARGUMENT...]
#
# Environment: FAULTS  what to try (default: the list below)    SECONDS_TO_END  after which it hangs (default: 60)
set -u

[ $# -gt 0 ] || { sed -n '5,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
faults=${FAULTS:-register=1 register=2 import=1 job=1 job=2 job=*/2 peer=1 full=1 full=*/2 seed=1,job=20%,full=20%}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
for fault in $faults; do
    DOCA_SOFT=1 DOCA_SOFT_FAULTS=$fault timeout "${SECONDS_TO_END:-60}" "$@" >"$log" 2>&1
    ended=$?
    case $ended in
    0) verdict="got over it" ;;
    124) verdict="HANGS" status=1 ;;
    12[5-7]) verdict="CAN'T BE RUN" status=1 ;;
    12[89] | 1[3-9]? | 2??) verdict="CRASHES" status=1 ;;
    *) verdict="failed with an error" ;;
    esac
    printf '%-28s %s (%d)\n' "$fault" "$verdict" "$ended"
    case $verdict in [A-Z]*) cat "$log" ;; esac
done
exit $status
