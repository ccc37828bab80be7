#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""packaging/rpm/opendoca.spec: its lists of files beside what meson would install, and what rpm and rpmlint say where they are installed.

    test_rpm_spec.py
"""
import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPEC = SOURCE_ROOT / "packaging/rpm/opendoca.spec"
MACROS = {"_libdir": "/usr/lib64", "_includedir": "/usr/include", "_datadir": "/usr/share", "_bindir": "/usr/bin",
          "_mandir": "/usr/share/man", "trees": "/usr/lib64/opendoca", "name": "opendoca"}
# Made by %install, after meson.
BESIDE_MESON = ["/usr/share/opendoca/samples", "/opt/mellanox/doca"]


def text_of(name):
    return (SOURCE_ROOT / name).read_text(encoding="utf-8")


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def expanded(line):
    return re.sub(r"%\{(\w+)\}", lambda match: MACROS[match[1]], line)


def file_lists():
    """{package: ([pattern], [folder])} of the sections %files: what it has, and the folders that it owns without their content."""
    lists = {}
    current = None
    for line in SPEC.read_text(encoding="utf-8").splitlines():
        section = re.match(r"%files(?: (?:-n )?(\S+))?$", line)
        if section:
            name = section[1] if "-n" in line else f"opendoca-{section[1]}"
            current = lists.setdefault(name, ([], []))
        elif re.match(r"%(changelog|package|description|prep|build|install)\b", line):
            current = None
        elif current is not None and line and not line.startswith(("%license", "%doc")):
            is_folder = line.startswith("%dir ")
            current[is_folder].append(expanded(line.removeprefix("%dir ")))
    return lists


class Files(unittest.TestCase):
    """Of a build that is configured as the spec does it, and not compiled."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as place:
            setup = re.search(r"^meson setup build (.*)$", SPEC.read_text(encoding="utf-8"), re.M)[1]
            options = setup.replace("%{_prefix}", "/usr").replace("%{_lib}", "lib64").split()
            run("meson", "setup", place, SOURCE_ROOT, *options)
            plan = json.loads(run("meson", "introspect", "--install-plan", place))
        names = {"prefix": "/usr", "bindir": "/usr/bin", "libdir": "/usr/lib64", "mandir": "/usr/share/man",
                 "includedir": "/usr/include", "datadir": "/usr/share", "libdir_shared": "/usr/lib64", "moduledir_shared": "/usr/lib64"}
        cls.installed = {re.sub(r"\{(\w+)\}", lambda match: names[match[1]], entry["destination"])
                         for entries in plan.values() for entry in entries.values()}
        cls.lists = file_lists()

    @staticmethod
    def has(pattern, path):
        # Of a manual page, rpm packs the compressed one.
        return fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, f"{pattern}/*")

    def test_each_file_is_in_one_package(self):
        self.assertGreater(len(self.installed), 20)
        for path in sorted([*self.installed, *BESIDE_MESON]):
            packages = [name for name, (patterns, _) in self.lists.items() if any(self.has(pattern, path) for pattern in patterns)]
            self.assertEqual(1, len(packages), f"{path} is in {packages or 'no package'}")

    def test_each_line_names_something_that_is_installed(self):
        # Links and folders are no part of meson's plan: the linker's names of libraries.
        paths = {*self.installed, *BESIDE_MESON}
        for name, (patterns, _) in self.lists.items():
            for pattern in patterns:
                if not pattern.endswith("/libdoca_*.so"):
                    self.assertTrue(any(self.has(pattern, path) for path in paths), f"{name}: {pattern}")

    def test_each_folder_of_ours_is_owned(self):
        """By the packages that have something in it: rpm removes no other folders."""
        for name, (patterns, folders) in self.lists.items():
            for pattern in patterns:
                for folder in pathlib.PurePath(pattern).parents:
                    if "opendoca" in folder.parts and not any(self.has(whole, str(folder)) for whole in patterns):
                        owners = {name, *([name.removesuffix("-devel")] if name.endswith("-devel") else [])}
                        self.assertTrue(any(str(folder) in self.lists[owner][1] for owner in owners), f"{name}: {folder}")


class Facts(unittest.TestCase):
    def test_the_version_is_that_of_the_project(self):
        spec = SPEC.read_text(encoding="utf-8")
        version = re.search(r"^Version:\s+(\S+)$", spec, re.M)[1]
        self.assertEqual(re.search(r"^  version: '(.*)'", text_of("meson.build"), re.M)[1], version)
        self.assertRegex(spec, rf"(?m)^%changelog\n\* .* - {re.escape(version)}-1$")

    def test_it_needs_what_the_script_installs_for_a_build(self):
        """Without libbsd, which the samples alone need."""
        script = text_of("scripts/install_dependencies.sh")
        spec = SPEC.read_text(encoding="utf-8")
        needed = set(re.findall(r"^BuildRequires:\s+(\S+)", spec, re.M))
        libraries = re.search(r'^    libraries="(.*)"$', script, re.M)[1]
        for manager, compilers in ("dnf", []), ("zypper", ["gcc", "gcc-c++", "gcc13", "gcc13-c++"]):
            part = re.search(rf"^{manager}\)\n(.*?)\n    ;;", script[script.index("\ncase $manager in\ndnf)"):], re.M | re.S)[1]
            words = " ".join(re.findall(r'^    (?:optional_)?build_packages="(.*)"$', part, re.M))
            words = words.replace("$libraries", libraries).replace("$compiler", " ".join(compilers)).split()
            words = {word for word in words if word not in ("pkgconfig(libbsd)", "pkg-config", "pkgconf-pkg-config")}
            self.assertLessEqual(words, needed, manager)

    def test_the_samples_are_those_of_the_debian_package(self):
        removed = re.search(r"^rm (\$samples/.*)$", SPEC.read_text(encoding="utf-8"), re.M)[1].split()
        self.assertEqual({"$samples/meson.build", "$samples/3.0/meson.build", "$samples/run_dma_samples.sh"}, set(removed))


@unittest.skipUnless(shutil.which("rpmspec"), "rpmspec is not installed")
class Rpm(unittest.TestCase):
    def test_rpm_reads_it(self):
        for options in [], ["--define", "opt_generation 3.0"], ["--define", "suse_version 1500"], ["--define", "suse_version 1600"]:
            said = run("rpmspec", "--query", "--queryformat", "%{name}\n", *options, SPEC)
            # The package of the spec's own name has no list of files, and so is not made.
            self.assertEqual({"opendoca", *file_lists()}, set(said.split()))
            run("rpmspec", "--parse", *options, SPEC)

    @unittest.skipUnless(shutil.which("rpmlint"), "rpmlint is not installed")
    def test_rpmlint_finds_no_errors(self):
        done = subprocess.run(["rpmlint", SPEC], capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
