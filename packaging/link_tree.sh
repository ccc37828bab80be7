#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
#
# Fills the tree of a package for /opt/mellanox/doca with links to the files of one API generation below /usr.
#
#   packaging/link_tree.sh GENERATION ROOT TREE LIBDIR
#
# ROOT is where the build has been installed to (DESTDIR), TREE the folder that is to be /opt/mellanox/doca, and LIBDIR the folder of
# libraries below /usr: lib64, lib/x86_64-linux-gnu and so on.
#
# Links lead to single files: package managers refuse to install two packages that have a file in common, and the original has
# these names. With a link to a folder, they would write the original's files to our folder.
set -eu

api=$1
root=$2
tree=$3
libdir=$4
case $api in
2.2) tools=usr/bin ;;
*) tools=usr/$libdir/opendoca/$api/bin ;;
esac

# link_files FOLDER PLACE: each file of the installed folder, at that place of the tree.
link_files() {
    (cd "$root/$1" && find . -path ./bin -prune -o ! -type d -print) | LC_ALL=C sort | while read -r file; do
        file=${file#./}
        mkdir -p "$(dirname "$tree/$2/$file")"
        ln -s "/$1/$file" "$tree/$2/$file"
    done
}

link_files "usr/include/opendoca/$api" include
link_files "usr/$libdir/opendoca/$api" "$libdir"
link_files "usr/share/opendoca/$api/applications" applications
mkdir -p "$tree/bin" "$tree/tools"
ln -s /usr/bin/with_opendoca "$tree/bin/with_opendoca"
for tool in doca_bench doca_caps; do
    ln -s "/$tools/$tool" "$tree/tools/$tool"
done
ln -s "../$libdir" "$tree/tools/doca_lib_dir"
if [ "$api" = 2.2 ]; then
    # The guide of 1.3 names these files.
    for name in dma_local_copy dma_remote_copy_receiver dma_remote_copy_sender; do
        ln -s "../../older/doca_1_3/${name}_1_3/${name}_1_3.c" "$tree/samples/doca_dma/$name/$name.c"
    done
fi
