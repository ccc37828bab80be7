#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# In a virtual machine with the network "card" (run_in_vm.sh): a card made of software and the kernel's Soft-RoCE, which is
# another implementation of RoCE v2, talk with each other. Each row runs twice: the client is on the card, and on rxe0.
#
#   card_and_rxe.sh WITH_CARD ROCE_PAIR short|long|rdma_cm
#
# Prints what report.py reads. The exit status is 0 if all rows were right.
set -uo pipefail

if [ $# -ne 3 ]; then
    echo "usage: ${0##*/} WITH_CARD ROCE_PAIR short|long|rdma_cm" >&2
    exit 2
fi
with_card=$1 roce_pair=$2 list=$3
case $list in
short | long | rdma_cm) ;;
*)
    echo "${0##*/}: '$list' is not short, long or rdma_cm" >&2
    exit 2
    ;;
esac
output=$(mktemp -d)
port=20000
limit=60

on_card() {
    ip netns exec card "$with_card" --profile connectx-5 --card rxe --address 10.77.0.2 --address mlx5_1=fd77::2 "$@"
}

# Runs a program on a side. Its device and GID are those of the family.
run_on() { # SIDE FAMILY PROGRAM OPTION...
    local side=$1 family=$2 program=$3 device=rxe0 gid=1
    shift 3
    case $side$family in
    rxe6) gid=2 ;;
    card4) device=mlx5_0 gid=3 ;;
    card6) device=mlx5_1 gid=3 ;;
    esac
    case $program in
    ibv_*) set -- "$program" -d $device -g $gid "$@" ;;
    ib_*) set -- "$program" -d $device -x $gid -F "$@" ;;
    *) set -- "$program" $device $gid "$@" ;;
    esac
    [ "$side" = rxe ] || set -- on_card timeout "$limit" "$@"
    [ "$side" = card ] || set -- timeout "$limit" "$@"
    "$@"
}

# Whether somebody listens at a TCP port.
listens() { # SIDE PORT
    local digits
    printf -v digits ':%04X .* 0A ' "$2"
    if [ "$1" = rxe ]; then
        grep -q "$digits" /proc/net/tcp /proc/net/tcp6
    else
        grep -q "$digits" "/proc/$holder/net/tcp" "/proc/$holder/net/tcp6"
    fi
}

# Whether a program of a side listens by the connection manager.
listens_by_cm() { # SIDE
    if [ "$1" = rxe ]; then
        rdma resource show cm_id | grep -q LISTEN
    else
        on_card --fault status | grep -q 'cm-listeners [1-9]'
    fi
}

# A row: two programs that connect by the connection manager. In the options of the client, SERVER is its address.
cm_row() { # FAMILY "SERVER PROGRAM OPTION..." "CLIENT PROGRAM OPTION..."
    local family=$1 server client address process status other begun
    local -a at_server at_client
    read -ra at_server <<<"$2"
    for server in rxe card; do
        [ $server = rxe ] && client=card address=10.77.0.1 || client=rxe address=10.77.0.2
        [ "$family" = 4 ] || { [ $server = rxe ] && address=fd77::1 || address=fd77::2; }
        read -ra at_client <<<"${3/SERVER/$address}"
        begun=${EPOCHREALTIME/./}
        run_cm $server "${at_server[@]}" >"$output/server" 2>&1 &
        process=$!
        until listens_by_cm $server || ! kill -0 $process 2>/dev/null; do
            sleep 0.05
        done
        status=0 other=0
        run_cm $client "${at_client[@]}" >"$output/client" 2>&1 || status=$?
        [ $status = 0 ] || kill $process 2>/dev/null
        wait $process || other=$?
        report_row "$client to $server, IPv$family: ${at_server[*]}" "$begun" "$status" "$other"
    done
}

run_cm() { # SIDE PROGRAM OPTION...
    if [ "$1" = rxe ]; then
        timeout "$limit" "${@:2}"
    else
        on_card timeout "$limit" "${@:2}"
    fi
}

report_row() { # TEXT BEGUN STATUS OTHER
    if [ "$3$4" != 00 ]; then
        failed=1
        printf 'not '
    fi
    echo "ok - $1${disturbance:+, with $disturbance}"
    echo "# $(((${EPOCHREALTIME/./} - $2) / 1000)) ms"
    if [ "$3$4" != 00 ]; then
        echo "# status of the client $3, of the server $4"
        sed 's/^/# client: /' "$output/client"
        sed 's/^/# server: /' "$output/server"
    fi
}

# A row: a program that is server without an address, and client with one. The options contain PORT.
row() { # FAMILY PROGRAM OPTION...
    local family=$1 program=$2 server client address process status other begun
    shift 2
    for server in rxe card; do
        [ $server = rxe ] && client=card address=10.77.0.1 || client=rxe address=10.77.0.2
        port=$((port + 1))
        begun=${EPOCHREALTIME/./}
        run_on $server "$family" "$program" "${@/PORT/$port}" >"$output/server" 2>&1 &
        process=$!
        until listens $server $port || ! kill -0 $process 2>/dev/null; do
            sleep 0.05
        done
        status=0 other=0
        run_on $client "$family" "$program" "${@/PORT/$port}" $address >"$output/client" 2>&1 || status=$?
        [ $status = 0 ] || kill $process 2>/dev/null
        wait $process || other=$?
        report_row "$client to $server, IPv$family: ${program##*/} $*" "$begun" "$status" "$other"
    done
}

