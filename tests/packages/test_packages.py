#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What can be said of the packages without building them; in_fresh_debian.sh tries built ones.

    test_packages.py BUILD_DIR TRIPLET

Of a tree that was built for another CPU, these are the packages for that one.
"""
import ast
import configparser
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEBIAN = SOURCE_ROOT / "debian"
ARCHITECTURES = {"x86_64-linux-gnu": "amd64", "aarch64-linux-gnu": "arm64"}
VERSIONS = {"2.2": "2.2.0080", "3.0": "3.0.0058"}


def text_of(name):
    return (SOURCE_ROOT / name).read_text(encoding="utf-8")


def cross_files():
    """Options by which BUILD_DIR was set up for another CPU."""
    options = configparser.ConfigParser(interpolation=None)
    options.read(pathlib.Path(BUILD_DIR, "meson-private", "cmd_line.txt"))
    files = ast.literal_eval(options.get("properties", "cross_file", fallback="[]"))
    return [word for file in files for word in ("--cross-file", file)]


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True,
                          env=os.environ | environment).stdout


class Release(unittest.TestCase):
    def test_one_number_everywhere(self):
        number = re.search(r"^  version: '(.*)'", text_of("meson.build"), re.M)[1]
        self.assertRegex(number, r"^\d+\.\d+\.\d+$")
        self.assertEqual(number, re.search(r"^## \[(\d.*?)\]", text_of("CHANGELOG.md"), re.M)[1])
        self.assertEqual(number, re.match(r"opendoca \((.*?)\)", text_of("debian/changelog"))[1])
        day = re.search(r"^## \[\d.*?\] - (\S+)$", text_of("CHANGELOG.md"), re.M)[1]
        self.assertEqual(day, re.search(r"^release_date = '(.*)'$", text_of("docs/manual/meson.build"), re.M)[1])


class Formats(unittest.TestCase):
    def test_the_upgrade_notes_have_the_versions_of_the_sources(self):
        rows = re.findall(r"^\|[^|]*\|[^|]*\| (\d+) \| `(\w+)` \|$", text_of("docs/upgrading.md"), re.M)
        found = {}
        for path in (SOURCE_ROOT / "src").rglob("*.[ch]pp"):
            text = path.read_text(encoding="utf-8")
            for name, number in re.findall(r"constexpr std::uint32_t (\w+_version) = (\d+);", text):
                found[name] = number
            for number in re.findall(r"descriptor_version_of\(.*\n\{\n.*soft_connection \? (\d+) : 1;", text):
                found["descriptor_version_of"] = number
        self.assertEqual(found, {name: number for number, name in rows})


class Samples(unittest.TestCase):
    def test_all_of_them_are_packaged(self):
        patterns = [line.split()[0] for line in text_of("debian/opendoca-samples.install").splitlines()]
        for path in (SOURCE_ROOT / "samples").iterdir():
            # These build all of them at once, and try some: for the source tree.
            if path.name not in ("meson.build", "run_dma_samples.sh"):
                self.assertTrue(any(fnmatch.fnmatch(f"samples/{path.name}", pattern) for pattern in patterns), path.name)

    def test_the_trees_in_opt_have_those_of_their_generation(self):
        for package, folder, others in (("opendoca-opt", "samples", ("meson.build", "run_dma_samples.sh", "3.0")),
                                        ("opendoca3.0-opt", "samples/3.0", ("meson.build",))):
            lines = [line.split() for line in text_of(f"debian/{package}.install").splitlines()]
            self.assertEqual({"opt/mellanox/doca/samples"}, {place for _, place in lines})
            for path in (SOURCE_ROOT / folder).iterdir():
                is_there = any(fnmatch.fnmatch(f"{folder}/{path.name}", pattern) for pattern, _ in lines)
                self.assertEqual(path.name not in others, is_there, f"{package}: {path.name}")


class Opt(unittest.TestCase):
    """packaging/link_tree.sh, on files that stand for an installation."""

    INSTALLED = ("include/opendoca/{api}/doca_version.h", "include/opendoca/{api}/opendoca/older/a.h",
                 "lib/t/opendoca/{api}/libdoca_common.so.2", "lib/t/opendoca/{api}/pkgconfig/doca.pc",
                 "lib/t/opendoca/{api}/bin/doca_caps", "share/opendoca/{api}/applications/VERSION")

    def link(self, place, api):
        for name in self.INSTALLED:
            path = place / "root/usr" / name.format(api=api)
            path.parent.mkdir(parents=True)
            path.touch()
        (place / "root/usr/lib/t/opendoca" / api / "libdoca_common.so").symlink_to("libdoca_common.so.2")
        tree = place / "tree"
        for sample in "dma_local_copy", "dma_remote_copy_receiver", "dma_remote_copy_sender":
            (tree / "samples/doca_dma" / sample).mkdir(parents=True)
        run(SOURCE_ROOT / "packaging/link_tree.sh", api, place / "root", tree, "lib/t")
        return {str(path.relative_to(tree)): str(path.readlink()) for path in tree.rglob("*") if path.is_symlink()}

    def test_each_file_is_a_link_of_its_own(self):
        for api, tools in ("2.2", "usr/bin"), ("3.0", "usr/lib/t/opendoca/3.0/bin"):
            with self.subTest(api=api), tempfile.TemporaryDirectory() as place:
                links = self.link(pathlib.Path(place), api)
                expected = {
                    "include/doca_version.h": f"/usr/include/opendoca/{api}/doca_version.h",
                    "include/opendoca/older/a.h": f"/usr/include/opendoca/{api}/opendoca/older/a.h",
                    "lib/t/libdoca_common.so": f"/usr/lib/t/opendoca/{api}/libdoca_common.so",
                    "lib/t/libdoca_common.so.2": f"/usr/lib/t/opendoca/{api}/libdoca_common.so.2",
                    "lib/t/pkgconfig/doca.pc": f"/usr/lib/t/opendoca/{api}/pkgconfig/doca.pc",
                    "applications/VERSION": f"/usr/share/opendoca/{api}/applications/VERSION",
                    "bin/with_opendoca": "/usr/bin/with_opendoca",
                    "tools/doca_bench": f"/{tools}/doca_bench",
                    "tools/doca_caps": f"/{tools}/doca_caps",
                    "tools/doca_lib_dir": "../lib/t",
                }
                samples = {name: target for name, target in links.items() if name.startswith("samples/")}
                self.assertEqual(expected, {name: target for name, target in links.items() if name not in samples})
                self.assertEqual(3 if api == "2.2" else 0, len(samples))
                for name, target in samples.items():
                    source = (SOURCE_ROOT / name).parent / target
                    self.assertTrue(source.is_file(), f"{name} leads to {source}")


class Layout(unittest.TestCase):
    """The build that packages are made of, configured and not compiled."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.build = pathlib.Path(cls.place.name)
        run("meson", "setup", cls.build, SOURCE_ROOT, *cross_files(), "--prefix=/usr", f"-Dlibdir=lib/{TRIPLET}", "-Dtests=false")
        # Files of one target share an entry, of which the last one is kept.
        plan = json.loads(run("meson", "introspect", "--install-plan", cls.build))
        names = {"{prefix}": "/usr", "{bindir}": "/usr/bin", "{libdir}": f"/usr/lib/{TRIPLET}", "{mandir}": "/usr/share/man",
                 "{includedir}": "/usr/include", "{datadir}": "/usr/share",
                 "{libdir_shared}": f"/usr/lib/{TRIPLET}", "{moduledir_shared}": f"/usr/lib/{TRIPLET}"}
        cls.installed = set()
        for entries in plan.values():
            for entry in entries.values():
                path = entry["destination"]
                for name, value in names.items():
                    path = path.replace(name, value)
                cls.installed.add(path.lstrip("/"))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_each_file_is_in_one_package(self):
        patterns = [(package.stem, line.split()[0]) for package in DEBIAN.glob("*.install")
                    for line in package.read_text(encoding="utf-8").splitlines() if line.startswith("usr/")]
        for path in sorted(self.installed):
            # Of a library, the file and its links: those of the linker are for developers.
            packages = {package for package, pattern in patterns
                        if fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, f"{pattern}/*")}
            self.assertEqual(1, len(packages), f"{path} is in {packages or 'no package'}")

    def test_nothing_is_outside_of_the_standard(self):
        for path in self.installed:
            self.assertRegex(path, rf"^usr/(bin|lib/{TRIPLET}/opendoca|include/opendoca|share/(man|opendoca))(/|$)")

    def test_modules_know_their_folders_by_plain_names(self):
        for generation, version in VERSIONS.items():
            (self.build / generation).mkdir()
            for module in (self.build / "packaging").glob(f"{version}-*.pc"):
                shutil.copy(module, self.build / generation / module.name.removeprefix(f"{version}-"))
            flags = run("pkg-config", "--cflags", "--libs", "doca-dma", PKG_CONFIG_PATH=str(self.build / generation)).split()
            libdir = f"/usr/lib/{TRIPLET}/opendoca/{generation}"
            self.assertEqual({f"-I/usr/include/opendoca/{generation}", "-DALLOW_EXPERIMENTAL_API", f"-L{libdir}",
                              f"-Wl,-rpath,{libdir}", "-ldoca_dma", "-ldoca_common"}, set(flags))

    def test_with_opendoca_chooses_a_generation(self):
        program = self.build / "usr" / "bin" / "with_opendoca"
        program.parent.mkdir(parents=True)
        shutil.copy(self.build / "tools" / "with_opendoca", program)
        program.chmod(0o755)
        says = "echo $LD_LIBRARY_PATH $PKG_CONFIG_PATH"
        for words, generation in ([], "2.2"), (["2.2"], "2.2"), (["3.0"], "3.0"):
            folder = f"{self.build.resolve()}/usr/lib/{TRIPLET}/opendoca/{generation}"
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            said = run(program, *words, "sh", "-c", says, LD_LIBRARY_PATH="/before", PKG_CONFIG_PATH="")
            self.assertEqual(f"{folder}:/before {folder}/pkgconfig\n", said)
        elsewhere = subprocess.run([self.build / "tools" / "with_opendoca", "true"], capture_output=True, text=True, check=False)
        self.assertEqual(1, elsewhere.returncode)
        self.assertIn("is not there", elsewhere.stderr)
        wrong = subprocess.run([program, "3.0"], capture_output=True, text=True, check=False)
        self.assertEqual((2, ""), (wrong.returncode, wrong.stdout))


@unittest.skipUnless(shutil.which("dpkg-gensymbols"), "dpkg-gensymbols is not installed")
class Symbols(unittest.TestCase):
    def test_symbols_files_are_those_of_the_libraries(self):
        with tempfile.TemporaryDirectory() as place:
            for generation, version in VERSIONS.items():
                folder = pathlib.Path(place) / generation
                folder.mkdir()
                for library in pathlib.Path(BUILD_DIR, "src").rglob(f"libdoca_*.so.{version}"):
                    shutil.copy(library, folder)
                package = f"libopendoca{generation}"
                done = subprocess.run(["dpkg-gensymbols", "-c4", "-q", f"-p{package}", f"-P{folder}", "-v0", "-O/dev/null",
                                       f"-I{DEBIAN}/{package}.symbols", *(f"-e{path}" for path in folder.iterdir())],
                                      capture_output=True, text=True, check=False, cwd=SOURCE_ROOT,
                                      env=os.environ | {"DEB_HOST_ARCH": ARCHITECTURES[TRIPLET]})
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)


if __name__ == "__main__":
    BUILD_DIR, TRIPLET = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
