#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Builds the fuzz targets in the way of OSS-Fuzz, with what its images have in the environment: SRC, OUT, WORK, CC, CXX, CFLAGS,
# CXXFLAGS, SANITIZER and LIB_FUZZING_ENGINE.
#
#   build.sh [TARGET...]     default: all targets of scripts/fuzz.sh
#
# In OUT are afterwards, for each target, the program, its corpus as an archive and its options; and in OUT/lib the libraries,
# since the images that run the targets have none of them. Needs patchelf.
set -euo pipefail

source=$SRC/opendoca
build=$WORK/build
# meson leaves out -Wl,-z,defs for a sanitizer of which it knows, whose symbols are those of the program.
case ${SANITIZER-} in
address | undefined) sanitize=$SANITIZER ;;
*) sanitize=none ;;
esac

declare -A corpora
while read -r target corpus; do
    corpora[$target]=$source/$corpus
done < <("$source/scripts/fuzz.sh" --list)
targets=("$@")
[ $# != 0 ] || mapfile -t targets < <(printf '%s\n' "${!corpora[@]}" | sort)
for target in "${targets[@]}"; do
    [ -n "${corpora[$target]-}" ] || { echo "build.sh: no such target: $target" >&2; exit 2; }
done

# Optimization and debug information are those of CFLAGS.
[ -e "$build/build.ninja" ] ||
    meson setup "$build" "$source" -Dfuzz=true -Dfuzzing_engine="${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}" -Dtools=false \
        -Ddocs=disabled -Dbuildtype=plain -Dunity=on -Dunity_size=20 -Db_lundef=false -Db_sanitize="$sanitize"
ninja -C "$build" "${targets[@]/#/tests/fuzz/fuzz_}"

for target in "${targets[@]}"; do
    program=$OUT/fuzz_$target
    cp "$build/tests/fuzz/fuzz_$target" "$program"
    libraries=$(ldd "$build/tests/fuzz/fuzz_$target" | awk '$2 == "=>" { print $3 }' |
        grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|gcc_s))\.so\.[0-9]+$' || true)
    # The libraries of both generations have the same names.
    case $libraries in
    */v3/*) folder=lib/3.0 ;;
    *) folder=lib/2.2 ;;
    esac
    mkdir -p "$OUT/$folder"
    for library in $libraries; do
        cp -L "$library" "$OUT/$folder"
        patchelf --set-rpath "\$ORIGIN" "$OUT/$folder/${library##*/}"
    done
    patchelf --set-rpath "\$ORIGIN/$folder" "$program"
    python3 -m zipfile -c "${program}_seed_corpus.zip" "${corpora[$target]}"/*
    printf '[libfuzzer]\nmax_len = 4096\n' >"$program.options"
done
echo "in $OUT: ${targets[*]}"
