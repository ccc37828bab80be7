#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/make_apt_repository.sh with packages of a few bytes: the files, their checksums, apt as a reader, signatures, errors.

test_make_apt_repository.py SCRIPT
"""
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path()
MISSING = [name for name in ("apt-ftparchive", "apt-get", "apt-cache", "dpkg-deb") if shutil.which(name) is None]
if MISSING:
    print(f"skipped: {', '.join(MISSING)} is not installed; scripts/install_dependencies.sh packages installs apt-utils")
    sys.exit(77)
BUILT = 1700000000
DATE = "Tue, 14 Nov 2023 22:13:20 UTC"
SETTINGS = """Dir "{root}/";
Dir::State::status "{root}/status";
APT::Architecture "{architecture}";
APT::Architectures "{architecture}";
APT::Sandbox::User "root";
Acquire::Languages "none";
"""


def fields(text):
    """The fields of a stanza, or of a Release file; lines that begin with a space belong to the field before."""
    return dict(re.findall(r"^([\w-]+):((?:.*)(?:\n .*)*)$", text, re.M))


def stanzas(text):
    """Package and architecture: the fields of each stanza of a Packages file."""
    found = {}
    for stanza in text.strip().split("\n\n"):
        entry = {key: value.strip() for key, value in fields(stanza).items()}
        if entry:
            found[entry["Package"], entry["Architecture"]] = entry
    return found


def contents(folder):
    """The bytes of all files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name).resolve()
        self.directory = self.base / "repository"
        self.environment = {key: value for key, value in os.environ.items() if key not in ("SOURCE_DATE_EPOCH", "APT_CONFIG")}
        self.packages = [self.package("libtiny", architecture=architecture, source="tiny (3)") for architecture in ("amd64", "arm64")]
        self.packages.append(self.package("tiny-doc", version="2:1.0-1", architecture="all", built=BUILT - 5))

    def package(self, name, version="1.0", architecture="amd64", source=None, content="content", built=BUILT, folder="built"):
        """Builds a package and returns its path."""
        tree = self.base / "tree"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "usr/share/tiny").mkdir(parents=True)
        (tree / "usr/share/tiny" / name).write_text(content, encoding="utf-8")
        (tree / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: a <a@example.org>\n" +
            (f"Source: {source}\n" if source else "") + "Description: a package of a test\n", encoding="utf-8")
        for path in tree, tree / "DEBIAN":
            path.chmod(0o755)
        (self.base / folder).mkdir(exist_ok=True)
        # Not a name that Debian would give: the script reads the package's fields.
        file = self.base / folder / f"{name}+{architecture}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, file], check=True, stdout=subprocess.DEVNULL,
                       env=self.environment | {"SOURCE_DATE_EPOCH": str(built)})
        shutil.rmtree(tree)
        return file

    def run_script(self, *words, **environment):
        return subprocess.run([SCRIPT, *words], capture_output=True, text=True, timeout=120, check=False, cwd=self.base,
                              env=self.environment | environment)

    def make(self, *words, directory=None, packages=None, **environment):
        """Makes a repository and returns what the script prints."""
        done = self.run_script(*words, directory or self.directory, *(packages or self.packages), **environment)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout

    def apt_root(self, source, architecture="amd64"):
        """Returns a folder in which apt keeps everything, with the settings that make it read one source only."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.base))
        for part in "etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/trusted.gpg.d", "var/lib/apt/lists/partial", \
                "var/cache/apt/archives/partial":
            (root / part).mkdir(parents=True)
        (root / "status").touch()
        (root / "apt.conf").write_text(SETTINGS.format(root=root, architecture=architecture), encoding="utf-8")
        (root / "etc/apt/sources.list").write_text(source + "\n", encoding="utf-8")
        return root

    def apt(self, root, *words):
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, cwd=root,
                              env=self.environment | {"APT_CONFIG": str(root / "apt.conf"), "LC_ALL": "C"})


class Unsigned(Repository):
    def test_the_files_and_their_checksums(self):
        done = self.make()
        self.assertEqual(done, f"the repository of bookworm is in {self.directory}: 3 packages, not signed\n")
        found = contents(self.directory)
        release = "dists/bookworm"
        lists = [f"main/binary-{architecture}/Packages" for architecture in ("amd64", "arm64")]
        names = [*lists, *(f"{name}.gz" for name in lists)]
        pool = {"pool/bookworm/main/t/tiny/libtiny_1.0_amd64.deb": self.packages[0],
                "pool/bookworm/main/t/tiny/libtiny_1.0_arm64.deb": self.packages[1],
                "pool/bookworm/main/t/tiny-doc/tiny-doc_1.0-1_all.deb": self.packages[2]}
        self.assertEqual(set(found), {f"{release}/{name}" for name in names} | {f"{release}/Release", *pool})
        for name, package in pool.items():
            self.assertEqual(found[name], package.read_bytes())

        facts = fields(found[f"{release}/Release"].decode())
        self.assertEqual({key: facts[key].strip() for key in ("Suite", "Codename", "Components", "Architectures", "Origin", "Date")},
                         {"Suite": "bookworm", "Codename": "bookworm", "Components": "main", "Architectures": "amd64 arm64",
                          "Origin": "opendoca", "Date": DATE})
        listed = {name: (checksum, int(size)) for checksum, size, name in (line.split() for line in facts["SHA256"].splitlines() if line)}
        self.assertEqual(listed, {name: (hashlib.sha256(found[f"{release}/{name}"]).hexdigest(), len(found[f"{release}/{name}"]))
                                  for name in names})
        for name in lists:
            self.assertEqual(gzip.decompress(found[f"{release}/{name}.gz"]), found[f"{release}/{name}"])

        for architecture in "amd64", "arm64":
            entries = stanzas(found[f"{release}/main/binary-{architecture}/Packages"].decode())
            self.assertEqual(set(entries), {("libtiny", architecture), ("tiny-doc", "all")})
            for entry in entries.values():
                data = found[entry["Filename"]]
                self.assertEqual((entry["SHA256"], entry["Size"]), (hashlib.sha256(data).hexdigest(), str(len(data))))
            self.assertEqual(entries["tiny-doc", "all"]["Version"], "2:1.0-1")

    def test_apt_reads_it(self):
        self.make("--codename", "bookworm", "--codename", "trixie")
        for codename, architecture in ("bookworm", "amd64"), ("trixie", "arm64"):
            root = self.apt_root(f"deb [trusted=yes] file:{self.directory} {codename} main", architecture)
            done = self.apt(root, "apt-get", "update")
            self.assertEqual((done.returncode, re.findall("^[WE]:.*", done.stderr, re.M)), (0, []), done.stdout)
            policy = self.apt(root, "apt-cache", "policy", "libtiny", "tiny-doc").stdout
            self.assertEqual(re.findall(r"Candidate: (\S+)", policy), ["1.0", "2:1.0-1"])
            self.assertIn(f"{codename}/main {architecture} Packages", policy)
            done = self.apt(root, "apt-get", "download", "libtiny", "tiny-doc")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((root / f"libtiny_1.0_{architecture}.deb").read_bytes(),
                             self.packages[architecture == "arm64"].read_bytes())
            self.assertEqual(next(root.glob("tiny-doc_*.deb")).read_bytes(), self.packages[2].read_bytes())

    def test_apt_refuses_a_package_that_was_changed(self):
        self.make()
        changed = self.directory / "pool/bookworm/main/t/tiny/libtiny_1.0_amd64.deb"
        changed.write_bytes(changed.read_bytes()[:-1] + b"x")
        root = self.apt_root(f"deb [trusted=yes] copy:{self.directory} bookworm main")
        self.assertEqual(self.apt(root, "apt-get", "update").returncode, 0)
        done = self.apt(root, "apt-get", "download", "libtiny")
        self.assertEqual(done.returncode, 100)
        self.assertIn("Hash Sum mismatch", done.stderr + done.stdout)

    def test_the_same_packages_give_the_same_bytes(self):
        self.make()
        other = self.base / "in/another/folder"
        copies = []
        for number, package in enumerate(reversed(self.packages)):
            copies.append(shutil.copy(package, self.base / f"{number}.deb"))
            os.utime(copies[-1], (1, 1))
        os.chmod(copies[0], 0o600)
        self.make(directory=other, packages=[*copies, copies[1]], TZ="Asia/Tokyo", LC_ALL="C.UTF-8")
        self.assertEqual(contents(self.directory), contents(other))
        for folder in self.directory, other:
            self.assertEqual({path.stat().st_mtime for path in (folder, *folder.rglob("*"))}, {BUILT})
        self.assertEqual({path.stat().st_mode & 0o777 for path in other.rglob("*")}, {0o755, 0o644})

    def test_the_date_is_that_of_the_environment(self):
        self.make(SOURCE_DATE_EPOCH="86400")
        self.assertIn("\nDate: Fri, 02 Jan 1970 00:00:00 UTC\n", (self.directory / "dists/bookworm/Release").read_text(encoding="utf-8"))

    def test_a_call_replaces_its_release_and_leaves_others(self):
        self.make("--codename", "bookworm")
        before = contents(self.directory)
        other = self.package("libtiny", content="built on another release", folder="other")
        self.make("--codename", "trixie", packages=[other])
        both = contents(self.directory)
        self.assertEqual(before, {name: data for name, data in both.items() if "trixie" not in name})
        self.assertEqual(both["pool/trixie/main/libt/libtiny/libtiny_1.0_amd64.deb"], other.read_bytes())
        self.assertEqual(both["dists/trixie/main/binary-arm64/Packages"], b"")
        newer = self.package("libtiny", version="1.1")
        self.make(packages=[newer])
        after = contents(self.directory)
        self.assertEqual([name for name in after if name.startswith("pool/bookworm/")],
                         ["pool/bookworm/main/libt/libtiny/libtiny_1.1_amd64.deb"])
        self.assertEqual(*({name: data for name, data in one.items() if "trixie" in name} for one in (both, after)))


class Refused(Repository):
    def refused(self, status, complaint, *words, **environment):
        """The script fails and changes nothing, neither without a repository nor with one."""
        before = contents(self.base)
        done = self.run_script(*words, **environment)
        self.assertEqual((status, ""), (done.returncode, done.stdout), done.stderr)
        self.assertIn(f"make_apt_repository.sh: {complaint}", done.stderr)
        self.assertEqual(before, contents(self.base))
        if status == 2:
            self.assertIn("scripts/make_apt_repository.sh [OPTION...] DIRECTORY PACKAGE...", done.stderr)

    def test_wrong_usage(self):
        for words, complaint in (([], "needs a directory and one package at least"),
                                 ([self.directory], "needs a directory and one package at least"),
                                 (["--sign", self.directory, *self.packages], "there is no option --sign"),
                                 (["--key"], "--key needs a value"),
                                 (["--codename", "", self.directory, *self.packages], "--codename needs a value"),
                                 (["--codename", "../bookworm", self.directory, *self.packages], "'../bookworm' is no codename")):
            self.refused(2, complaint, *words)
        self.assertFalse(self.directory.exists())
        done = self.run_script("--help")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn("--codename NAME", done.stdout)

    def test_files_that_are_no_packages(self):
        self.make()
        text = self.base / "text.deb"
        text.write_text("text", encoding="utf-8")
        for file, complaint in ((self.base / "none.deb", f"{self.base}/none.deb is no file"),
                                (text, f"{text} is no Debian package"),
                                ("text.deb", "./text.deb is no Debian package"),
                                (self.package("tiny", architecture="riscv64"), f"{self.base}/built/tiny+riscv64.deb is for riscv64; this")):
            self.refused(1, complaint, self.directory, *self.packages, file)
        self.refused(1, f"{text} is no directory", text, *self.packages)

    def test_packages_of_one_name_that_differ(self):
        other = self.package("libtiny", source="tiny", content="other content", folder="other")
        self.refused(1, f"{self.packages[0]} and {other} differ, and both are libtiny 1.0 of amd64", self.directory, *self.packages, other)
        self.assertFalse(self.directory.exists())

    def test_dates_that_are_none(self):
        self.refused(1, "SOURCE_DATE_EPOCH is 'today', and no number of seconds", self.directory, *self.packages,
                     SOURCE_DATE_EPOCH="today")
        self.assertFalse(self.directory.exists())

    def test_programs_that_are_not_installed(self):
        programs = self.base / "bin"
        programs.mkdir()
        words = [self.directory, *self.packages]
        self.refused(1, "apt-ftparchive is not installed; it is in the package apt-utils", *words, PATH=str(programs))
        for name in "apt-ftparchive", "dpkg-deb":
            (programs / name).symlink_to(shutil.which(name))
        self.refused(1, "gpg is not installed; it is in the package gpg", "--key", "a@example.org", *words, PATH=str(programs))

    def test_a_repository_that_cannot_be_made_leaves_nothing(self):
        self.make()
        failing = self.base / "bin"
        failing.mkdir()
        (failing / "apt-ftparchive").write_text("#!/bin/sh\nexit 4\n", encoding="utf-8")
        (failing / "apt-ftparchive").chmod(0o755)
        before = contents(self.base)
        for directory in self.directory, self.base / "new":
            done = self.run_script(directory, *self.packages, PATH=f"{failing}:{self.environment['PATH']}")
            self.assertEqual((4, ""), (done.returncode, done.stdout))
            self.assertEqual(before, contents(self.base))
        self.assertFalse((self.base / "new").exists())


@unittest.skipIf(shutil.which("gpg") is None, "gpg is not installed")
class Signed(Repository):
    def setUp(self):
        super().setUp()
        # The path of a socket of gpg-agent has 107 characters at most.
        home = tempfile.mkdtemp(prefix="gpg")
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        self.environment["GNUPGHOME"] = home
        self.addCleanup(subprocess.run, ["gpgconf", "--kill", "all"], env=self.environment, check=False)
        for name in "first@example.org", "second@example.org":
            self.gpg("--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "never")

    def gpg(self, *words):
        return subprocess.run(["gpg", "--batch", "--quiet", *words], capture_output=True, text=True, timeout=120, check=True,
                              env=self.environment).stdout

    def test_apt_trusts_it_by_its_key(self):
        self.make("--key", "first@example.org")
        release = self.directory / "dists/bookworm"
        self.assertEqual(sorted(path.name for path in release.iterdir()), ["InRelease", "Release", "Release.gpg", "main", "opendoca.asc"])
        # Two ways to the same: InRelease, and Release with Release.gpg for readers without it.
        for inside in True, False:
            if not inside:
                (release / "InRelease").unlink()
            root = self.apt_root(f"deb [signed-by={release}/opendoca.asc] file:{self.directory} bookworm main")
            done = self.apt(root, "apt-get", "update")
            self.assertEqual((done.returncode, re.findall("^[WE]:.*", done.stderr, re.M)), (0, []), done.stdout)
            self.assertIn("Candidate: 1.0\n", self.apt(root, "apt-cache", "policy", "libtiny").stdout)

    def test_apt_refuses_what_is_not_signed_so(self):
        self.make("--key", "second@example.org")
        key = self.directory / "dists/bookworm/opendoca.asc"
        source = f"deb [signed-by={key}] file:{self.directory} bookworm main"
        right = key.read_text(encoding="utf-8")
        key.write_text(self.gpg("--armor", "--export", "first@example.org"), encoding="utf-8")
        done = self.apt(self.apt_root(source), "apt-get", "update")
        self.assertEqual(done.returncode, 100)
        self.assertIn("is not signed", done.stderr)
        key.write_text(right, encoding="utf-8")
        for architecture in "amd64", "arm64":
            lists = self.directory / f"dists/bookworm/main/binary-{architecture}"
            (lists / "Packages").write_text((lists / "Packages").read_text(encoding="utf-8").replace("1.0", "9.0"), encoding="utf-8")
            (lists / "Packages.gz").unlink()
            done = self.apt(self.apt_root(source, architecture), "apt-get", "update")
            self.assertEqual(done.returncode, 100)
            self.assertIn("Hash Sum mismatch", done.stderr)

    def test_only_signatures_differ_from_an_unsigned_one(self):
        self.make("--key", "first@example.org", "--codename", "trixie")
        signed = contents(self.directory)
        self.make("--codename", "trixie", directory=self.base / "unsigned")
        for name in "InRelease", "Release.gpg", "opendoca.asc":
            del signed[f"dists/trixie/{name}"]
        self.assertEqual(signed, contents(self.base / "unsigned"))

    def test_a_key_that_cannot_sign(self):
        self.gpg("--passphrase", "", "--quick-generate-key", "fourth@example.org", "ed25519", "cert", "never")
        done = self.run_script("--key", "fourth@example.org", self.directory, *self.packages)
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("make_apt_repository.sh: gpg could not sign with the key fourth@example.org\n", done.stderr)
        self.assertFalse(self.directory.exists())

    def test_a_key_that_does_not_exist(self):
        done = self.run_script("--key", "third@example.org", self.directory, *self.packages)
        self.assertEqual((1, "", "make_apt_repository.sh: gpg has no secret key third@example.org\n"),
                         (done.returncode, done.stdout, done.stderr))
        self.assertFalse(self.directory.exists())


if __name__ == "__main__":
    SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
