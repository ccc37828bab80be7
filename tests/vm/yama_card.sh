#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# In a virtual machine: the card made of software, for a user without privilege, under each of Yama's settings that lets a
# process be looked into by whom it says (0 and 1), and under 2, where nobody can be and with_card's program must end.
#
#   yama_card.sh WITH_CARD PRELOAD CARD_CLIENT
set -u

setting=/proc/sys/kernel/yama/ptrace_scope
if [ ! -e "$setting" ]; then
    echo "skipped: the machine's kernel is without Yama"
    exit 77
fi

place=/run/test
mkdir -p "$place" && cp "$@" "$place/" && chmod -R a+rX "$place" || exit 1

client=$place/${3##*/}
run_as_nobody() { # SCOPE: its status
    echo "$1" >"$setting" || return 1
    timeout 300 setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$place/with_card" --card "yama$1" "$client" 20
}

status=0
for scope in 0 1 2; do
    result=0
    run_as_nobody "$scope" || result=$?
    echo "ptrace_scope $scope: status $result"
    case $scope,$result in
    [01],0) ;;
    2,0 | 2,124 | [01],*) status=1 ;;
    esac
done
exit $status
