#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs a command as root in a virtual machine of its own, with a kernel of Debian's. The machine's root file
# system is this one's, read-only below a file system in memory: what was built here runs there, and what it
# writes is lost.
#
#   run_in_vm.sh [OPTION...] CACHE COMMAND [ARGUMENT...]
#
#   -n NETWORK  the machine's RDMA devices, which are software RoCE (rdma_rxe):
#                 none   no device, no network (the default)
#                 dummy  rxe0
#                 veth   rxe0 and rxe1, joined by a link; their GIDs 0 (fe80::) reach each other
#                 card   rxe0, on a link to the network namespace "card", whose address is 10.77.0.2
#                 pair   two machines with one rxe0 each, joined by a network. Both run the command, with
#                        OPENDOCA_VM_HOST=1 and 2; addresses 10.77.0.1 and .2
#   -l NETEM    with veth, what the link does to packets, as `tc qdisc add ... netem` takes it: "loss 2%"
#   -M MODULE   loads a module of the kernel; may be repeated
#   -e NAME     passes a variable of the environment on; may be repeated
#   -m MIB      memory of the machine (default 512)
#   -t SECONDS  limit of the whole run (default 120)
#
# CACHE is a directory for the kernel and the initial file system, made where it is missing. The command's
# output comes as it is written; that of the second machine is prefixed with "host 2: ". The exit status is that
# of the command, with two machines the first's unless that is 0; 77 says, with a reason, that there can be no
# machine here, 124 that it took too long, 125 that a machine did not come up or died. A second machine that
# goes on when the first's command has failed is switched off.
#
# Environment: OPENDOCA_VM_KERNEL   a directory with an unpacked kernel package, instead of fetching Debian's
#              OPENDOCA_VM_TIMEOUT  seconds for the whole run, instead of -t
set -euo pipefail

skip() {
    echo "skipped: $*" >&2
    exit 77
}

usage() {
    echo "usage: $0 [-n none|dummy|veth|card|pair] [-l NETEM] [-M MODULE] [-e NAME] [-m MIB] [-t SECONDS]" \
        "CACHE COMMAND [ARGUMENT...]" >&2
    exit 2
}

network=none netem='' extra_modules=() passed_on=() memory=512 limit=120
while getopts n:l:M:e:m:t: option; do
    case $option in
    n) network=$OPTARG ;;
    l) netem=$OPTARG ;;
    M) extra_modules+=("$OPTARG") ;;
    e) passed_on+=("$OPTARG") ;;
    m) memory=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || usage
limit=${OPENDOCA_VM_TIMEOUT:-$limit}
programs=(qemu-system-x86_64 busybox cpio depmod modprobe python3 flock)
case $network in
none) ;;
dummy | veth | card | pair) programs+=(ip tc rdma) ;;
*) usage ;;
esac
mkdir -p "$1"
cache=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
PATH=$PATH:/usr/sbin:/sbin

[ "$(uname -m)" = x86_64 ] || skip "the virtual machine is for x86-64, and this is $(uname -m)"

is_complete() {
    local program
    for program in "${programs[@]}"; do
        command -v "$program" >/dev/null || { echo "$program"; return 1; }
    done
    [ "$network" = none ] || [ -e /etc/libibverbs.d/rxe.driver ] || { echo "libibverbs for rxe"; return 1; }
}

# One run at a time installs and fetches.
exec 9>"$cache/lock"
flock 9

if ! missing=$(is_complete); then
    if [ "$(id -u)" = 0 ]; then
        "$here/../../scripts/install_dependencies.sh" vm >&2 || skip "$missing can't be installed"
    fi
    missing=$(is_complete) || skip "there is no $missing; scripts/install_dependencies.sh vm installs it"
fi
busybox=$(command -v busybox)
if ldd "$busybox" >/dev/null 2>&1; then
    skip "$busybox needs libraries; Debian's package busybox-static does not"
fi

# The newest kernel of a directory: its version.
kernel_in() {
    local image last=
    for image in "$1"/boot/vmlinuz-*; do
        [ ! -e "$image" ] || last=$image
    done
    [ -n "$last" ] && echo "${last##*/vmlinuz-}"
}

