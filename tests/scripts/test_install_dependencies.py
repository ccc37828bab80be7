#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/install_dependencies.sh on systems with apt, dnf and zypper, each a folder of programs that stand for the real
ones: what is asked of the package manager, and that nothing is where nothing is missing.

test_install_dependencies.py SCRIPT
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path()
# What the script calls beside package managers.
PROGRAMS = ("awk", "env", "grep", "sed", "sh", "tr")
LISTS = ("", "tests", "card", "lint")
DEBIAN_LISTS = ("vm", "aarch64", "packages", "roots")

# Each logs its arguments in $STATE/calls. Packages in $STATE/installed are installed, those in $STATE/none do not exist.
INSTALL = """
for word in "$@"; do
    if grep -qxF -- "$word" "$STATE/none"; then echo "no package $word" >&2; exit 1; fi
done
for word in "$@"; do
    case $word in -* | install) ;; *) echo "$word" >>"$STATE/installed" ;; esac
done
"""
LOG = """#!/bin/sh
name=${0##*/}
echo "$name $*" >>"$STATE/calls"
"""
FAKES = {
    "id": "#!/bin/sh\necho 0\n",
    "dpkg-query": """#!/bin/sh
for package in "$@"; do :; done
if grep -qxF -- "$package" "$STATE/installed"; then echo 'ii '; else echo 'un '; exit 1; fi
""",
    "rpm": """#!/bin/sh
case "$1 $2" in
"-E "*rhel*) cat "$STATE/rhel" ;;
"-E "*suse_version*) cat "$STATE/suse" ;;
"-q --whatprovides") grep -qxF -- "$3" "$STATE/installed" ;;
*) echo "unexpected: rpm $*" >&2; exit 9 ;;
esac
""",
    "apt-cache": """#!/bin/sh
if grep -qxF -- "$2" "$STATE/none"; then echo '  Candidate: (none)'; else echo '  Candidate: 1.0'; fi
""",
    "apt-get": LOG + """
case " $* " in
*" update "*) [ ! -e "$STATE/offline" ] || exit 100 ;;
*" install "*)
    while [ "$1" != install ]; do shift; done
""" + INSTALL + "    ;;\nesac\n",
    "dnf": LOG + """
while :; do case $1 in -q | -y | --enablerepo=*) shift ;; *) break ;; esac; done
case $1 in
makecache) [ ! -e "$STATE/offline" ] || exit 1 ;;
repolist) cat "$STATE/repositories" ;;
list) ! grep -qxF -- "$2" "$STATE/none" ;;
install)
""" + INSTALL + """
    case " $* " in *" epel-release "*) echo "epel  Extra Packages" >>"$STATE/repositories" ;; esac
    ;;
reinstall) ;;
*) echo "unexpected: dnf $*" >&2; exit 9 ;;
esac
""",
    "zypper": LOG + """
while :; do case $1 in --non-interactive | --quiet) shift ;; *) break ;; esac; done
case $1 in
refresh) [ ! -e "$STATE/offline" ] || exit 4 ;;
search) ! grep -qxF -- "$3" "$STATE/none" || exit 104 ;;
install)
""" + INSTALL + """
    exit "$(cat "$STATE/status")"
    ;;
*) echo "unexpected: zypper $*" >&2; exit 9 ;;
esac
""",
}
SYSTEMS = {"apt": ("apt-get", "apt-cache", "dpkg-query"), "dnf": ("dnf", "rpm"), "zypper": ("zypper", "rpm"), "": ()}


# Libraries without which libdoca_compress and libdoca_erasure_coding support nothing.
OPTIONAL_LIBRARIES = ("libdeflate", "liblz4", "libxxhash", "libisal")
OPTIONAL_LIBRARIES_BY_MANAGER = {
    "dnf": ("libdeflate-devel", "lz4-devel", "xxhash-devel", "isa-l-devel"),
    "zypper": ("libdeflate-devel", "liblz4-devel", "xxhash-devel", "libisal-devel"),
}


class System:
    """A system with one package manager, in a folder of its own."""

    def __init__(self, test, manager, rhel="0", suse="1600", repositories="", none=()):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.programs = self.top / "bin"
        self.programs.mkdir()
        for name in PROGRAMS + ("cat",):
            (self.programs / name).symlink_to(shutil.which(name))
        for name in SYSTEMS[manager] + ("id",):
            (self.programs / name).write_text(FAKES[name])
            (self.programs / name).chmod(0o755)
        self.write("rhel", rhel)
        self.write("suse", suse)
        self.write("repositories", repositories)
        self.write("none", *none)
        self.write("installed")
        self.write("calls")
        self.write("status", "0")

    def write(self, name, *lines):
        (self.top / name).write_text("".join(f"{line}\n" for line in lines))

    def lines(self, name):
        return (self.top / name).read_text().splitlines()

    def run(self, *words, **environment):
        self.write("calls")
        return subprocess.run([self.programs / "sh", SCRIPT, *words], capture_output=True, text=True, timeout=60, check=False,
                              env={"PATH": str(self.programs), "STATE": str(self.top)} | environment)

    def installing(self):
        return [call for call in self.lines("calls") if " install " in call and "--reinstall" not in call]


