#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Checks the format and the habits of the sources, in a minute or two:
#   clang-format 14 (that of Debian 12) on all C and C++ files, shellcheck on all shell scripts, flake8 on all Python files,
#   yamllint on the workflows and all other YAML files, and clang-tidy on the C++ files that differ from a base.
#
#   scripts/lint.sh [--fix] [--tidy BUILD [--base COMMIT | --all]]
#
#   --fix          lets clang-format rewrite what it would complain about
#   --tidy BUILD   also runs clang-tidy, with the compile commands of the build tree BUILD
#   --base COMMIT  ... on the files that differ from the merge base with COMMIT (default: origin/main where it is not HEAD
#                  itself, else the commit before HEAD)
#   --all          ... on all files of src/ and tools/ (takes an hour on two cores)
#
# A tool that is not installed is named and left out; scripts/install_dependencies.sh lint installs them all.
# Exit status: 0 if nothing was found, 1 if something was, 2 for wrong usage.
set -euo pipefail

usage() { sed -n '5,19s/^# \{0,1\}//p' "$0" >&2; exit 2; }

fix=
build=
base=
all=
while [ $# != 0 ]; do
    case $1 in
    --fix) fix=1 ;;
    --tidy) build=$(readlink -f "${2-}") && shift || usage ;;
    --base) base=${2-} && shift || usage ;;
    --all) all=1 ;;
    *) usage ;;
    esac
    shift
done
[ -z "$build" ] || [ -f "$build/compile_commands.json" ] || { echo "$0: no compile_commands.json in $build" >&2; exit 2; }

cd "$(dirname "$(readlink -f "$0")")/.."
found=0
jobs=$(nproc)

# Prints the first of the programs that is installed.
first_of() {
    for program in "$@"; do
        if command -v "$program"; then return; fi
    done
}

# Prints the tracked files whose first line names an interpreter that matches the pattern.
scripts_of() { git ls-files -z | xargs -0 awk -v interpreter="$1" 'FNR == 1 { if ($0 ~ "^#!.*" interpreter) print FILENAME; nextfile }'; }

check() { # NAME COMMAND...
    local name=$1
    shift
    echo "== $name"
    "$@" || { found=1; echo "$name found something (above)"; }
}

formatter=$(first_of clang-format-14 clang-format)
case $("${formatter:-false}" --version 2>/dev/null) in
*" version 14."*)
    if [ -n "$fix" ]; then
        git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' | xargs -0 -P "$jobs" -n 64 "$formatter" -i
    else
        format() { git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' | xargs -0 -P "$jobs" -n 64 "$formatter" --dry-run --Werror; }
        check "clang-format (scripts/lint.sh --fix mends it)" format
    fi
    ;;
*) echo "== clang-format: left out, as version 14 is not installed (other versions format differently)" ;;
esac

if command -v shellcheck >/dev/null; then
    shell() { { scripts_of '(ba|da)?sh( |$)'; git ls-files '*.sh'; } | sort -u | xargs shellcheck -x -S warning; }
    check shellcheck shell
else
    echo "== shellcheck: left out, as it is not installed"
fi

if command -v flake8 >/dev/null; then
    python() { { git ls-files '*.py'; scripts_of python; } | sort -u | xargs flake8 -j "$jobs"; }
    check flake8 python
else
    echo "== flake8: left out, as it is not installed"
fi

if command -v yamllint >/dev/null; then
    # "on:" is a key of workflows, no value.
    rules='{extends: default, rules: {comments: {min-spaces-from-content: 1}, document-start: disable, line-length: {max: 140},
        truthy: {check-keys: false}}}'
    yaml() { git ls-files -z '*.yml' '*.yaml' | xargs -0 yamllint --strict -d "$rules"; }
    check yamllint yaml
else
    echo "== yamllint: left out, as it is not installed"
fi

if [ -n "$build" ]; then
    tidy=$(first_of clang-tidy-14 clang-tidy)
    if [ -z "$tidy" ]; then
        echo "== clang-tidy: left out, as it is not installed"
    else
        changed() {
            if [ -n "$all" ]; then
                git ls-files 'src/*.cpp' 'tools/*.cpp'
                return
            fi
            local from
            from=$(git merge-base HEAD "${base:-origin/main}" 2>/dev/null || true)
            [ -n "$from" ] && [ "$from" != "$(git rev-parse HEAD)" ] || from=HEAD~1
            git diff --name-only --diff-filter=d "$from" -- 'src/*.cpp' 'tools/*.cpp'
        }
        # Only files that this build compiles.
        compiled() { while read -r file; do ! grep -q "/$file\"" "$build/compile_commands.json" || echo "$file"; done; }
        check_all() { changed | compiled | xargs -r -P "$jobs" -n 1 "$tidy" --quiet -p "$build" \
            --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*'; }
        check clang-tidy check_all
    fi
fi

exit $found
