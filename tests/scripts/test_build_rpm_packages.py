#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/build_rpm_packages.sh, and tests/packages/check_rpm_packages.py, which judges what it has built. Programs of a few lines stand
for rpm and rpmbuild; a package is a list of its files.

test_build_rpm_packages.py SCRIPTS
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path()
CALL = '#!/bin/sh\necho "$(basename "$0") $*" >>"$CALLS"\n'
# Writes a package for each file of $LISTS, in the folders that rpmbuild uses.
RPMBUILD = CALL + """for word in "$@"; do case $word in _topdir*) top=${word#_topdir }; esac; done
mkdir -p "$top/RPMS/x86_64" "$top/RPMS/noarch" "$top/SRPMS"
[ -e "$top/SOURCES/opendoca-1.tar.gz" ] || exit 1
touch "$top/SRPMS/opendoca-1.src.rpm"
for list in "$LISTS"/*; do cp "$list" "$top/RPMS/noarch/${list##*/}-1.noarch.rpm"; done
"""
RPM = """#!/bin/sh
case "$1 ${4-}" in
--eval*) echo /usr/lib64 ;;
*'%{NAME}') name=${5##*/}; printf %s "${name%%-1.*}" ;;
*) cat "$5" ;;
esac
"""
SPEC = "%files -n one2.2\n%{_libdir}/opendoca/2.2/libdoca_*.so.*\n%files two\n/usr/bin/two\n"
FILE, FOLDER = 0o100644, 0o40755


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        release = CALL + 'mkdir -p "$1"; touch "$1/opendoca-1.tar.gz"\n'
        for name, text in {"scripts/install_dependencies.sh": CALL, "scripts/make_release.sh": release, "bin/rpmbuild": RPMBUILD,
                           "bin/rpm": RPM, "packaging/rpm/opendoca.spec": SPEC}.items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)
        (self.top / "tests/packages").mkdir(parents=True)
        shutil.copy(SCRIPTS / "../tests/packages/check_rpm_packages.py", self.top / "tests/packages")
        for name in "usage.sh", "build_rpm_packages.sh":
            shutil.copy(SCRIPTS / name, self.top / "scripts")
        self.lists = {"one2.2": [(FOLDER, "/usr/lib64/opendoca"), (FILE, "/usr/lib64/opendoca/2.2/libdoca_common.so.2"),
                                 (FILE, "/usr/lib/.build-id/1")],
                      "opendoca-two": [(FOLDER, "/usr/lib64/opendoca"), (FILE, "/usr/bin/two with a blank"), (FILE, "/usr/lib/.build-id/1"),
                                       (FILE, "/opt/mellanox/doca/lib64/libdoca_common.so")]}

    def build(self, *words):
        shutil.rmtree(self.top / "lists", ignore_errors=True)
        (self.top / "lists").mkdir()
        for name, files in self.lists.items():
            (self.top / "lists" / name).write_text("".join(f"{mode} {path}\n" for mode, path in files), encoding="utf-8")
        calls = self.top / "calls"
        calls.write_text("", encoding="utf-8")
        done = subprocess.run([self.top / "scripts/build_rpm_packages.sh", *words], capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"PATH": f"{self.top}/bin:{os.environ['PATH']}", "CALLS": str(calls),
                                                "LISTS": str(self.top / "lists")})
        return done, calls.read_text(encoding="utf-8").replace(f"{self.top}/", "").splitlines()

    def test_packages_are_built_from_the_archive_of_a_release(self):
        output = self.top / "build-packages-rpm"
        for _ in range(2):
            done, calls = self.build()
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(["install_dependencies.sh ", "install_dependencies.sh packages",
                              "make_release.sh build-packages-rpm/rpmbuild/SOURCES"], calls[:3])
            self.assertRegex(calls[3], "^rpmbuild -ba .*packaging/rpm/opendoca.spec$")
            self.assertNotIn("optimization", calls[3])
            self.assertIn("2 packages with 4 files, 2 names of libraries below /usr/lib64", done.stdout)
            self.assertEqual(["one2.2-1.noarch.rpm", "opendoca-1.src.rpm", "opendoca-two-1.noarch.rpm"],
                             sorted(path.name for path in output.iterdir()))

    def test_packages_without_optimization(self):
        done, calls = self.build("--noopt", self.top / "else where")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(calls[3], "^rpmbuild -ba --without optimization ")
        self.assertTrue((self.top / "else where/one2.2-1.noarch.rpm").exists())

    def check_refused(self, complaint):
        done, _ = self.build(self.top / "else where")
        self.assertEqual(1, done.returncode)
        self.assertIn(complaint, done.stderr)

    def test_a_package_that_is_missing_or_not_of_the_spec(self):
        self.lists["opendoca-three"] = []
        del self.lists["opendoca-two"]
        self.check_refused("other packages than the spec: ['opendoca-three', 'opendoca-two']")

    def test_a_file_of_two_packages(self):
        self.lists["one2.2"].append((FILE, "/usr/bin/two with a blank"))
        self.check_refused("/usr/bin/two with a blank is in one2.2 and opendoca-two")

    def test_libraries_in_another_folder(self):
        self.lists["one2.2"].append((FILE, "/usr/lib/opendoca/2.2/libdoca_dma.so.2"))
        self.check_refused("libraries that are not below /usr/lib64/opendoca: /usr/lib/opendoca/2.2/libdoca_dma.so.2")
        self.lists = {name: [] for name in self.lists}
        self.check_refused("there is none at all")

    def test_options_and_a_second_folder_are_refused(self):
        for words in ["--help"], ["a", "b"], ["a", "--noopt"]:
            done, calls = self.build(*words)
            self.assertEqual((2, []), (done.returncode, calls), words)
            self.assertIn("usage: scripts/build_rpm_packages.sh [--noopt] [OUTPUT]", done.stderr)


if __name__ == "__main__":
    SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