class Managers(unittest.TestCase):
    def works(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def systems(self):
        yield System(self, "apt")
        yield System(self, "dnf")
        yield System(self, "dnf", rhel="9", repositories="crb  CRB\nepel  EPEL")
        yield System(self, "zypper")

    def test_each_list_is_installed_once(self):
        for system in self.systems():
            for name in LISTS:
                system.write("installed")
                arguments = [name] if name else []
                done = self.works(system.run(*arguments))
                self.assertRegex(done.stdout, "^Installing by (apt|dnf|zypper): ")
                self.assertTrue(system.lines("installed"))
                before = system.lines("installed")
                again = self.works(system.run(*arguments))
                self.assertNotIn("Installing", again.stdout)
                self.assertEqual((again.stderr, system.installing(), system.lines("installed")), ("", [], before))

    def test_only_what_is_missing_is_installed(self):
        for system in self.systems():
            self.works(system.run())
            every = system.lines("installed")
            system.write("installed", *[package for package in every if package != "meson"])
            done = self.works(system.run())
            self.assertRegex(done.stdout, r"^Installing by \w+: meson \n$")
            self.assertEqual(sorted(system.lines("installed")), sorted(every))

    def test_the_build_list_names_what_meson_asks_for(self):
        for manager in "dnf", "zypper":
            system = System(self, manager)
            self.works(system.run())
            for module in "libibverbs", "librdmacm", "libmlx5", "json-c", "nlohmann_json", "libbsd":
                self.assertIn(f"pkgconfig({module})", system.lines("installed"))
            for package in "meson", "gcc", "gcc-c++":
                self.assertIn(package, system.lines("installed"))
        build_file = (SCRIPT.parent.parent / "meson.build").read_text(encoding="utf-8")
        for module in re.findall(r"dependency\('([\w-]+)'", build_file):
            if module not in ("threads", "dl", *OPTIONAL_LIBRARIES):
                self.assertTrue(f"pkgconfig({module})" in SCRIPT.read_text(encoding="utf-8"), module)
        # dnf and zypper look up optional packages by their own names.
        for manager, names in OPTIONAL_LIBRARIES_BY_MANAGER.items():
            system = System(self, manager)
            self.works(system.run())
            for package in names:
                self.assertIn(package, system.lines("installed"))

    def test_a_list_of_debian_installs_nothing_elsewhere(self):
        for manager in "dnf", "zypper":
            system = System(self, manager)
            for name in DEBIAN_LISTS:
                done = self.works(system.run(name))
                self.assertIn(f"{name} is for Debian and Ubuntu alone", done.stderr)
                self.assertEqual((done.stdout, system.lines("calls"), system.lines("installed")), ("", [], []))
        system = System(self, "apt")
        for name in DEBIAN_LISTS:
            self.works(system.run(name))
            self.assertTrue(system.installing(), name)

    def test_an_optional_package_may_be_missing(self):
        for manager, package, name in (("apt", "g++-11", "tests"), ("dnf", "mandoc", "tests"), ("dnf", "python3-scapy", "card"),
                                       ("zypper", "mandoc", "tests"), ("zypper", "python3-pyverbs", "card")):
            system = System(self, manager, none=[package])
            self.works(system.run(name))
            self.assertNotIn(package, system.lines("installed"))
            system = System(self, manager)
            self.works(system.run(name))
            self.assertIn(package, system.lines("installed"))

    def test_a_package_that_does_not_exist_fails(self):
        for system in self.systems():
            system.write("none", "meson")
            done = system.run()
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("no package meson", done.stderr)

    def test_lists_that_cannot_be_updated_are_no_failure(self):
        for system in self.systems():
            system.write("offline")
            done = self.works(system.run())
            self.assertIn("not all package lists could be updated; trying all the same", done.stderr)
            self.assertIn("meson", system.lines("installed"))

    def test_without_a_package_manager(self):
        system = System(self, "")
        done = self.works(system.run())
        self.assertIn("no apt, dnf or zypper here", done.stderr)
        self.assertIn("meson", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_wrong_usage(self):
        for system in self.systems():
            done = system.run("everything")
            self.assertEqual((done.returncode, done.stdout, system.lines("calls")), (2, "", []))
            self.assertIn("usage: ", done.stderr)
        listed = re.search(r"\[(.*)\]", done.stderr)[1].split("|")
        self.assertEqual(sorted(listed), sorted([name for name in LISTS if name] + list(DEBIAN_LISTS)))

    def test_without_root_and_sudo_the_packages_are_named(self):
        for system in self.systems():
            system.programs.joinpath("id").write_text("#!/bin/sh\necho 1000\n")
            done = system.run()
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "run this as root, or install these packages: .*meson")
            self.assertEqual(system.installing(), [])

    def test_sudo_runs_the_package_manager(self):
        for system in self.systems():
            system.programs.joinpath("id").write_text("#!/bin/sh\necho 1000\n")
            sudo = system.programs / "sudo"
            sudo.write_text('#!/bin/sh\necho "sudo $*" >>"$STATE/calls"\nexec "$@"\n')
            sudo.chmod(0o755)
            self.works(system.run())
            self.assertTrue(any(call.startswith("sudo ") for call in system.installing()))
            self.assertIn("meson", system.lines("installed"))


class RedHat(unittest.TestCase):
    def test_crb_is_enabled_for_the_commands_alone(self):
        for name in "crb", "codeready-builder-for-rhel-9-x86_64-rpms", "ol9_codeready_builder":
            system = System(self, "dnf", rhel="9", repositories=f"{name}-debug  no\n{name}  CRB\nepel  EPEL")
            self.assertEqual(system.run().returncode, 0)
            self.assertEqual(len(system.installing()), 1)
            self.assertIn(f" --enablerepo={name} --enablerepo=epel install ", system.installing()[0])
            self.assertFalse(any("config-manager" in call for call in system.lines("calls")))

    def test_epel_is_installed_where_it_is_missing(self):
        system = System(self, "dnf", rhel="9", repositories="baseos  BaseOS\ncrb  CRB")
        done = system.run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Installing by dnf: epel-release\n", done.stdout)
        self.assertEqual([re.search(r" install (?:--\S+ )*(\S+)", call)[1] for call in system.installing()], ["epel-release", "meson"])

    def test_epel_of_oracle(self):
        system = System(self, "dnf", rhel="9", repositories="ol9_codeready_builder  CRB", none=["epel-release"])
        self.assertIn("Installing by dnf: oracle-epel-release-el9\n", system.run().stdout)
        system = System(self, "dnf", rhel="9", repositories="ol9_developer_EPEL  EPEL", none=["epel-release"])
        self.assertNotIn("epel", system.run().stdout)

    def test_where_epel_cannot_be_had_by_name_the_command_is_printed(self):
        system = System(self, "dnf", rhel="9", repositories="codeready-builder-for-rhel-9-x86_64-rpms  CRB",
                        none=["epel-release", "oracle-epel-release-el9", "pkgconfig(nlohmann_json)"])
        done = system.run()
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "some packages are in EPEL, .*epel-release-latest-9.noarch.rpm")

    def test_fedora_has_neither(self):
        system = System(self, "dnf", repositories="fedora  Fedora")
        self.assertEqual(system.run().returncode, 0)
        self.assertEqual([call for call in system.lines("calls") if "repo" in call or "epel" in call], [])

    def test_rhel_8_is_refused_with_the_reason(self):
        system = System(self, "dnf", rhel="8")
        done = system.run()
        self.assertEqual((done.returncode, done.stdout, system.lines("calls")), (1, "", []))
        for reason in "C++20", "OpenSSL is older than 3.0", "meson than 0.61.2":
            self.assertIn(reason, done.stderr)


class Suse(unittest.TestCase):
    def test_the_compiler_of_release_15_is_named(self):
        system = System(self, "zypper", suse="1500")
        done = system.run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("set CC=gcc-13 and CXX=g++-13", done.stderr)
        self.assertIn("gcc13-c++", system.lines("installed"))
        self.assertNotIn("gcc-c++", system.lines("installed"))
        self.assertEqual(system.run(CXX="g++-13").stderr, "")

    def test_a_restart_that_is_asked_for_is_no_failure(self):
        for status in "102", "103":
            system = System(self, "zypper")
            system.write("status", status)
            self.assertEqual(system.run().returncode, 0)
        system.write("installed")
        system.write("status", "107")
        self.assertEqual(system.run().returncode, 107)


if __name__ == "__main__":
    SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
    os.umask(0o022)
    unittest.main()
