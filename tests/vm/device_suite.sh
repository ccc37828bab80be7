#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs tests on the RDMA devices that are here: a machine's own ones, those of a virtual machine, or those of a card made
# of software (with_card before the command). Nobody else may use them meanwhile, because objects of verbs are counted.
#
#   device_suite.sh BUILD PART...
#
# BUILD is a build tree. A PART is a conformance test (as in tests/conformance/meson.build), or
#   samples  the samples, as pairs of processes
#   soak     a short soak_rdma
#   providers  whether the tables of providers in the documentation are true
#   bench    doca_bench as server and as client
#   peers    of the conformance test "rdma", what runs with other processes, which the part "rdma" leaves out
#   lossy_peers  of these, what also holds where packets get lost
#   pairs    pairs of samples with another machine, which does the same: see two_hosts.py
#   serve    the processes of the other machine's peers, until that one has done the part "release"
#   release
#
# Prints what report.py reads. Exit status 77 says, with a reason, that there is no device.
#
# Environment: OPENDOCA_TEST_DEVICES      names of the devices, with blanks between them; default: all that have an
#                                         active port
#              OPENDOCA_TEST_PEER_DEVICE  the device of other processes, if it is another one
#              OPENDOCA_TEST_PEER_HOST    address:port of a machine that serves: other processes run there
#              OPENDOCA_TEST_PARTS        only these of the parts, with blanks between them
#              OPENDOCA_TEST_PYTHON       the interpreter for samples; default python3
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
build=$1
shift
PATH=$PATH:/usr/sbin:/sbin
python=${OPENDOCA_TEST_PYTHON:-python3}
export DOCA_SOFT=0
# Programs find their libraries by themselves: those of two generations of the API have the same names.
unset LD_LIBRARY_PATH
# The kernel knows of no objects of a card made of software.
[ -n "${OPENDOCA_CARD_SIDE-}" ] || export OPENDOCA_TEST_COUNTS_VERBS_OBJECTS=1

# Devices, and what sort they are: exceptions of Soft-RoCE are no exceptions of others.
devices=() kinds=rc
for state in /sys/class/infiniband/*/ports/*/state; do
    device=${state#/sys/class/infiniband/}
    device=${device%%/*}
    if [ -n "${OPENDOCA_TEST_DEVICES-}" ] && [[ " $OPENDOCA_TEST_DEVICES " != *" $device "* ]]; then
        continue
    fi
    if [ -e "$state" ] && grep -q ACTIVE "$state" && [[ " ${devices[*]-} " != *" $device "* ]]; then
        devices+=("$device")
        [ ! -e "/sys/class/infiniband/$device/parent" ] || kinds='rc rxe'
    fi
done
# Those whose port has an address that a connection can be made to. The first of a DPU in switchdev mode, which manages the
# e-switch, has none: it copies, and exports memory, but has no RDMA.
addressed=()
for device in "${devices[@]}"; do
    for port in "/sys/class/infiniband/$device"/ports/*; do
        if [ "$(cat "$port/link_layer")" = InfiniBand ] || grep -qs '[1-9a-f]' "$port"/gids/*; then
            addressed+=("$device")
            break
        fi
    done
done
if [ ${#devices[@]} = 0 ]; then
    echo "skipped: no RDMA device here has an active port" >&2
    exit 77
fi

# Runs a program that reports its tests.
run() { # NAME SECONDS COMMAND...
    local name=$1 seconds=$2
    shift 2
    echo "@@ begin $name"
    timeout -k 5 "$seconds" "$@" 2>&1 </dev/null
    echo "@@ end $?"
}

# Runs a program that is one test.
run_as_test() { # NAME SECONDS COMMAND...
    local name=$1 seconds=$2 output status=0
    shift 2
    echo "@@ begin $name"
    output=$(timeout -k 5 "$seconds" "$@" 2>&1 </dev/null) || status=$?
    if [ $status = 0 ]; then
        echo "ok - ${1##*/}"
    else
        echo "not ok - ${1##*/}"
        output+=$'\n'"exit status $status"
    fi
    echo "# ${output//$'\n'/$'\n'# }"
    echo "@@ end $status"
}