# What is kept of a kernel package.
kept=(boot 'lib/modules/*/modules.*')
for directory in arch/x86/crypto crypto drivers/infiniband drivers/virtio fs lib net drivers/char/virtio_console.ko \
    drivers/net/{dummy,net_failover,veth,virtio_net}.ko; do
    kept+=("lib/modules/*/kernel/$directory")
done

# Debian's kernel for virtual machines lacks what shares a file system with this one: this is the ordinary one.
fetch_kernel() {
    local work=$cache/fetching.$$ package
    command -v apt-get >/dev/null || { echo "no apt to fetch a kernel with"; return 1; }
    package=$(apt-cache depends linux-image-amd64 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | sed -n 1p)
    if [ -z "$package" ]; then
        echo "apt knows no linux-image-amd64 (Debian, and its package lists, are needed)"
        return 1
    fi
    mkdir -p "$work/kernel"
    echo "fetching $package" >&2
    if ! (cd "$work" && apt-get -q download "$package" >log 2>&1) ||
        ! dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb |
            tar -x -C "$work/kernel" --wildcards "${kept[@]/#/./}"; then
        echo "$package can't be fetched: $(tail -n 1 "$work/log")"
        rm -rf "$work"
        return 1
    fi
    echo "${kept[*]}" >"$work/kernel/kept"
    rm -rf "$cache/kernel"
    mv "$work/kernel" "$cache/kernel"
    rm -rf "$work"
}

kernel=${OPENDOCA_VM_KERNEL:-$cache/kernel}
if [ -z "${OPENDOCA_VM_KERNEL-}" ] && [ "$(cat "$kernel/kept" 2>/dev/null)" != "${kept[*]}" ]; then
    reason=$(fetch_kernel) || skip "$reason"
fi
version=$(kernel_in "$kernel") || skip "there is no kernel below $kernel"

# A kernel without a configuration file next to it can still be used; it is then found out in the machine.
config=$kernel/boot/config-$version
if [ -e "$config" ]; then
    options=('CONFIG_SECURITY_YAMA=y' 'CONFIG_OVERLAY_FS=[ym]' 'CONFIG_9P_FS=[ym]' 'CONFIG_NET_9P_VIRTIO=[ym]'
        'CONFIG_VIRTIO_CONSOLE=[ym]')
    [ "$network" = none ] || options+=('CONFIG_RDMA_RXE=[ym]')
    for option in "${options[@]}"; do
        grep -qx "$option" "$config" || skip "kernel $version was built without ${option%%=*}"
    done
    grep -q '^CONFIG_LSM=.*yama' "$config" || skip "kernel $version does not start Yama"
fi

# --- The initial file system, and the kernel without its decompressor, which is slow on emulated processors.

boot=$cache/boot-$version-$(cat "$here/guest_init.sh" "$here/unpack_kernel.py" | sha256sum | cut -c 1-8)
if [ ! -e "$boot/complete" ]; then
    work=$cache/making.$$
    mkdir -p "$work"/root/{bin,dev,proc,sys,modules,lower,upper,new}
    cp "$busybox" "$work/root/bin/busybox"
    cp "$here/guest_init.sh" "$work/root/init"
    chmod +x "$work/root/init"
    if [ ! -e "$kernel/lib/modules/$version/modules.dep.bin" ]; then
        depmod -b "$kernel" "$version" 2>/dev/null
    fi
    for module in virtio_pci 9pnet_virtio 9p overlay virtio_console; do
        modprobe -d "$kernel" -S "$version" --show-depends "$module" || skip "kernel $version has no module $module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/list"
    number=100
    while read -r module; do
        cp "$module" "$work/root/modules/$number-${module##*/}"
        number=$((number + 1))
    done <"$work/list"
    (cd "$work/root" && find . | cpio -o -H newc --quiet) >"$work/initrd"
    python3 "$here/unpack_kernel.py" "$kernel/boot/vmlinuz-$version" "$work/vmlinux" ||
        cp "$kernel/boot/vmlinuz-$version" "$work/vmlinux"
    rm -rf "$work/root" "$work/list"
    touch "$work/complete"
    rm -rf "$cache"/boot-*
    mv "$work" "$boot"
fi

# --- The run.

