# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The SDK, installed in a temporary folder, and the samples, each built alone against it."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

SAMPLES = ["dma_local_copy", "dma_copy_host", "dma_copy_dpu", "dma_remote_copy_sender", "dma_remote_copy_receiver"]
# Built once more for the wrong side of the PCIe.
WRONG_ROLES = {"dma_local_copy": "host", "dma_copy_host": "dpu", "dma_copy_dpu": "host",
               "dma_remote_copy_sender": "dpu", "dma_remote_copy_receiver": "host"}


class BuildError(Exception):
    pass


def run(argv, env=None):
    done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(map(str, argv))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


class Sdk:
    def __init__(self, build, source, work, compiler, meson):
        self.work = pathlib.Path(work)
        self._meson = meson
        self._build = pathlib.Path(build)
        self._compiler = compiler
        # A copy, so that no sample finds anything else of the source tree.
        self._samples = self.work / "samples"
        shutil.copytree(pathlib.Path(source) / "samples", self._samples)

    def install(self):
        """Installs into a folder of its own. Not where it was configured for: the tree can be moved."""
        staging = self.work / "staging"
        run(self._meson + ["install", "-C", self._build, "--no-rebuild", "--destdir", staging])
        options = json.loads(run(self._meson + ["introspect", "--buildoptions", self._build]))
        self._options = {option["name"]: option["value"] for option in options}
        prefix = self.work / "sdk"
        shutil.move(staging / self._options["prefix"].lstrip("/"), prefix)
        self.pkg_config_path = prefix / self._options["libdir"] / "pkgconfig"

    def _sanitizer_arguments(self):
        sanitizer = self._options["b_sanitize"]
        if sanitizer == "none":
            return []
        arguments = [f"-Db_sanitize={sanitizer}"]
        # The libraries are C++: with clang, its part of the sanitizer's runtime has to come from the program.
        if "undefined" in sanitizer and "clang" in run(self._compiler + ["--version"]):
            arguments.append("-Dc_link_args=-fsanitize-link-c++-runtime")
        return arguments

    def _build_sample(self, name, role):
        folder = self.work / "build" / (name if role is None else f"{name}-{role}")
        env = dict(os.environ, PKG_CONFIG_PATH=str(self.pkg_config_path), CC=" ".join(self._compiler))
        for variable in ("DESTDIR", "CFLAGS", "LDFLAGS"):
            env.pop(variable, None)
        arguments = [] if role is None else [f"-Drole={role}"]
        run(self._meson + ["setup", folder, self._samples / "doca_dma" / name] + arguments
            + self._sanitizer_arguments(), env)
        run(["ninja", "-C", folder, "-j1"], env)

    def build_samples(self):
        """Two at a time, as a meson set-up uses one processor."""
        wanted = [(name, None) for name in SAMPLES] + list(WRONG_ROLES.items())
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in pool.map(lambda sample: self._build_sample(*sample), wanted):
                pass

    def program(self, name, role=None):
        return self.work / "build" / (name if role is None else f"{name}-{role}") / f"doca_{name}"


if __name__ == "__main__":
    sys.exit("this is a part of run.py")