pingpong() { row "$1" "ibv_$2_pingpong" -p PORT "${@:3}"; } # FAMILY KIND OPTION...
# With a timeout of a second: emulated, an acknowledgement may take longer than the usual 67 ms.
perftest() { row 4 "ib_$1" -p PORT -u 18 "${@:2}"; } # NAME OPTION...
pair() { row 4 "$roce_pair" "$1" 17 7 "$2" PORT; }   # MTU ROUNDS

# What both ends of the link do to packets from now on.
disturb() { # NETEM
    disturbance=$1
    # shellcheck disable=SC2086
    tc qdisc replace dev veth0 root netem $1 && tc -n card qdisc replace dev veth1 root netem $1
}

short_list() {
    pingpong 4 rc -m 256 -s 5000 -n 20 -c
    pingpong 4 rc -m 4096 -s 10001 -n 20 -e
    pingpong 4 uc -m 1024 -s 5000 -n 20 -c
    pingpong 4 srq -m 1024 -s 5000 -n 20
    pingpong 4 ud -s 1001 -n 20 -c
    pingpong 6 rc -m 1024 -s 5000 -n 20 -c
    pingpong 6 ud -s 1001 -n 20 -c
    # The greatest number of reads in flight is 16 on the card, and more on rxe.
    perftest write_bw -m 4096 -s 65536 -n 10
    perftest read_bw -m 1024 -s 65536 -n 10 -o 16
    perftest atomic_bw -n 10 -o 16
    pair 1024 10
    cm_list
}

cm_list() {
    cm_row 4 "rping -s -a 0.0.0.0 -C 5 -V" "rping -c -a SERVER -C 5 -V"
    cm_row 6 "rping -s -a :: -C 5 -V -S 5000" "rping -c -a SERVER -C 5 -V -S 5000"
    cm_row 4 "ucmatose -c 3" "ucmatose -s SERVER -c 3"
    cm_row 4 "udaddy -c 2" "udaddy -s SERVER -c 2"
    cm_row 4 "rdma_server" "rdma_client -s SERVER"
}

long_list() {
    local mtu size name family
    for mtu in 256 512 1024 2048 4096; do
        for family in 4 6; do
            pingpong $family rc -m $mtu -s 10001 -n 50 -c
            pingpong $family uc -m $mtu -s 10001 -n 50 -c
            pingpong $family srq -m $mtu -s 2001 -n 50
        done
        pair $mtu 50
        for size in 1 4097 65536 1048576; do
            for name in write read send; do
                perftest ${name}_bw -m $mtu -s $size -n 10 -o 16
            done
        done
    done
    for family in 4 6; do
        for size in 1 1001 2048; do
            pingpong $family ud -s $size -n 50 -c
        done
    done
    for name in write read send; do
        for size in 1 4097 65536; do
            perftest ${name}_lat -s $size -n 20 -o 16
        done
    done
    for name in atomic_bw atomic_lat; do
        perftest $name -n 50 -o 16 -A FETCH_AND_ADD
        perftest $name -n 50 -o 16 -A CMP_AND_SWAP
    done
    perftest send_bw -c UD -s 1000 -n 20
    perftest send_bw -c UC -s 10000 -n 20
    perftest write_bw -c UC -s 10000 -n 20
    perftest write_bw -q 4 -s 10000 -n 20
    for disturbance in "loss 1%" "duplicate 1%" "corrupt 1%" "delay 2ms reorder 99%"; do
        disturb "$disturbance"
        for mtu in 256 1024 4096; do
            pair $mtu 50
        done
        pingpong 4 rc -m 1024 -s 10001 -n 100 -c
        for name in write read send; do
            perftest ${name}_bw -m 1024 -s 65536 -n 50 -o 16
        done
        perftest atomic_bw -n 50 -o 16
    done
}

disturbance='' failed=0
# A program that stays, so that the card does as well.
# shellcheck disable=SC2016 # the shell on the card expands it
on_card sh -c 'echo $$ >"$1"; exec sleep 100000' sh "$output/holder" &
process=$!
echo "@@ begin card_and_rxe"
until [ -s "$output/holder" ]; do
    if ! kill -0 $process 2>/dev/null; then
        echo "not ok - the card starts"
        exit 1
    fi
    sleep 0.05
done
holder=$(cat "$output/holder")
case $list in
short) short_list ;;
long) long_list && cm_list ;;
rdma_cm) cm_list ;;
esac
echo "@@ end $failed"
on_card --fault status
kill "$holder"
wait 2>/dev/null
echo "@@ complete"
exit $failed
