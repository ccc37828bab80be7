#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds opendoca, its DMA samples and a pair of its RDMA samples on this machine, runs them on software devices, and
# shows what they have copied. Installs what is missing: scripts/install_dependencies.sh.
#
#   samples/run_dma_samples.sh [build folder]
#
# Everything is built and installed in the build folder, by default build-samples in the source tree. It is made if
# there is none; one with other things in it is refused.
set -euo pipefail

usage() { sed -n '5,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

refuse() {
    echo "run_dma_samples.sh: $*" >&2
    usage >&2
    exit 2
}

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=${1-$root/build-samples}
case $build in
-h | --help)
    usage
    exit 0
    ;;
'' | -*) refuse "'$build' is no build folder" ;;
esac
[ $# -le 1 ] || refuse "there is one build folder, and not $#"
if [ -e "$build" ] && [ ! -d "$build" ]; then
    refuse "'$build' is no folder"
fi
if [ -n "$(ls -A "$build" 2>/dev/null)" ] && [ ! -e "$build/sdk-setup.log" ]; then
    refuse "'$build' has things in it that are not of this script"
fi
mkdir -p "$build"
build=$(cd "$build" && pwd)
echo "Everything is built in $build"
prefix=$build/install
samples=(dma_local_copy dma_copy_host dma_copy_dpu dma_remote_copy_sender dma_remote_copy_receiver
    rdma_write_requester rdma_write_responder)
work=
background= # a process of start
other=      # and the one before it, while both run

title() { printf '\n== %s\n' "$*"; }

clean_up() {
    for pid in $background $other; do
        kill "$pid" 2>/dev/null || true
    done
    if [ -n "$work" ]; then
        rm -rf "$work"
    fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM

fail() {
    echo "run_dma_samples.sh: $*" >&2
    exit 1
}

# Runs a command with its output in a log, which is shown only if it fails.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        fail "'$*' has failed; all of its output is in $log"
    fi
}

# build_with_meson <name> <source folder> [options]: works in a fresh folder, and in one that has been used before.
build_with_meson() {
    local name=$1 source=$2
    shift 2
    if [ ! -e "$build/$name/build.ninja" ]; then
        rm -rf "${build:?}/$name"
        quietly "$build/$name-setup.log" meson setup "$build/$name" "$source" "$@"
    fi
    quietly "$build/$name-build.log" ninja -C "$build/$name"
}

# show <label> <file descriptor> [text]: shows lines until the one with the text, or until the end; keeps them in
# $shown.
# Fails when the end comes before the text, or when nothing comes for a minute.
show() {
    local line status
    while :; do
        status=0
        IFS= read -r -t 60 line <&"$2" || status=$?
        if [ $status -ne 0 ]; then
            [ $status -le 128 ] && [ -z "${3-}" ]
            return
        fi
        printf '%-9s | %s\n' "$1" "$line"
        shown+=$line$'\n'
        if [ -n "${3-}" ] && [[ $line == *"$3"* ]]; then
            return 0
        fi
    done
}

# start <role> <sample> [arguments]: in the background, with its output to be read from $output.
start() {
    local role=$1 sample=$2
    shift 2
    exec {output}< <(DOCA_SOFT_ROLE=$role exec "$build/$sample/doca_$sample" "$@" 2>&1)
    background=$!
}

# The exit status of what start has started.
finish() {
    local status=0
    wait "$background" || status=$?
    background=
    exec {output}<&-
    return $status
}

# run <label> <role> <sample> [arguments]: in the foreground.
run() {
    local label=$1 input
    shift
    exec {input}< <(role=$1 sample=$2; shift 2; DOCA_SOFT_ROLE=$role exec "$build/$sample/doca_$sample" "$@" 2>&1)
    local pid=$!
    show "$label" "$input" || kill "$pid" 2>/dev/null || true
    exec {input}<&-
    wait $pid
}

local_copy() {
    run "DPU" dpu dma_local_copy -t "$1"
}

host_to_dpu() {
    local files=(-d "$work/export_desc.txt" -b "$work/buffer_info.txt") enter
    mkfifo "$work/enter"
    exec {enter}<>"$work/enter"
    start host dma_copy_host -t "$1" "${files[@]}" <&"$enter"
    show "host" "$output" "Press Enter" || return 1
    run "DPU" dpu dma_copy_dpu "${files[@]}" || return 1
    echo >&"$enter"
    show "host" "$output" || return 1
    exec {enter}>&-
    finish
}

over_tcp() {
    local port
    start dpu dma_remote_copy_receiver -P 0
    show "receiver" "$output" "Waiting for the sender" || return 1
    port=$(sed -n 's/.*Waiting for the sender at .*, port \([0-9]*\).*/\1/p' <<<"$shown")
    run "sender" host dma_remote_copy_sender -t "$1" -P "$port" || return 1
    show "receiver" "$output" || return 1
    finish
}

# rdma_side <sample>: starts it with a folder and a keyboard of its own.
rdma_side() {
    local folder=$work/$1
    mkdir "$folder"
    mkfifo "$folder/enter"
    exec {enter}<>"$folder/enter"
    start all "$@" -ld "$folder/local" -re "$folder/remote" -m "$folder/mmap" <&"$enter"
}

rdma_write() {
    local enter responder_enter responder_output requester=$work/rdma_write_requester responder=$work/rdma_write_responder
    rdma_side rdma_write_responder
    responder_enter=$enter responder_output=$output other=$background
    show "responder" "$responder_output" "press Enter" || return 1
    rdma_side rdma_write_requester -w "$1"
    show "requester" "$output" "press Enter" || return 1
    cp "$requester/local" "$responder/remote"
    cp "$responder/local" "$requester/remote"
    cp "$responder/mmap" "$requester/mmap"
    echo >&"$responder_enter"
    show "responder" "$responder_output" "press Enter" || return 1
    echo >&"$enter"
    show "requester" "$output" || return 1
    exec {enter}>&-
    finish || return 1
    background=$other output=$responder_output other=
    echo >&"$responder_enter"
    show "responder" "$output" || return 1
    exec {responder_enter}>&-
    finish
}

# try <function> <what> <text> <regular expression of what stands before the text that was copied>
summary=
num_failed=0
try() {
    local verdict=ok
    title "$2"
    shown=
    work=$(mktemp -d "$build/run.XXXXXX")
    if ! "$1" "$3" || ! [[ $shown =~ $4"$3"$'\n' ]]; then
        verdict=FAILED
        num_failed=$((num_failed + 1))
    fi
    if [ -n "$other" ]; then
        kill "$other" 2>/dev/null || true
        other=
    fi
    if [ -n "$background" ]; then
        kill "$background" 2>/dev/null || true
        finish || true
    fi
    rm -rf "$work"
    work=
    summary+=$(printf '  %-6s  %-44s  "%s"' "$verdict" "$2" "$3")$'\n'
}

title "What is needed"
"$root/scripts/install_dependencies.sh"
echo "is installed"

title "Building opendoca in $build"
# Nothing of the caller's environment decides what is used below.
unset DESTDIR PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR DOCA_SOFT_TOPOLOGY DOCA_SOFT_ROLE DOCA_SOFT_DEFER LD_LIBRARY_PATH
build_with_meson sdk "$root" --buildtype=release --prefix="$prefix" --libdir=lib -Dtests=false -Dtools=false
quietly "$build/sdk-install.log" meson install -C "$build/sdk" --no-rebuild
echo "installed in $prefix"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
for sample in "${samples[@]}"; do
    build_with_meson "$sample" "$root/samples/doca_${sample%%_*}/$sample"
    echo "built $sample"
done

export DOCA_SOFT=1 # also where there are real devices
try local_copy "local copy, in the DPU" "Hello from the DPU, to the DPU" "Destination buffer, at 0x[0-9a-f]+: "
try host_to_dpu "host to DPU, memory of another process" "Hello from the host, while it sleeps" "the text is: "
try over_tcp "host to DPU, descriptor sent over TCP" "Hello from the host, over TCP" "the text is: "
try rdma_write "RDMA write, into a process that sleeps" "Hello over RDMA" "The requester has written: "

title "Summary, after $SECONDS seconds"
printf '%s' "$summary"
[ $num_failed -eq 0 ] || fail "$num_failed of the 4 copies failed"
