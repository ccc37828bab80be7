#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Programs of DOCA 3.0 built by CMake, as docs/install.md shows it, and by Bazel, as samples/3.0/bazel does.

Where Bazel is not installed, functions of this test stand for those that doca.bzl and the BUILD files call, and the compiler
gets what Bazel would give it.

    test_build_systems.py BUILD_DIR
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = TOP / "samples/3.0/bazel"
BUILD_DIR = pathlib.Path()
BAZEL = shutil.which("bazel")
# Bazel takes the rules of C, Java and protocol buffers from repositories that it downloads, though releases before 8 have these rules
# themselves. The test needs no network: repositories with these rules stand for those.
RULES = {"cc": ("cc_binary", "cc_import", "cc_library", "cc_proto_library", "cc_test", "cc_toolchain", "cc_toolchain_suite"),
         "java": ("java_binary", "java_import", "java_library", "java_plugin", "java_proto_library", "java_runtime", "java_test",
                  "java_toolchain", "java_package_configuration"),
         "proto": ("proto_lang_toolchain", "proto_library")}
if shutil.which("pkg-config") is None:
    print("skipped: pkg-config is not installed")
    sys.exit(77)


class Failed(Exception):
    """What Starlark's fail() does."""


def fail(message):
    raise Failed(message)


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False, **options)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


class Context:
    """What Bazel gives to the implementation of a repository rule; the repository is a folder."""

    def __init__(self, folder, modules, env):
        self.folder, self.env = folder, env
        self.attr = types.SimpleNamespace(modules=modules)

    def execute(self, command):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.env)
        return types.SimpleNamespace(return_code=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def symlink(self, target, name):
        (self.folder / name).symlink_to(target)

    def file(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")


def evaluate(path, **functions):
    """Runs a file of Bazel: of what Starlark has, these use only what Python has, too."""
    names = dict(functions, fail=fail)
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)  # pylint: disable=exec-used
    return names


class Programs(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name).resolve()
        # Modules of the build tree, with the folder of each library.
        folders = {name: BUILD_DIR / "src" / name / "v3" for name in ("core", "dma")}
        search = " ".join(f"-L{folder} -Wl,-rpath,{folder}" for folder in folders.values())
        modules = self.folder / "pkgconfig"
        modules.mkdir()
        for name, libraries in {"doca": "-ldoca_dma -ldoca_common", "doca-common": "-ldoca_common", "doca-dma": "-ldoca_dma"}.items():
            (modules / f"{name}.pc").write_text(
                f"Name: {name}\nDescription: of the build tree\nVersion: 3.0.0058\n"
                f"Cflags: -I{TOP / 'include/3.0'} -DALLOW_EXPERIMENTAL_API\nLibs: {search} {libraries}\n", encoding="utf-8")
        self.environment = environment(DOCA_SOFT="1", PKG_CONFIG_PATH=str(modules))
        self.sample = self.folder / "sample"
        shutil.copytree(SAMPLE, self.sample)
        for library in folders.values():
            self.assertTrue(list(library.glob("libdoca_*.so")), f"{library} has no library")

    def check_devices(self, program):
        lines = run(program, env=self.environment).splitlines()
        self.assertIn("0000:03:00.0 can copy by DMA", lines)
        self.assertRegex("\n".join(lines), r"\A(?:[\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.[\da-f] can copy by DMA\n?)+\Z")

    def test_cmake_builds_what_the_page_shows(self):
        if shutil.which("cmake") is None:
            self.skipTest("cmake is not installed")
        page = (TOP / "docs/install.md").read_text(encoding="utf-8")
        block = re.search(r"^CMake:\n\n((?:    .*\n|\n)+)", page, re.M)[1]
        (self.sample / "CMakeLists.txt").write_text(re.sub(r"^    ", "", block, flags=re.M), encoding="utf-8")
        (self.sample / "devices.c").rename(self.sample / "program.c")
        run("cmake", "-S", self.sample, "-B", self.folder / "out", env=self.environment)
        run("cmake", "--build", self.folder / "out", env=self.environment)
        self.check_devices(self.folder / "out/program")

    def test_bazel_builds_the_sample(self):
        if BAZEL is None:
            self.skipTest("bazel is not installed (package bazel-bootstrap); test_files checks the files without it")
        base = [BAZEL, f"--output_user_root={self.folder / 'bazel'}", "--batch"]
        options = []
        for language, rules in RULES.items():
            repository = self.folder / f"rules_{language}"
            (repository / language).mkdir(parents=True)
            definitions = "".join(f"def {name}(**arguments):\n    native.{name}(**arguments)\n\n" for name in rules)
            for name, text in {"WORKSPACE": "", f"{language}/BUILD": "", f"{language}/defs.bzl": definitions}.items():
                (repository / name).write_text(text, encoding="utf-8")
            options.append(f"--override_repository=rules_{language}={repository}")
        run(*base, "build", *options, "//:devices", cwd=self.sample, env=self.environment | {"HOME": str(self.folder)})
        self.check_devices(self.sample / "bazel-bin/devices")

    def repository(self, modules):
        """Runs the repository rule; returns the folder that it fills and the arguments of its cc_library."""
        rules = evaluate(self.sample / "doca.bzl", repository_rule=lambda **arguments: arguments,
                         attr=types.SimpleNamespace(string_list=lambda mandatory: mandatory))
        self.assertIn("PKG_CONFIG_PATH", rules["doca_repository"]["environ"])
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        rules["doca_repository"]["implementation"](Context(folder, modules, self.environment))
        made = {}
        evaluate(folder / "BUILD", cc_library=made.update, glob=lambda patterns: [
            path for pattern in patterns for path in folder.glob(pattern)])
        return folder, made

    def test_files(self):
        workspace = {}
        loads = []
        evaluate(self.sample / "WORKSPACE", workspace=lambda name: None, load=lambda *names: loads.append(names),
                 doca_repository=workspace.update)
        self.assertEqual([("//:doca.bzl", "doca_repository")], loads)
        folder, library = self.repository(workspace["modules"])
        binary = {}
        evaluate(self.sample / "BUILD", cc_binary=binary.update)
        self.assertEqual([f"@{workspace['name']}//:{library['name']}"], binary["deps"])
        program = self.folder / binary["name"]
        run("cc", *(f"-I{folder / name}" for name in library["includes"]),
            *(f"-D{name}" for name in [*library["defines"], *binary["local_defines"]]), "-Wall", "-Wextra", "-Werror",
            *(self.sample / name for name in binary["srcs"]), "-o", program, *library["linkopts"])
        self.check_devices(program)

    def test_a_module_that_is_not_there(self):
        with self.assertRaisesRegex(Failed, r"pkg-config --cflags doca-common doca-none has failed, see PKG_CONFIG_PATH: (?s:.*)doca-none"):
            self.repository(["doca-common", "doca-none"])


if __name__ == "__main__":
    BUILD_DIR = pathlib.Path(sys.argv.pop(1)).resolve()
    print(f"Bazel: {BAZEL or 'not installed, so its files are checked without it'}")
    os.environ.pop("CFLAGS", None)
    unittest.main()
