#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The Containerfiles of packaging/: known instructions, files that exist, scripts that take the arguments they are called with.

test_containerfiles.py SOURCE_ROOT

Nothing is built and nothing is fetched.
"""
import pathlib
import re
import sys
import unittest

import commands
import containerfile

TOP = pathlib.Path()
IMAGES = {
    "ubuntu-22.04": "docker.io/library/ubuntu:22.04",
    "ubuntu-24.04": "docker.io/library/ubuntu:24.04",
    "debian-12": "docker.io/library/debian:12",
    "debian-13": "docker.io/library/debian:13",
    "rocky-9": "docker.io/rockylinux/rockylinux:9",
}


def mistakes(text):
    checker = containerfile.Checker(TOP).check(text)
    found = list(checker.mistakes)
    for instruction, files, values, _ in checker.commands:
        shell = containerfile.VARIABLE.sub(lambda name: values.get(name[1] or name[2], name[0]), instruction.rest)
        found += [f"line {instruction.line}: {what}" for what in commands.mistakes(shell, TOP, files)]
    return found


class Containerfiles(unittest.TestCase):
    def files(self):
        return {path.name.removesuffix(".Containerfile"): path for path in (TOP / "packaging/containers").iterdir()}

    def test_there_is_one_for_each_system(self):
        self.assertEqual(sorted(self.files()), sorted(IMAGES))
        for name, path in self.files().items():
            text = path.read_text(encoding="utf-8")
            all_stages = containerfile.stages(text)
            self.assertEqual({containerfile.base_image(stage) for stage in all_stages}, {IMAGES[name]})
            self.assertIn(f"podman build -f packaging/containers/{path.name} -t opendoca:{name} .", text)

    def test_they_have_no_mistakes(self):
        for path in self.files().values():
            self.assertEqual(mistakes(path.read_text(encoding="utf-8")), [], path.name)

    def test_they_differ_only_in_the_system(self):
        def common(path):
            lines = path.read_text(encoding="utf-8").splitlines()
            return [re.sub(r" && (rm -rf /var/lib/apt/lists/\*|dnf clean all)$", "", line) for line in lines
                    if not line.startswith(("#", "FROM docker.io/"))]
        first, *others = self.files().values()
        for path in others:
            self.assertEqual(common(path), common(first))

    def test_each_builds_and_installs_by_the_scripts_of_the_project(self):
        for path in self.files().values():
            checker = containerfile.Checker(TOP).check(path.read_text(encoding="utf-8"))
            called = [name for instruction, *_ in checker.commands for name in commands.calls(instruction.rest)]
            self.assertEqual(called, ["scripts/install_dependencies.sh", "scripts/install_tree.sh"], path.name)

    def test_everything_that_meson_reads_is_copied(self):
        """Subdirectories that meson.build enters without tests, and what their build files name outside of their own folder."""
        folders = set()
        for build_file in [TOP / "meson.build", *(TOP / "tools").rglob("meson.build"), *(TOP / "src").rglob("meson.build")]:
            for name in re.findall(r"'((?:\.\./)+[\w./-]+)'", build_file.read_text(encoding="utf-8")):
                target = (build_file.parent / name).resolve()
                if TOP in target.parents:
                    folders.add(target.relative_to(TOP).parts[0])
        folders |= {name.split("/")[0] for name in re.findall(r"^subdir\('([\w./]+)'\)", (TOP / "meson.build").read_text(), re.M)}
        self.assertIn("tests", folders)
        for path in self.files().values():
            copied = {word.split("/")[0] for stage in containerfile.stages(path.read_text(encoding="utf-8"))
                      for instruction in stage.instructions if instruction.name == "COPY" for word in instruction.words()[:-1]}
            self.assertEqual(folders - copied, set(), path.name)


class Mistakes(unittest.TestCase):
    """What the checks above find."""
    GOOD = "FROM docker.io/library/debian:12 AS one\nCOPY scripts/install_dependencies.sh /src/scripts/\n" \
           "RUN /src/scripts/install_dependencies.sh tests && \\\n    true\nFROM one\nCOPY --from=one /src /src\n"

    def test_of_files_and_instructions(self):
        self.assertEqual(mistakes(self.GOOD), [])
        for old, new, complaint in (
                ("FROM one", "FORM one", "unknown instruction FORM"),
                ("FROM docker.io/library/debian:12", "FROM debian:12", "debian:12 has no registry"),
                ("COPY scripts/install_dependencies.sh", "COPY scripts/install_everything.sh", "there is no scripts/install_every"),
                ("COPY scripts/install_dependencies.sh", "COPY ../secret", "outside of the source tree"),
                ("--from=one", "--from=two", "no stage two"),
                ("--from=one", "--chwon=one", "unknown option of COPY: chwon"),
                ("RUN ", "COPY ", "the target of 3 files must end with /"),
                ("    true\n", "    (true\n", "syntax error"),
                ("/src/scripts/\n", "/other/scripts/\n", "not copied to where it is called"),
                ("sh tests", "sh everything", "has no list everything"),
                ("sh tests", "sh tests lint", "takes one list"),
                ("FROM docker.io/library/debian:12 AS one\n", "", "COPY before the first FROM")):
            self.assertIn(old, self.GOOD)
            self.assertIn(complaint, "\n".join(mistakes(self.GOOD.replace(old, new, 1))), new)

    def test_of_calls(self):
        for call, complaint in (
                ("scripts/install_tree.sh --prefix /opt/x --generation 3.0 -- -Dwerror=true", None),
                ("scripts/install_tree.sh --prefx /opt/x", "has no option --prefx"),
                ("scripts/install_tree.sh --prefix --generation 3.0", "needs a value for --prefix"),
                ("scripts/install_tree.sh here", "takes 0 operands, and not 1"),
                ("scripts/run_all_tests.sh quick", None),
                ("scripts/run_all_tests.sh fast", "has no configuration fast"),
                ("scripts/fuzz.sh 60 verbs", None),
                ("scripts/fuzz.sh verbs", "takes seconds first"),
                ("scripts/fuzz.sh 60 verb", "has no target verb"),
                ("scripts/build_packages.sh --arch arm64 out", None),
                ("scripts/make_release.sh --tag v1 out a.deb b.deb", None),
                ("scripts/make_release.sh --tga v1 out", "has no option --tga"),
                ("scripts/sbom.py --output x --build-versions a.deb", None),
                ("scripts/sbom.py --outptu=x", "has no option --outptu=x"),
                ("scripts/build_packages.sh --arhc arm64", "has no option --arhc"),
                ("cd / && sudo \"$x\"/scripts/no_script.sh", "scripts/no_script.sh: no such script"),
                ("if true; then scripts/draw.sh; fi >scripts/out", "no rule for its arguments"),
                ("DOCA_SOFT=1 bash tests/scripts/meson.build 2>/dev/null", "not executable")):
            with self.subTest(call=call):
                found = "".join(commands.mistakes(call, TOP))
                if complaint is None:
                    self.assertEqual(found, "")
                else:
                    self.assertIn(complaint, found)


if __name__ == "__main__":
    TOP = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
