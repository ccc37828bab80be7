#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# In both of a pair of virtual machines: tests between the two. The first one has the tests, and the second one the
# other processes.
#
#   two_hosts.sh BUILD
set -euo pipefail

suite=$(dirname "$(readlink -f "$0")")/device_suite.sh
if [ "$OPENDOCA_VM_HOST" = 1 ]; then
    OPENDOCA_TEST_PEER_HOST=10.77.0.2:7777 exec "$suite" "$1" pairs peers release
fi
exec "$suite" "$1" pairs serve