run=$(mktemp -d "${TMPDIR:-/tmp}/opendoca-vm.XXXXXX")
hosts=(1)
[ "$network" != pair ] || hosts=(1 2)
machines=() outputs=()
# shellcheck disable=SC2329 # called by the traps
clean_up() {
    local process
    for process in "${machines[@]}" "${outputs[@]}"; do
        kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true
    done
    rm -rf "$run"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# What the machine's first program runs.
print_command() { # HOST COMMAND...
    local host=$1 name
    shift
    printf 'cd %q || exit 125\n' "$PWD"
    printf 'export PATH=%q\n' "$PATH"
    for name in ${passed_on[@]+"${passed_on[@]}"}; do
        [ -z "${!name+set}" ] || printf 'export %s=%q\n' "$name" "${!name}"
    done
    printf 'mkdir -p /lib/modules && ln -sfn %q /lib/modules/%q || exit 125\n' "$kernel/lib/modules/$version" "$version"
    [ ${#extra_modules[@]} = 0 ] || echo "modprobe -a ${extra_modules[*]} || exit 125"
    case $network in
    none) ;;
    veth) printf '%q veth %s || exit 125\n' "$here/guest_network.sh" "$netem" ;;
    pair) printf 'export OPENDOCA_VM_HOST=%s; %q pair %s || exit 125\n' "$host" "$here/guest_network.sh" "$host" ;;
    *) printf '%q %s || exit 125\n' "$here/guest_network.sh" "$network" ;;
    esac
    printf 'exec'
    printf ' %q' "$@"
    echo
}

# Where the processor can't virtualize, /dev/kvm may be there and be of no use.
accelerator=tcg,thread=multi,tb-size=256
processor=max,la57=off
if grep -qwE 'vmx|svm' /proc/cpuinfo && [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
    accelerator=kvm
    processor=host
fi

for host in "${hosts[@]}"; do
    place=$run/$host
    mkdir "$place"
    print_command "$host" "$@" >"$place/command"
    nic=(-nic none)
    if [ "$network" = pair ]; then
        nic=(-netdev "dgram,id=link,local.type=unix,local.path=$run/link$host,remote.type=unix,remote.path=$run/link$((3 - host))"
            -device "virtio-net-pci,netdev=link,host_mtu=4500,romfile=,mac=02:00:00:00:00:0$host")
    fi
    # Pipes, as QEMU writes to a file from its beginning.
    if [ "$host" = 1 ]; then
        exec 3> >(exec cat)
    else
        exec 3> >(exec sed -u "s/^/host $host: /")
    fi
    outputs+=($!)
    timeout --foreground "$limit" qemu-system-x86_64 \
        -accel "$accelerator" -cpu "$processor" -machine q35,usb=off,vmport=off,graphics=off -m "$memory" -smp 2 \
        -nodefaults -no-user-config -display none -no-reboot "${nic[@]}" \
        -kernel "$boot/vmlinux" -initrd "$boot/initrd" \
        -append "console=ttyS0 quiet loglevel=4 panic=-1 oops=panic cryptomgr.notests mitigations=off nokaslr \
no_timer_check tsc=reliable random.trust_cpu=on audit=0 selinux=0 apparmor=0 net.ifnames=0" \
        -chardev "file,id=console,path=$place/console" -serial chardev:console \
        -device virtio-serial-pci -chardev file,id=output,path=/dev/fd/3 -device virtserialport,chardev=output \
        -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
        -device virtio-9p-pci,fsdev=host,mount_tag=host \
        -fsdev "local,id=run,path=$place,security_model=none" \
        -device virtio-9p-pci,fsdev=run,mount_tag=run \
        </dev/null >"$place/qemu" 2>&1 9>&- &
    machines+=($!)
    exec 3>&-
done
exec 9>&-

result=0
for index in "${!hosts[@]}"; do
    place=$run/${hosts[index]}
    status=0
    if [ "$index" != 0 ] && [ "$result" != 0 ]; then
        kill "${machines[index]}" 2>/dev/null || true
        status=143
    fi
    wait "${machines[index]}" || status=$?
    wait "${outputs[index]}" || true
    if [ -e "$place/status" ]; then
        status=$(cat "$place/status")
    elif [ "$result" = 0 ]; then
        {
            [ "$status" != 124 ] || echo "$0: the machine was stopped after $limit s"
            cat "$place/qemu"
            tail -n 30 "$place/console" 2>/dev/null || true
        } >&2
        [ "$status" = 124 ] || status=125
    fi
    [ "$result" != 0 ] || result=$status
done
machines=() outputs=()
exit "$result"
