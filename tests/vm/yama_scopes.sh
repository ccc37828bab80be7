#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# In a virtual machine, as root: runs a test as an ordinary user, once under each scope of Yama.
#
#   yama_scopes.sh TEST LIBRARY...
set -u

setting=/proc/sys/kernel/yama/ptrace_scope
if [ ! -e "$setting" ]; then
    echo "skipped: the machine's kernel is without Yama"
    exit 77
fi

# The build tree may be closed to other users.
place=/run/test
mkdir -p "$place" && cp "$@" "$place/" && chmod -R a+rX "$place" || exit 1
test=$place/${1##*/}
for library in "$place"/lib*.so.*.*; do
    soname=${library%%.so.*}.so.2
    [ -e "$soname" ] || ln -s "${library##*/}" "$soname"
done

status=0
for scope in 0 1 2 3; do # 3 can't be left again
    echo "== kernel.yama.ptrace_scope = $scope"
    echo "$scope" >"$setting" || status=1
    OPENDOCA_TEST_YAMA_SCOPE=$scope LD_LIBRARY_PATH=$place TMPDIR=/run/tmp DOCA_SOFT=1 \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$test" --gtest_color=no || status=1
done
exit $status
