#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# The test of Yama's scopes, all of them in one run of a virtual machine.
#
#   test_yama_scopes.sh CACHE TEST LIBRARY...
set -uo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
cache=$1
shift
files=()
for file in "$@"; do
    files+=("$(readlink -f "$file")")
done

output=$("$here/run_in_vm.sh" "$cache" "$here/yama_scopes.sh" "${files[@]}")
status=$?
echo "$output"
[ $status = 0 ] || exit $status

# Nothing but what is meant for another scope may have been skipped: 4 tests in each, and one for scope 1.
passed=$(grep -c '^\[       OK \]' <<<"$output")
if [ "$passed" != 17 ]; then
    echo "$passed tests have passed, and 17 should have"
    exit 1
fi
