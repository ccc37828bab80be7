#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/sbom.py and scripts/make_release.sh, in a checkout of a few files.

test_release_files.py SOURCE_ROOT
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

TOP = pathlib.Path()
VERSION = "1.2.3"
FILES = {
    "meson.build": f"project('opendoca', 'c',\n  version: '{VERSION}',\n  license: 'BSD-3-Clause')\n",
    "CHANGELOG.md": f"# Changelog\n\n## [Unreleased]\n\n- later\n\n## [{VERSION}] - 2026-01-02\n\n### Added\n\n- a thing\n\n"
                    "## [1.2.2]\n\n- before\n",
    "src/a b.c": "// SPDX-License-Identifier: BSD-3-Clause\nint a;\n",
    "src/a-b.c": "int b;\n",
}
TIME = "2026-01-02T03:04:05+00:00"


class Checkout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name).resolve()
        self.top = self.make("one")
        self.package = self.base / "opendoca_1.2.3_amd64.deb"
        self.package.write_bytes(b"a package")

    def make(self, name):
        top = self.base / name
        for path, text in FILES.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
        (top / "scripts").mkdir()
        for script in "sbom.py", "make_release.sh":
            shutil.copy(TOP / "scripts" / script, top / "scripts")
        subprocess.run(["git", "init", "-q", top], check=True)
        self.commit(top)
        return top

    @staticmethod
    def commit(top):
        identity = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in
                    (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", TIME))}
        for words in ("add", "-A"), ("commit", "-q", "-m", "a change"):
            subprocess.run(["git", "-C", top, *words], check=True, env=os.environ | identity)

    def run_script(self, name, *words, top=None, **environment):
        return subprocess.run([(top or self.top) / "scripts" / name, *words], capture_output=True, text=True, timeout=60, check=False,
                              env={key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"} | environment)


class Sbom(Checkout):
    def sbom(self, *words, **more):
        done = self.run_script("sbom.py", *words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_is_a_document_of_spdx(self):
        found = json.loads(self.sbom(self.package))
        self.assertEqual((found["spdxVersion"], found["dataLicense"], found["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(found["documentNamespace"], r"^https://[^#]+$")
        self.assertEqual(found["creationInfo"]["created"], "2026-01-02T03:04:05Z")
        self.assertTrue(all(re.match("(Tool|Organization|Person): ", name) for name in found["creationInfo"]["creators"]))
        elements = [element["SPDXID"] for element in found["packages"] + found["files"]]
        self.assertEqual(len(elements), len(set(elements)))
        for element in elements:
            self.assertRegex(element, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for relation in found["relationships"]:
            for end in "spdxElementId", "relatedSpdxElement":
                self.assertIn(relation[end], elements + ["SPDXRef-DOCUMENT"])
        for package in found["packages"]:
            for key in "name", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText":
                self.assertTrue(package[key], key)
            self.assertEqual("packageVerificationCode" in package, package["filesAnalyzed"])
        related = {relation["spdxElementId"] for relation in found["relationships"]} | {
            relation["relatedSpdxElement"] for relation in found["relationships"]}
        self.assertEqual(set(elements) - related, set())

    def test_each_tracked_file_has_its_checksums(self):
        found = json.loads(self.sbom())
        self.assertEqual({file["fileName"] for file in found["files"]},
                         {f"./{name}" for name in [*FILES, "scripts/sbom.py", "scripts/make_release.sh"]})
        for file in found["files"]:
            data = (self.top / file["fileName"]).read_bytes()
            self.assertEqual({entry["algorithm"]: entry["checksumValue"] for entry in file["checksums"]},
                             {"SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()})
        licenses = {file["fileName"]: file["licenseInfoInFiles"] for file in found["files"]}
        self.assertEqual((licenses["./src/a b.c"], licenses["./src/a-b.c"]), (["BSD-3-Clause"], ["NONE"]))

    def test_a_changed_checkout_names_no_commit(self):
        self.assertRegex(json.loads(self.sbom())["packages"][0]["downloadLocation"], "^git[+]https://.*@[0-9a-f]{40}$")
        (self.top / "src/a-b.c").write_text("int c;\n")
        self.assertEqual(json.loads(self.sbom())["packages"][0]["downloadLocation"], "NOASSERTION")

    def test_an_artifact_has_its_checksum(self):
        artifact = next(package for package in json.loads(self.sbom(self.package))["packages"]
                        if package.get("packageFileName") == self.package.name)
        self.assertEqual(artifact["checksums"][1]["checksumValue"], hashlib.sha256(b"a package").hexdigest())
        done = self.run_script("sbom.py", "missing.deb")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("missing.deb is no file", done.stderr)

    def test_it_is_the_same_in_another_folder_time_zone_and_language(self):
        other = self.make("another")
        self.assertEqual(self.sbom(self.package), self.sbom(self.package, top=other, TZ="Asia/Tokyo", LC_ALL="C"))
        self.assertIn('"created": "1970-01-01T00:00:09Z"', self.sbom(SOURCE_DATE_EPOCH="9"))

    def test_versions_are_looked_up_on_request(self):
        programs = self.base / "bin"
        programs.mkdir()
        (programs / "pkg-config").write_text('#!/bin/sh\n[ "$2" = json-c ] && echo 0.16\n')
        (programs / "pkg-config").chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"

        def versions(*words):
            return {package["name"]: package["versionInfo"] for package in json.loads(self.sbom(*words, PATH=path))["packages"]}
        self.assertEqual((versions()["json-c"], versions()["opendoca"]), ("NOASSERTION", VERSION))
        found = versions("--build-versions")
        self.assertEqual((found["json-c"], found["libcrypto"]), ("0.16", "NOASSERTION"))

    def test_its_packages_are_those_of_the_build_files(self):
        asked = set()
        for build_file in TOP.rglob("meson.build"):
            if not build_file.relative_to(TOP).parts[0].startswith("build"):
                asked |= set(re.findall(r"dependency\('([\w.-]+)'", build_file.read_text(encoding="utf-8")))
        asked = {name for name in asked if name not in ("threads", "dl") and not name.startswith("doca")}
        self.assertEqual(asked, {package["name"] for package in json.loads(self.sbom())["packages"]} - {"opendoca"})

    def test_without_a_checkout_it_fails(self):
        shutil.rmtree(self.top / ".git")
        done = self.run_script("sbom.py", GIT_CEILING_DIRECTORIES=str(self.base))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("sbom.py: git ", done.stderr)


class Release(Checkout):
    def release(self, output, *words, **more):
        done = self.run_script("make_release.sh", *words, output, self.package, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {path.name: path.read_bytes() for path in output.iterdir()}

    def test_the_files(self):
        (self.top / "src/untracked.c").write_text("int c;\n")
        found = self.release(self.base / "release", "--tag", f"v{VERSION}")
        self.assertEqual(sorted(found), ["NOTES.md", "SHA256SUMS", f"opendoca-{VERSION}.spdx.json", f"opendoca-{VERSION}.tar.gz",
                                         self.package.name])
        self.assertEqual(found["NOTES.md"].decode(), "### Added\n\n- a thing\n")
        sums = dict(reversed(line.split("  ")) for line in found.pop("SHA256SUMS").decode().splitlines())
        self.assertEqual(sums, {name: hashlib.sha256(data).hexdigest() for name, data in found.items()})
        with tarfile.open(self.base / "release" / f"opendoca-{VERSION}.tar.gz") as archive:
            names = {member.name for member in archive.getmembers() if member.isfile()}
        self.assertEqual(names, {f"opendoca-{VERSION}/{name}" for name in [*FILES, "scripts/sbom.py", "scripts/make_release.sh"]})
        artifacts = {package.get("packageFileName") for package in json.loads(found[f"opendoca-{VERSION}.spdx.json"])["packages"]}
        self.assertEqual(artifacts - {None}, {self.package.name, f"opendoca-{VERSION}.tar.gz"})

    def test_it_is_the_same_elsewhere(self):
        self.assertEqual(self.release(self.base / "release"),
                         self.release(self.base / "again", top=self.make("another"), TZ="Asia/Tokyo", LC_ALL="C"))

    def test_it_does_not_depend_on_settings_of_git(self):
        settings = {"tar.umask": "0077", "core.autocrlf": "true"}
        environment = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        self.assertEqual(self.release(self.base / "release"), self.release(self.base / "again", **environment))

    def test_it_refuses(self):
        output = self.base / "release"
        for words, complaint in ((["--tag", "v9.9.9", output], f"the tag is v9.9.9, and the version in meson.build is {VERSION}"),
                                 ([output, self.base / "none.deb"], "none.deb is no file"),
                                 ([self.top], "is not empty")):
            done = self.run_script("make_release.sh", *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(complaint, done.stderr)
            self.assertFalse(output.exists())
        for words in [], ["--tga", "v1", output], ["--tag"]:
            self.assertEqual(self.run_script("make_release.sh", *words).returncode, 2)
        (self.top / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")
        self.assertIn("has changes that are not committed", self.run_script("make_release.sh", output).stderr)
        self.commit(self.top)
        self.assertIn(f"CHANGELOG.md has no section of {VERSION}", self.run_script("make_release.sh", output).stderr)


if __name__ == "__main__":
    TOP = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
