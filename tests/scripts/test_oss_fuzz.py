#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The files of packaging/oss-fuzz, and the targets that scripts/fuzz.sh lists.

test_oss_fuzz.py SOURCE_ROOT

build.sh runs with programs in place of meson, ninja, ldd and patchelf. A real build: docs/security.md.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import commands
import containerfile

TOP = pathlib.Path()
FOLDER = "packaging/oss-fuzz"
PROGRAMS = {
    "meson": 'echo "meson $*" >>"$CALLS"; mkdir -p "$2"; touch "$2/build.ninja"',
    "ninja": """echo "ninja $*" >>"$CALLS"
for target in "$@"; do
    case $target in tests/*) mkdir -p "$2/tests/fuzz"; echo program >"$2/$target" ;; esac
done
mkdir -p "$2/src/core/v3"
echo 2.2 >"$2/src/core/libdoca_common.so.2"
echo 3.0 >"$2/src/core/v3/libdoca_common.so.2\"""",
    "ldd": """build=${1%/tests/fuzz/*}
echo '	linux-vdso.so.1 (0x1)'
case $1 in
*rdma_server) echo "	libdoca_common.so.2 => $build/src/core/v3/libdoca_common.so.2 (0x2)" ;;
*topology) ;;
*) echo "	libdoca_common.so.2 => $build/src/core/libdoca_common.so.2 (0x2)" ;;
esac
echo "	libjson-c.so.5 => $FAKES/libjson-c.so.5 (0x3)"
echo '	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x4)'
echo '	libgcc_s.so.1 => /lib/x86_64-linux-gnu/libgcc_s.so.1 (0x5)'
echo '	/lib64/ld-linux-x86-64.so.2 (0x6)'""",
    "patchelf": 'echo "patchelf $*" >>"$CALLS"',
}


def corpora():
    """Target: folder of its corpus, as scripts/fuzz.sh lists them."""
    done = subprocess.run([TOP / "scripts/fuzz.sh", "--list"], capture_output=True, text=True, check=True)
    return dict(line.split() for line in done.stdout.splitlines())


