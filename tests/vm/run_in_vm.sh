#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Runs a command as root in a virtual machine of its own, with a kernel of Debian's. The machine's root file
# system is this one's, read-only below a file system in memory: what was built here runs there, and what it
# writes is lost.
#
#   run_in_vm.sh CACHE COMMAND [ARGUMENT...]
#
# CACHE is a directory for the kernel and the initial file system, made where it is missing. The command's
# output comes at the end, its exit status is that of the script; 77 says, with a reason, that there can be no
# machine here, 124 that it took too long, 125 that it did not come up.
#
# Environment: OPENDOCA_VM_KERNEL   a directory with an unpacked kernel package, instead of fetching Debian's
#              OPENDOCA_VM_TIMEOUT  seconds for the whole run (default 120)
set -euo pipefail

skip() {
    echo "skipped: $*" >&2
    exit 77
}

[ $# -ge 2 ] || { echo "usage: $0 CACHE COMMAND [ARGUMENT...]" >&2; exit 2; }
mkdir -p "$1"
cache=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
PATH=$PATH:/usr/sbin:/sbin

[ "$(uname -m)" = x86_64 ] || skip "the virtual machine is for x86-64, and this is $(uname -m)"

is_complete() {
    local program
    for program in qemu-system-x86_64 busybox cpio depmod modprobe python3; do
        command -v "$program" >/dev/null || { echo "$program"; return 1; }
    done
}

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

# Debian's kernel for virtual machines lacks what shares a file system with this one: this is the ordinary one.
fetch_kernel() {
    local work=$cache/fetching.$$ package
    command -v apt-get >/dev/null || { echo "no apt to fetch a kernel with"; return 1; }
    package=$(apt-cache depends linux-image-amd64 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    if [ -z "$package" ]; then
        echo "apt knows no linux-image-amd64 (Debian, and its package lists, are needed)"
        return 1
    fi
    mkdir -p "$work/kernel"
    echo "fetching $package" >&2
    if ! (cd "$work" && apt-get -q download "$package" >log 2>&1) ||
        ! dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb |
            tar -x -C "$work/kernel" --wildcards ./boot './lib/modules/*/modules.*' \
                './lib/modules/*/kernel/drivers/virtio' './lib/modules/*/kernel/net/9p' \
                './lib/modules/*/kernel/fs'; then
        echo "$package can't be fetched: $(tail -n 1 "$work/log")"
        rm -rf "$work"
        return 1
    fi
    rm -rf "$cache/kernel"
    mv "$work/kernel" "$cache/kernel"
    rm -rf "$work"
}

kernel=${OPENDOCA_VM_KERNEL:-$cache/kernel}
if ! version=$(kernel_in "$kernel"); then
    [ -z "${OPENDOCA_VM_KERNEL-}" ] || skip "there is no kernel below $kernel"
    reason=$(fetch_kernel) || skip "$reason"
    version=$(kernel_in "$kernel")
fi

# A kernel without a configuration file next to it can still be used; it is then found out in the machine.
config=$kernel/boot/config-$version
if [ -e "$config" ]; then
    for option in 'CONFIG_SECURITY_YAMA=y' 'CONFIG_OVERLAY_FS=[ym]' 'CONFIG_9P_FS=[ym]' \
        'CONFIG_NET_9P_VIRTIO=[ym]'; do
        grep -qx "$option" "$config" || skip "kernel $version was built without ${option%%=*}"
    done
    grep -q '^CONFIG_LSM=.*yama' "$config" || skip "kernel $version does not start Yama"
fi

# --- The initial file system, and the kernel without its decompressor, which is slow on emulated processors.

boot=$cache/boot-$version
if [ ! -e "$boot/complete" ]; then
    work=$cache/making.$$
    mkdir -p "$work"/root/{bin,dev,proc,sys,modules,lower,upper,new}
    cp "$busybox" "$work/root/bin/busybox"
    cp "$here/guest_init.sh" "$work/root/init"
    chmod +x "$work/root/init"
    if [ ! -e "$kernel/lib/modules/$version/modules.dep.bin" ]; then
        depmod -b "$kernel" "$version" 2>/dev/null
    fi
    for module in virtio_pci 9pnet_virtio 9p overlay; do
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
    rm -rf "$boot"
    mv "$work" "$boot"
fi

# --- The run.

run=$(mktemp -d "${TMPDIR:-/tmp}/opendoca-vm.XXXXXX")
trap 'rm -rf "$run"' EXIT
{
    printf 'cd %q || exit 125\n' "$PWD"
    printf 'export PATH=%q\n' "$PATH"
    printf 'exec'
    printf ' %q' "$@"
    echo
} >"$run/command"

# Where the processor can't virtualize, /dev/kvm may be there and be of no use.
accelerator=tcg,thread=multi,tb-size=256
processor=max,la57=off
if grep -qwE 'vmx|svm' /proc/cpuinfo && [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
    accelerator=kvm
    processor=host
fi

status=0
timeout --foreground "${OPENDOCA_VM_TIMEOUT:-120}" qemu-system-x86_64 \
    -accel "$accelerator" -cpu "$processor" -machine q35,usb=off,vmport=off,graphics=off -m 512 -smp 2 \
    -nodefaults -no-user-config -display none -no-reboot -nic none \
    -kernel "$boot/vmlinux" -initrd "$boot/initrd" \
    -append "console=ttyS0 quiet loglevel=4 panic=-1 oops=panic cryptomgr.notests mitigations=off nokaslr \
no_timer_check tsc=reliable random.trust_cpu=on audit=0 selinux=0 apparmor=0" \
    -chardev "file,id=console,path=$run/console" -serial chardev:console \
    -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=host,mount_tag=host \
    -fsdev "local,id=run,path=$run,security_model=none" \
    -device virtio-9p-pci,fsdev=run,mount_tag=run \
    </dev/null >"$run/qemu" 2>&1 || status=$?

[ ! -e "$run/output" ] || cat "$run/output"
if [ -e "$run/status" ]; then
    exit "$(cat "$run/status")"
fi
{
    [ "$status" != 124 ] || echo "$0: the machine was stopped after ${OPENDOCA_VM_TIMEOUT:-120} s"
    cat "$run/qemu"
    tail -n 30 "$run/console" 2>/dev/null || true
} >&2
[ "$status" = 124 ] || status=125
exit "$status"
