#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/build_packages.sh: what is built where, for each release and CPU. Programs that write their arguments stand for those that
make roots, build packages and check them.

test_build_packages.py SCRIPT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path()
if shutil.which("dpkg") is None:
    print("skipped: dpkg is not installed")
    sys.exit(77)
NATIVE = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
OTHER = "amd64" if NATIVE == "arm64" else "arm64"
CALL = '#!/bin/sh\necho "$(basename "$0") $*" >>"$CALLS"\n'
# The packages are made where the arguments name the folder, or beside the source.
BUILD = CALL + 'out=${3-..}\ntouch "$out/a.deb" "$out/opendoca-opt_1_all.deb" "$out/opendoca_1_${2-%s}.changes"\n' % NATIVE


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        for name, text in {"scripts/install_dependencies.sh": CALL, "tests/packages/build_in_root.sh": BUILD,
                           "tests/packages/compare_packages.py": CALL, "tests/packages/in_fresh_debian.sh": CALL, "bin/lintian": CALL,
                           "bin/dpkg-buildpackage": BUILD.replace("${3-..}", "..").replace("${2-%s}" % NATIVE, NATIVE)}.items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)
        for script in SCRIPT, SCRIPT.with_name("usage.sh"):
            shutil.copy(script, self.top / "scripts")

    def build(self, *words):
        calls = self.top / "calls"
        calls.write_text("", encoding="utf-8")
        done = subprocess.run([self.top / "scripts/build_packages.sh", *words], capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"PATH": f"{self.top}/bin:{os.environ['PATH']}", "CALLS": str(calls)})
        return done, [line for line in calls.read_text(encoding="utf-8").splitlines() if not line.startswith("lintian")]

    def check(self, words, output, *calls):
        done, made = self.build(*words)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual([call.replace("OUT", f"{self.top / output}") for call in calls], made)
        self.assertIn(f"the packages are in {self.top / output}:\n./a.deb\nopt/opendoca-opt_1_all.deb\n", done.stdout)

    def test_on_this_machine(self):
        self.check((), "build-packages", "install_dependencies.sh ", "install_dependencies.sh packages",
                   "dpkg-buildpackage --unsigned-source --unsigned-changes")
        output = self.top / "else where"
        self.check(("--test", output), output, "install_dependencies.sh ", "install_dependencies.sh packages",
                   "dpkg-buildpackage --unsigned-source --unsigned-changes", "in_fresh_debian.sh OUT bookworm")

    def test_in_a_root_of_another_release(self):
        self.check(("--release", "trixie", "--test"), "build-packages-trixie", "install_dependencies.sh packages",
                   f"build_in_root.sh trixie {NATIVE} OUT", f"compare_packages.py {NATIVE} OUT OUT", "in_fresh_debian.sh OUT trixie")

    def test_for_another_cpu(self):
        for words, release, other, output in (
                ((), "bookworm", "build-packages", f"build-packages-{OTHER}"),
                (("--release", "trixie"), "trixie", "build-packages-trixie", f"build-packages-trixie-{OTHER}")):
            self.check((*words, "--arch", OTHER), output, "install_dependencies.sh packages",
                       f"build_in_root.sh {release} {OTHER} OUT", f"compare_packages.py {OTHER} OUT {self.top / other}")

    def test_what_cannot_be_built_is_refused(self):
        for words, complaint in ((("--release", "sid"), "not for sid"), (("--release",), "usage: "), (("--arch", "s390x"), "not for s390x"),
                                 (("--arch", OTHER, "--test"), "usage: "), (("a", "b"), "usage: ")):
            done, made = self.build(*words)
            self.assertEqual((2, []), (done.returncode, made), words)
            self.assertIn(complaint, done.stderr)


class Rules(unittest.TestCase):
    """The environment of debian/rules."""

    def environment_of(self, options):
        top = pathlib.Path(__file__).resolve().parents[2]
        if not pathlib.Path("/usr/share/dpkg/architecture.mk").exists():
            self.skipTest("dpkg-dev is not installed")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DEB_", "PYTHON", "MAKE"))}
        made = subprocess.run(["make", "-s", "-f", "-", "show"], cwd=top, input="include debian/rules\nshow:\n\t@env\n", text=True,
                              capture_output=True, check=True, env=kept | {"DEB_BUILD_OPTIONS": options})
        return dict(line.split("=", 1) for line in made.stdout.splitlines() if "=" in line)

    def test_only_noopt_leaves_optimization_out(self):
        for options, expected in ("", "-O3"), ("parallel=2", "-O3"), ("parallel=2 noopt", None):
            made = self.environment_of(options)
            self.assertEqual([expected] * 2, [made.get(f"DEB_{kind}FLAGS_MAINT_APPEND") for kind in ("C", "CXX")], options)

    def test_debug_information_is_compiled_where_it_gets_into_a_package(self):
        for options, expected in ("", None), ("noautodbgsym nocheck", "-g"):
            made = self.environment_of(options)
            self.assertEqual([expected] * 2, [made.get(f"DEB_{kind}FLAGS_MAINT_STRIP") for kind in ("C", "CXX")], options)

    def test_no_compiled_python_gets_into_packages(self):
        self.assertEqual("1", self.environment_of("").get("PYTHONDONTWRITEBYTECODE"))


if __name__ == "__main__":
    SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
