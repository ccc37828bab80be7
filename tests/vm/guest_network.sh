#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# In a virtual machine, as root: makes its RDMA devices (rdma_rxe, the kernel's software RoCE) on a network.
#
#   guest_network.sh dummy               rxe0 on dummy0, which reaches itself
#   guest_network.sh veth [NETEM...]     rxe0 and rxe1 on the two ends of a pair; NETEM as `tc qdisc ... netem` has it
#   guest_network.sh card                rxe0 on one end of a pair; the other end is in the network namespace "card", with
#                                        the addresses 10.77.0.2 and fd77::2 for a card made of software
#   guest_network.sh pair NUMBER         rxe0 on the network card to the other machine; NUMBER is 1 or 2
#
# A link's MTU is large enough for RDMA's largest. Addresses: 10.77.0.NUMBER, and the link-local ones.
set -euo pipefail

# An RDMA device once the link has got its link-local address, which is its first GID.
add_device() { # NAME LINK ADDRESS
    ip link set "$2" mtu 4500 up
    ip address add "$3/24" dev "$2"
    rdma link add "$1" type rxe netdev "$2"
}

modprobe -a crc32_generic rdma_rxe rdma_ucm
# A duplicate of a link-local address is not looked for: nothing else is on these networks.
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
case $1 in
dummy)
    modprobe dummy numdummies=0
    ip link add dummy0 address 02:00:00:00:00:01 type dummy
    add_device rxe0 dummy0 10.77.0.1
    ;;
veth)
    shift
    modprobe -a veth sch_netem
    ip link add veth0 address 02:00:00:00:00:01 type veth peer name veth1 address 02:00:00:00:00:02
    for number in 0 1; do
        add_device rxe$number veth$number 10.77.0.$((number + 1))
        [ $# = 0 ] || tc qdisc add dev veth$number root netem "$@"
    done
    ;;
card)
    modprobe -a veth sch_netem
    ip netns add card
    ip link add veth0 address 02:00:00:00:00:01 type veth peer name veth1 address 02:00:00:00:00:02 netns card
    # Each packet is one for the link, also of those that were handed over together.
    ip -n card link set veth1 mtu 4500 gso_max_segs 1 up
    ip -n card link set lo up
    ip -n card address add 10.77.0.2/24 dev veth1
    ip -n card address add fd77::2/64 dev veth1 nodad
    ip address add fd77::1/64 dev veth0 nodad
    add_device rxe0 veth0 10.77.0.1
    ;;
pair)
    modprobe virtio_net
    add_device rxe0 eth0 "10.77.0.$2"
    ;;
*)
    echo "$0: no such network: $1" >&2
    exit 2
    ;;
esac
