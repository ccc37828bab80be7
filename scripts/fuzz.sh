#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs the fuzz targets of tests/fuzz by libFuzzer, with the address and undefined-behaviour sanitizers.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]     for each target; default 3600 s and all of them
#   scripts/fuzz.sh --list                    prints the targets, each with the folder of its corpus
#
# New inputs are kept in BUILD/corpus-TARGET, and inputs that make a target fail in BUILD/findings. BUILD/runs has one
# line for each run (target, number of inputs, seconds of user and of system CPU time); the sums over all runs are
# printed at the end.
# Environment: OPENDOCA_FUZZ_BUILD  the build tree BUILD (default: build-fuzz below the project)
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
build=${OPENDOCA_FUZZ_BUILD:-$top/build-fuzz}
# The folder of tests/fuzz/corpus with the first inputs of each target.
declare -A corpora=([mmap_dpu]=blobs [mmap_rdma]=blobs [connection]=blobs [sync_event]=blobs [sync_event_word]=blobs
    [comm_channel]=comm_channel [stream]=stream [stream_link]=stream_link [argp_command_line]=command_line [verbs]=verbs [rdma_server]=rdma_server [topology]=topology [argp_json]=argp_json)
corpora[compress]="compress"
corpora[coding]="coding"
corpora[compress_jobs]="compress_jobs"
corpora[coding_jobs]="coding_jobs"
corpora[aes_gcm]="aes_gcm"
if [ "${1-}" = --list ]; then
    for target in "${!corpora[@]}"; do echo "$target tests/fuzz/corpus/${corpora[$target]}"; done | sort
    exit
fi
seconds=${1:-3600}
shift || true
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(printf '%s\n' "${!corpora[@]}" | sort)
for target in "${targets[@]}"; do
    [ -n "${corpora[$target]-}" ] || { echo "no such target: $target (${!corpora[*]})" >&2; exit 2; }
done

export CC=${CC:-$(command -v clang || command -v clang-14)} CXX=${CXX:-$(command -v clang++ || command -v clang++-14)}
if [ ! -f "$build/build.ninja" ]; then
    meson setup "$build" "$top" -Dfuzz=true -Dtools=false -Dbuildtype=debugoptimized -Doptimization=1 \
        -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_args=-fsanitize=fuzzer-no-link -Dcpp_args=-fsanitize=fuzzer-no-link
fi
ninja -C "$build" "${targets[@]/#/tests/fuzz/fuzz_}"

export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
mkdir -p "$build/findings"
TIMEFORMAT="%U %S"
status=0
for target in "${targets[@]}"; do
    mkdir -p "$build/corpus-$target"
    echo "== $target: $seconds s"
    {
        time "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=25 -print_final_stats=1 \
            -artifact_prefix="$build/findings/$target-" \
            "$build/corpus-$target" "$top/tests/fuzz/corpus/${corpora[$target]}" >"$build/$target.log" 2>&1 || status=1
    } 2>"$build/$target.time"
    inputs=$(awk '/stat::number_of_executed_units/ { print $2 }' "$build/$target.log")
    echo "$target ${inputs:-0} $(cat "$build/$target.time")" >>"$build/runs"
    grep -E 'stat::number_of_executed_units|SUMMARY|ERROR' "$build/$target.log" || tail -n 5 "$build/$target.log"
done
echo "== all runs in $build"
awk '{ inputs[$1] += $2; seconds[$1] += $3 + $4 }
    END { for (t in inputs) printf "%-20s %12d inputs %10.0f s of CPU time\n", t, inputs[t], seconds[t] }' "$build/runs" | sort
exit $status
