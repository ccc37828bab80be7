#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# The first program in the virtual machine: puts the host's file system below one in memory, runs the command
# of run_in_vm.sh there, and switches the machine off.
/bin/busybox --install -s /bin
export PATH=/bin

end() {
    sync
    echo o >/proc/sysrq-trigger
    sleep 60
}

fail() {
    echo "guest: $*" >/dev/console
    end
}

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do
    insmod "$module" || fail "no module ${module##*/}"
done
options=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o "$options,cache=loose,ro" host /lower || fail "no file system of the host"
mount -t tmpfs memory /upper
mkdir /upper/changes /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/changes,workdir=/upper/work overlay /new ||
    fail "no overlay"
for directory in proc sys dev run; do
    mkdir -p /new/$directory
done
mount --move /proc /new/proc
mount --move /sys /new/sys
mount --move /dev /new/dev
mount -t tmpfs -o mode=755 memory /new/run
mkdir -p /new/dev/shm /new/run/vm /new/run/tmp
mount -t tmpfs -o mode=1777 memory /new/dev/shm
chmod 1777 /new/run/tmp
mount -t 9p -o "$options,cache=none" run /new/run/vm || fail "no directory for the run"
[ -e /new/dev/fd ] || ln -s /proc/self/fd /new/dev/fd
ip link set lo up

# The port that carries the output appears some time after its driver was loaded; its name counts devices.
tries=200
until output=$(echo /new/dev/vport*p1) && [ -c "$output" ]; do
    tries=$((tries - 1))
    [ $tries != 0 ] || fail "no port for the output"
    usleep 50000
done

TMPDIR=/run/tmp chroot /new /bin/bash /run/vm/command >"$output" 2>&1
echo $? >/new/run/vm/status.new
mv /new/run/vm/status.new /new/run/vm/status
mount --move /new/proc /proc
end
