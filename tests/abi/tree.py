# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""An SDK as `meson install` leaves it, in a directory of the test's own."""
import json
import os
import pathlib
import shutil
import subprocess
import sys


class Tree:
    """The installed SDK: where its parts are, and how a program is built with it."""

    def __init__(self, prefix, libdir, includedir="include"):
        self.prefix = pathlib.Path(prefix)
        self.lib = self.prefix / libdir
        self.include = self.prefix / includedir
        self.pkgconfig = self.lib / "pkgconfig"

    def pkg_config(self, *arguments):
        """What pkg-config says, when it knows this tree and the modules of the machine."""
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.pkgconfig)}
        environment.pop("PKG_CONFIG_LIBDIR", None)
        done = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=False,
                              env=environment)
        if done.returncode != 0:
            raise RuntimeError(f"pkg-config {' '.join(arguments)}: {done.stderr}")
        return done.stdout.split()

    def below(self, root):
        """The SDK tree of another API generation in a folder of this one."""
        libdir, includedir = self.lib.relative_to(self.prefix), self.include.relative_to(self.prefix)
        return Tree(self.prefix / root, libdir, includedir)

    def moved_to(self, place):
        """A second tree with the same content, elsewhere; the first one is gone."""
        libdir, includedir = self.lib.relative_to(self.prefix), self.include.relative_to(self.prefix)
        shutil.move(self.prefix, place)
        return Tree(place, libdir, includedir)


def build_options(build_dir):
    """{option: value} of a build directory."""
    text = (pathlib.Path(build_dir) / "meson-info" / "intro-buildoptions.json").read_text(encoding="utf-8")
    return {option["name"]: option["value"] for option in json.loads(text)}


def libdir_of(build_dir):
    """The directory of libraries below the prefix, which the project chooses where no --libdir was given."""
    text = (pathlib.Path(build_dir) / "meson-info" / "intro-installed.json").read_text(encoding="utf-8")
    modules = [path for path in json.loads(text).values() if path.endswith("/pkgconfig/doca-common.pc")]
    libraries = pathlib.Path(min(modules, key=len)).parent.parent
    return str(libraries.relative_to(build_options(build_dir)["prefix"]))


def meson(*arguments):
    command = [shutil.which("meson") or sys.exit("meson is not in PATH"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")


def install(build_dir, destination):
    """Install what is built in build_dir under the directory destination."""
    options = build_options(build_dir)
    meson("install", "-C", build_dir, "--no-rebuild", "--quiet", "--destdir", destination)
    prefix = pathlib.Path(destination) / pathlib.Path(options["prefix"]).relative_to("/")
    return Tree(prefix, libdir_of(build_dir), options["includedir"])