class Targets(unittest.TestCase):
    def test_the_script_lists_those_of_the_build_file(self):
        text = (TOP / "tests/fuzz/meson.build").read_text(encoding="utf-8")
        built = dict(re.findall(r"^  '(\w+)': \['fuzz_\w+\.cpp', '(\w+)'", text, re.M))
        for names in re.findall(r"^foreach name : \[(.*?)\]", text, re.M):
            built |= {name: name for name in re.findall(r"'(\w+)'", names)}
        built |= {name: name for name in re.findall(r"executable\('fuzz_(\w+)'", text)}
        self.assertEqual(corpora(), {name: f"tests/fuzz/corpus/{folder}" for name, folder in built.items()})

    def test_each_has_a_corpus(self):
        for folder in corpora().values():
            self.assertTrue(list((TOP / folder).iterdir()), folder)

    def test_a_target_that_does_not_exist_is_refused(self):
        done = subprocess.run([TOP / "scripts/fuzz.sh", "1", "everything"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no such target: everything", done.stderr)


class Files(unittest.TestCase):
    def test_there_are_the_three_files(self):
        self.assertEqual(sorted(path.name for path in (TOP / FOLDER).iterdir()), ["Dockerfile", "build.sh", "project.yaml"])

    def test_the_project_file(self):
        try:
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("no PyYAML; scripts/install_dependencies.sh tests installs it")
        project = yaml.safe_load((TOP / FOLDER / "project.yaml").read_text(encoding="utf-8"))
        self.assertEqual(set(project), {"homepage", "main_repo", "language", "primary_contact", "base_os_version", "fuzzing_engines",
                                        "sanitizers"})
        self.assertEqual((project["language"], project["base_os_version"]), ("c++", "ubuntu-24-04"))
        self.assertLessEqual(set(project["fuzzing_engines"]), {"libfuzzer", "afl", "honggfuzz", "centipede"})
        self.assertLessEqual(set(project["sanitizers"]), {"address", "undefined", "memory"})
        self.assertRegex(project["primary_contact"], r"^\S+@\S+\.\S+$")

    def test_the_image(self):
        text = (TOP / FOLDER / "Dockerfile").read_text(encoding="utf-8")
        checker = containerfile.Checker(TOP / FOLDER).check(text)
        self.assertEqual(checker.mistakes, [])
        self.assertEqual(containerfile.stages(text)[0].image, "gcr.io/oss-fuzz-base/base-builder:ubuntu-24-04")
        called = []
        for instruction, *_ in checker.commands:
            self.assertEqual(commands.mistakes(instruction.rest, TOP), [])
            called += commands.calls(instruction.rest)
        self.assertEqual(called, ["scripts/install_dependencies.sh"])


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name).resolve()
        for name in "src", "out", "work", "bin":
            (self.base / name).mkdir()
        (self.base / "src/opendoca").symlink_to(TOP)
        for name, text in PROGRAMS.items():
            (self.base / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.base / "bin" / name).chmod(0o755)
        (self.base / "bin/libjson-c.so.5").write_text("json-c")
        self.calls = self.base / "calls"
        self.out = self.base / "out"

    def build(self, *words, **environment):
        self.calls.write_text("")
        return subprocess.run([TOP / FOLDER / "build.sh", *words], capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"PATH": f"{self.base}/bin:{os.environ['PATH']}", "CALLS": str(self.calls),
                                                "FAKES": str(self.base / "bin"), "SRC": str(self.base / "src"), "OUT": str(self.out),
                                                "WORK": str(self.base / "work"), "SANITIZER": "address",
                                                "LIB_FUZZING_ENGINE": "/engine.a"} | environment)

    def called(self, name):
        return [line for line in self.calls.read_text().splitlines() if line.startswith(name)]

    def test_each_target_has_its_corpus_its_options_and_its_libraries(self):
        done = self.build()
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = {"lib"}
        for target, folder in corpora().items():
            program = f"fuzz_{target}"
            expected |= {program, f"{program}.options", f"{program}_seed_corpus.zip"}
            with zipfile.ZipFile(self.out / f"{program}_seed_corpus.zip") as archive:
                self.assertEqual({name: archive.read(name) for name in archive.namelist()},
                                 {path.name: path.read_bytes() for path in (TOP / folder).iterdir()})
            self.assertEqual((self.out / f"{program}.options").read_text(), "[libfuzzer]\nmax_len = 4096\n")
        self.assertEqual({path.name for path in self.out.iterdir()}, expected)
        for generation in "2.2", "3.0":
            self.assertEqual({path.name: path.read_text() for path in (self.out / "lib" / generation).iterdir()},
                             {"libdoca_common.so.2": f"{generation}\n", "libjson-c.so.5": "json-c"})
        paths = dict(reversed(line.split()[-2:]) for line in self.called("patchelf"))
        self.assertEqual(paths[f"{self.out}/fuzz_rdma_server"], "$ORIGIN/lib/3.0")
        self.assertEqual(paths[f"{self.out}/fuzz_topology"], "$ORIGIN/lib/2.2")
        self.assertEqual(paths[f"{self.out}/lib/3.0/libdoca_common.so.2"], "$ORIGIN")

    def test_the_build_is_that_of_the_engine_and_the_sanitizer(self):
        options = (TOP / "meson_options.txt").read_text(encoding="utf-8")
        for sanitizer, expected in ("address", "address"), ("undefined", "undefined"), ("coverage", "none"):
            build_dir = self.base / "work" / "build"
            (build_dir / "build.ninja").unlink(missing_ok=True)
            self.assertEqual(self.build("verbs", SANITIZER=sanitizer).returncode, 0)
            words = self.called("meson")[0].split()
            self.assertIn(f"-Db_sanitize={expected}", words)
            self.assertIn("-Dfuzzing_engine=/engine.a", words)
            for word in words:
                if word.startswith("-D") and word[2:].split("=")[0] not in ("buildtype", "unity", "unity_size", "b_lundef", "b_sanitize"):
                    self.assertIn(f"option('{word[2:].split('=')[0]}'", options)
            self.assertEqual(self.called("ninja"), [f"ninja -C {build_dir} tests/fuzz/fuzz_verbs"])

    def test_a_target_that_does_not_exist_is_refused(self):
        done = self.build("verbs", "everything")
        self.assertEqual((done.returncode, done.stdout, self.calls.read_text()), (2, "", ""))
        self.assertIn("no such target: everything", done.stderr)


if __name__ == "__main__":
    TOP = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