# The exceptions that hold for these devices and a program, as "test way reason".
exceptions_of() { # NAME
    awk -v kinds=" $kinds " -v program="$1" \
        '!/^#/ && index(kinds, " " $1 " ") && $2 == program { sub(/^[^ ]+ +[^ ]+ +/, ""); print }' "$here/exceptions.txt"
}

# After so many seconds it is plain that nobody is told of a peer's end, as exceptions say.
unnoticed=${DOCA_RDMA_TIMEOUT:-7}
unnoticed=$((${unnoticed%.*} + 3))

# Where no person is waited for, a peer that has died may be noticed sooner than by default.
soon() {
    DOCA_RDMA_TIMEOUT=${DOCA_RDMA_TIMEOUT:-3} "$@"
}

# TESTS are names without the devices, or with a '-' before it a pattern of what is left out.
run_conformance() { # NAME EXECUTABLE TESTS...
    local name=$1 program=$build/tests/conformance/test_$2 wanted='' unwanted='' test device pattern rest
    local -a parameters=()
    shift 2
    [ -x "$program" ] || program=$build/tests/conformance/v3/test_$name
    [ -x "$program" ] || program=$build/tests/$name/test_$name
    [ -x "$program" ] || program=$build/tests/attack/test_$name
    local -a tried=("${devices[@]}")
    case $name in
    *rdma* | *peers) tried=(${addressed[@]+"${addressed[@]}"}) ;;
    esac
    [ ${#tried[@]} != 0 ] || return 0
    for device in "${tried[@]}"; do
        parameters+=("/*${device//[^A-Za-z0-9]/_}*")
    done
    for pattern in "${parameters[@]}"; do
        for test in "$@"; do
            case $test in
            -*) unwanted+=":${test#-}" ;;
            *) wanted+=":$test$pattern" ;;
            esac
        done
        while read -r test rest; do
            unwanted+=":$test$pattern"
        done < <(exceptions_of "$name")
    done
    soon run "$name" 600 "$program" --gtest_color=no "--gtest_filter=${wanted#:}${unwanted:+-${unwanted#:}}"
    # Each by itself, as it may never end.
    while read -r test rest; do
        for pattern in "${parameters[@]}"; do
            echo "@@ exception $name $test$pattern $rest"
            OPENDOCA_TEST_WAKE_LIMIT=${unnoticed}000 soon run "$name" 120 "$program" --gtest_color=no "--gtest_filter=$test$pattern"
        done
    done < <(exceptions_of "$name")
}

run_peers() {
    # To a device memory is memory: not all kinds are tried, and to a link it matters even less.
    local -a left_out=('-*/RdmaMemory.*anon*' '-*/RdmaMemory.*memfd_closed')
    [ -z "${OPENDOCA_TEST_PEER_HOST-}${OPENDOCA_TEST_PEER_DEVICE-}" ] ||
        left_out+=('-*/RdmaMemory.*memfd*' '-*/RdmaMemory.*file')
    run_conformance peers rdma '*/RdmaMemory.*' '*/RdmaProcesses.*' "${left_out[@]}"
}

# What holds on a link that loses packets. Not what a peer refuses: its queue pair is in error then and answers nothing
# more, so that a refusal that is lost is never repeated. Nor what a loss changes nothing about, a peer that has died, and
# the exceptions, which the part "peers" sees to.
run_lossy_peers() {
    local test rest
    local -a left_out=('-*/RdmaMemory.*anon*' '-*/RdmaMemory.*memfd*' '-*/RdmaMemory.*file')
    for test in BothSidesRecoverFromAFailure AStoppedMapIsRevokedAndCanBeExportedAgain OnlyThePeerHasAccess \
        TheNextJobFindsADeadPeer ADeadPeerWakesAndFailsSendsThatWait; do
        left_out+=("-*/RdmaProcesses.$test/*")
    done
    while read -r test rest; do
        left_out+=("-$test/*")
    done < <(exceptions_of peers)
    run_conformance lossy_peers rdma '*/RdmaMemory.*' '*/RdmaProcesses.*' "${left_out[@]}"
}

