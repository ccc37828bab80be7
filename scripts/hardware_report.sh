#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# For owners of a ConnectX or BlueField: collects into one file what shows how opendoca works on it, see docs/hardware.md.
# Versions, capabilities, the results of the device suite, and benchmarks. Changes nothing; on a BlueField run it on the
# host and on the DPU.
#
#   hardware_report.sh [--quick] [--output FILE] BUILD_FOLDER
#
# --quick leaves out the device suite and the longer benchmarks. The exit status is 1 if anything that was run has failed;
# the file is there all the same.
set -euo pipefail

quick=0
output=opendoca-report-$(uname -n)-$(date +%Y%m%d-%H%M%S).tar.gz
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=1 ;;
    --output) output=$2; shift ;;
    -*) sed -n '4,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) break ;;
    esac
    shift
done
[ $# = 1 ] && [ -f "$1/build.ninja" ] || { sed -n '4,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
output=$(cd "$(dirname "$output")" && pwd)/$(basename "$output")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report=$work/opendoca-report
mkdir "$report"
failed=0

# Stores the output and the exit status of a command in NAME.txt. A command that is not installed is no failure.
collect() { # NAME COMMAND...
    local name=$1 status=0
    shift
    if ! command -v "$1" >/dev/null; then
        echo "there is no $1 here" >"$report/$name.txt"
        return 0
    fi
    echo "  $name" >&2
    timeout 2400 "$@" >"$report/$name.txt" 2>&1 </dev/null || status=$?
    echo "exit status $status: $*" >>"$report/$name.txt"
    return $status
}

echo "collecting in $output:" >&2
collect system sh -c 'uname -a; cat /etc/os-release; getconf PAGESIZE; nproc; ulimit -l; cat /proc/cmdline' || true
collect packages sh -c 'dpkg -l "libibverbs*" "ibverbs*" "rdma-core" "libmlx5*" 2>/dev/null | grep ^ii || rpm -qa "*rdma*" "*ibverbs*"' || true
collect ofed ofed_info -s || true
collect pci lspci -nn -d 15b3: || true
collect devices ibv_devinfo -v || true
collect devlink sh -c 'devlink dev info; devlink port show' || true
collect modules sh -c 'grep mlx5 /proc/modules; cat /sys/module/mlx5_core/version' || true
collect commit sh -c "git -C '$build/..' describe --always --dirty" || true

export DOCA_SOFT=0
collect capabilities "$build/tools/doca_caps/doca_caps" --all --explain --config || failed=1
collect capabilities_json "$build/tools/doca_caps/doca_caps" --json || failed=1

devices=$(sed -n 's/.*"ibdev": *"\([^"]*\)".*/\1/p' "$report/capabilities_json.txt" | sort -u)
[ -n "$devices" ] || { echo "there is no RDMA device here: nothing to run" >&2; failed=1; }
for device in $devices; do
    collect "local_copy_$device" "$build/samples/doca_dma_local_copy" -p "$device" -t "one copy by $device" || failed=1
    [ $quick = 1 ] && continue
    collect "bench_dma_$device" "$build/tools/doca_bench/doca_bench" dma --device "$device" --where local || failed=1
    collect "bench_rdma_$device" "$build/tools/doca_bench/doca_bench" rdma --device "$device" || failed=1
done
if [ $quick = 0 ] && [ -n "$devices" ]; then
    collect device_suite meson test -C "$build" --no-rebuild --suite device --print-errorlogs || failed=1
    cp -r "$build/meson-logs" "$report/" 2>/dev/null || true
fi

tar -C "$work" -czf "$output" opendoca-report
echo "$output" # the only line on stdout: the file to send
[ $failed = 0 ] || echo "something has failed: that is what the report is for" >&2
exit $failed
