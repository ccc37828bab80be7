#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/lint_packages.sh and scripts/test_guides_in_fresh_debian.sh: what they call for which packages, and how they end. Programs
that write their arguments stand for those that they call.

test_package_checks.py SCRIPTS
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


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        (self.top / "scripts").mkdir()
        for name in "usage.sh", "lint_packages.sh", "test_guides_in_fresh_debian.sh":
            shutil.copy(SCRIPTS / name, self.top / "scripts")
        for name in "scripts/install_dependencies.sh", "scripts/build_packages.sh", "tests/packages/guides_in_fresh_debian.sh", \
                "bin/lintian", "bin/rpmlint":
            self.program(name, CALL)

    def program(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def package(self, name):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return str(path)

    def run_script(self, name, *words):
        calls = self.top / "calls"
        calls.write_text("", encoding="utf-8")
        done = subprocess.run([self.top / "scripts" / name, *words], capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"PATH": f"{self.top}/bin:{os.environ['PATH']}", "CALLS": str(calls)})
        return done, calls.read_text(encoding="utf-8").replace(f"{self.top}/", "").splitlines()


class Lint(Checks):
    SPEC = ["install_dependencies.sh packages", "rpmlint packaging/rpm/opendoca.spec"]
    LINTIAN = "lintian --allow-root --tag-display-limit 0 --fail-on error,warning "

    def test_without_packages_the_spec_is_checked(self):
        done, calls = self.run_script("lint_packages.sh")
        self.assertEqual((0, self.SPEC), (done.returncode, calls), done.stderr)

    def test_all_packages_of_all_folders_are_checked(self):
        for name in "build-packages/a.deb", "build-packages/opt/b.deb", "build-packages/source/c.deb", "build-packages-arm64/d.deb":
            self.package(name)
        done, calls = self.run_script("lint_packages.sh")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual([*self.SPEC, self.LINTIAN + "build-packages-arm64/d.deb",
                          self.LINTIAN + "build-packages/a.deb build-packages/opt/b.deb"], calls)

    def test_packages_of_rpm_are_checked_with_the_list_of_what_is_intended(self):
        self.package("rpms/a.rpm")
        done, calls = self.run_script("lint_packages.sh", self.top / "rpms")
        self.assertEqual((0, [*self.SPEC, "rpmlint --rpmlintrc packaging/rpm/rpmlint.filters rpms/a.rpm"]), (done.returncode, calls))

    def test_an_error_of_any_of_them_fails_after_all_have_run(self):
        for name in "folder/a.deb", "folder/a.rpm":
            self.package(name)
        for program in "lintian", "rpmlint":
            self.program(f"bin/{program}", CALL + "exit 1\n")
            done, calls = self.run_script("lint_packages.sh", self.top / "folder")
            self.assertEqual((1, 4), (done.returncode, len(calls)), program)
            self.program(f"bin/{program}", CALL)

    def test_options_are_refused(self):
        for words in ["--help"], [self.top, "-f"]:
            done, calls = self.run_script("lint_packages.sh", *words)
            self.assertEqual((2, []), (done.returncode, calls), words)
            self.assertIn("usage: scripts/lint_packages.sh [FOLDER...]", done.stderr)


class Guides(Checks):
    def test_packages_that_are_missing_are_built(self):
        self.package("build-packages-bookworm/opt/opendoca-opt_1_amd64.deb")
        done, calls = self.run_script("test_guides_in_fresh_debian.sh")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["guides_in_fresh_debian.sh build-packages-bookworm bookworm", "build_packages.sh --release trixie",
                          "guides_in_fresh_debian.sh build-packages-trixie trixie"], calls)

    def test_packages_of_a_folder(self):
        self.package("else where/opt/opendoca-opt_1_amd64.deb")
        done, calls = self.run_script("test_guides_in_fresh_debian.sh", f"trixie={self.top}/else where")
        self.assertEqual((0, ["guides_in_fresh_debian.sh else where trixie"]), (done.returncode, calls), done.stderr)
        done, calls = self.run_script("test_guides_in_fresh_debian.sh", f"bookworm={self.top}/nowhere")
        self.assertEqual((1, []), (done.returncode, calls))
        self.assertIn("nowhere has no packages", done.stderr)

    def test_a_failure_ends_it_and_a_release_that_is_skipped_does_not(self):
        for release in "bookworm", "trixie":
            self.package(f"build-packages-{release}/opt/opendoca-opt_1_amd64.deb")
        for status, expected, calls_made in (77, 77, 2), (1, 1, 1):
            self.program("tests/packages/guides_in_fresh_debian.sh", CALL + f'[ "$2" = trixie ] || exit {status}\n')
            done, calls = self.run_script("test_guides_in_fresh_debian.sh")
            self.assertEqual((expected, calls_made), (done.returncode, len(calls)))

    def test_other_releases_are_refused(self):
        for word in "sid", "--help", "bookworm=":
            done, calls = self.run_script("test_guides_in_fresh_debian.sh", word)
            self.assertEqual((2, []), (done.returncode, calls), word)
            self.assertIn("usage: scripts/test_guides_in_fresh_debian.sh [RELEASE", done.stderr)


if __name__ == "__main__":
    SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
