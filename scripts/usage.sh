# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# For scripts to source, which have a line of the form of `#   scripts/NAME ARGUMENTS` at their head for each way to call them.

# Prints these lines, and ends the script.
usage() {
    sed -n 's/^#   scripts/usage: scripts/p' "$0" >&2
    exit 2
}

# Ends a script that takes folders alone if one of its arguments is an option.
refuse_options() { # ARGUMENT...
    local argument
    for argument in "$@"; do
        case $argument in -*) usage ;; esac
    done
}