run_samples() {
    local -a command without=()
    local test rest device=${addressed[0]-${devices[0]}}
    command=("$python" "$here/../samples/run.py" --tap --programs "$build/samples"
        --devices "$device" "${OPENDOCA_TEST_PEER_DEVICE:-$device}")
    while read -r test rest; do
        without+=("--without=$test")
    done < <(exceptions_of samples)
    run samples 600 "${command[@]}" ${without[@]+"${without[@]}"}
    while read -r test rest; do
        echo "@@ exception samples $test $rest"
        run samples 240 "${command[@]}" --end-limit "$unnoticed" "$test"
    done < <(exceptions_of samples)
}

run_soak() {
    local device
    for device in ${addressed[@]+"${addressed[@]}"}; do
        soon run_as_test "soak_$device" 600 "$build/tests/fault/soak_rdma" --seconds 12 --kills 4 --device "$device" \
            --peer-device "${OPENDOCA_TEST_PEER_DEVICE:-$device}"
    done
}

# How many objects of verbs there are, the kernel's own included.
count_objects() {
    local device
    for device in "${devices[@]}"; do
        rdma resource show "$device"
    done
}

[ -n "${OPENDOCA_CARD_SIDE-}" ] || objects=$(count_objects)
for part in "$@"; do
    [ -z "${OPENDOCA_TEST_PARTS-}" ] || [[ " $OPENDOCA_TEST_PARTS " = *" $part "* ]] || continue
    case $part in
    samples) run_samples ;;
    soak) run_soak ;;
    rdma) run_conformance rdma rdma '*/*.*' '-*/RdmaMemory.*' '-*/RdmaProcesses.*' ;;
    peers) run_peers ;;
    lossy_peers) run_lossy_peers ;;
    providers)
        run_as_test providers_2.2 240 "$python" "$here/../tools/test_providers.py" "$build/tools/doca_caps/doca_caps" 2.2 \
            "$here/../../docs/providers.md"
        run_as_test providers_3.0 240 "$python" "$here/../tools/test_providers.py" \
            "$build/tools/doca_caps/v3/doca_caps" 3.0 "$here/../../docs/providers.md"
        ;;
    bench)
        [ ${#addressed[@]} = 0 ] ||
            run_as_test bench_pair 240 "$python" "$here/../tools/bench_pair.py" "$build/tools/doca_bench/doca_bench" \
                "${addressed[0]}"
        ;;
    # The same port as that of the processes, which are served later, or no address.
    pairs) run pairs 600 "$python" "$here/two_hosts.py" "$build/samples" "${OPENDOCA_TEST_PEER_HOST:-7777}" ;;
    serve) soon run_as_test serve 900 "$build/tests/conformance/test_rdma" --serve 7777 ;;
    release) run_as_test release 240 "$build/tests/conformance/test_rdma" --release ;;
    # Devices that can export: both sides of the PCIe are needed, which tests/mlx5 has.
    export)
        if [ -n "$("$build/tests/conformance/test_export" --gtest_list_tests 2>/dev/null | grep '^ ')" ]; then
            run_conformance export export '*/*.*'
        fi
        ;;
    *) run_conformance "$part" "$part" '*/*.*' ;;
    esac
done
echo "@@ begin verbs_objects"
if [ -n "${OPENDOCA_CARD_SIDE-}" ]; then
    echo "ok - none_is_left # SKIP the kernel knows of no objects of a card made of software"
elif after=$(count_objects) && [ "$objects" = "$after" ]; then
    echo "ok - none_is_left"
else
    echo "not ok - none_is_left"
    printf '# before: %s\n# after: %s\n' "${objects//$'\n'/; }" "${after//$'\n'/; }"
fi
echo "@@ end 0"
echo "@@ complete"
