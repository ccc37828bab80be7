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

FOLDERS = {
    "doca_common": ["graph", "sync_event_host", "sync_event_dpu"],
    "doca_dma": ["dma_local_copy", "dma_copy_host", "dma_copy_dpu", "dma_remote_copy_sender",
                 "dma_remote_copy_receiver"],
    "doca_rdma": ["rdma_read_requester", "rdma_read_responder", "rdma_write_requester", "rdma_write_responder",
                  "rdma_write_immediate_requester", "rdma_write_immediate_responder", "rdma_send", "rdma_receive",
                  "rdma_send_immediate", "rdma_receive_immediate"],
    "doca_sha": ["sha_create", "sha_partial_create"],
    "doca_compress": ["compress_deflate", "decompress_deflate"],
    "doca_erasure_coding": ["ec_create", "ec_recover"],
    "doca_comm_channel": ["cc_server", "cc_client"],
    "applications": ["dma_copy"],
    "older/doca_1_3": ["dma_local_copy_1_3", "dma_remote_copy_sender_1_3", "dma_remote_copy_receiver_1_3"],
    "older/doca_1_5": ["dma_copy_host_1_5", "dma_copy_dpu_1_5"],
}
SAMPLES = {name: folder for folder, names in FOLDERS.items() for name in names}
# Built once more for the wrong side of the PCIe.
WRONG_ROLES = {"dma_local_copy": "host", "dma_copy_host": "dpu", "dma_copy_dpu": "host",
               "dma_remote_copy_sender": "dpu", "dma_remote_copy_receiver": "host",
               "sync_event_host": "dpu", "sync_event_dpu": "host"}


class BuildError(Exception):
    pass


def run(argv, env=None):
    done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(map(str, argv))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


class BuiltSamples:
    """Samples of a build tree, to be run on two RDMA devices."""

    def __init__(self, folder, devices):
        self.devices = devices
        self._folder = pathlib.Path(folder)

    def program(self, name, role=None):
        if role is not None:
            raise BuildError(f"{name} is built for one side of the PCIe only")
        return self._folder / f"doca_{name}"


class Sdk:
    devices = None  # all, as the software shows them to each side

    def __init__(self, build, source, work, compiler, meson):
        self.work = pathlib.Path(work)
        self._meson = meson
        self._build = pathlib.Path(build)
        self._compiler = compiler
        # A copy, so that no sample finds anything else of the source tree.
        self._samples = self.work / "samples"
        shutil.copytree(pathlib.Path(source) / "samples", self._samples)

    def _introspect(self, what):
        return json.loads(run(self._meson + ["introspect", what, self._build]))

    def install(self):
        """Installs into a folder of its own. Not where it was configured for: the tree can be moved."""
        files = [name for target in self._introspect("--targets") if target["installed"] for name in target["filename"]]
        run(["ninja", "-C", self._build, *(os.path.relpath(name, self._build) for name in files)])
        staging = self.work / "staging"
        run(self._meson + ["install", "-C", self._build, "--no-rebuild", "--destdir", staging])
        options = {option["name"]: option["value"] for option in self._introspect("--buildoptions")}
        prefix = self.work / "sdk"
        shutil.move(staging / options["prefix"].lstrip("/"), prefix)
        trees = {"2.2": prefix, "3.0": prefix}
        other = "2.2" if options["prefix_generation"] == "3.0" else "3.0"
        trees[other] = prefix / "lib/opendoca" / other
        # The project chooses libdir where no option names it.
        modules = [pathlib.Path(path) for path in self._introspect("--installed").values()
                   if path.endswith("/pkgconfig/doca-common.pc")]
        pkgconfig = min((path.parent for path in modules), key=lambda path: len(path.parts)).relative_to(options["prefix"])
        self._pkg_config_path, self._pkg_config_path_v3 = (
            trees[generation] / pkgconfig for generation in ("2.2", "3.0"))
        sanitizers = options["b_sanitize"]  # newer meson: a list
        self._sanitizers = sanitizers if isinstance(sanitizers, str) else ",".join(sanitizers) or "none"

    def _sanitizer_link_flags(self):
        # The libraries are C++. With clang, its part of the undefined behaviour sanitizer comes from the program.
        if "undefined" in self._sanitizers and "clang" in run(self._compiler + ["--version"]):
            return "-fsanitize-link-c++-runtime -Wl,--push-state,--no-as-needed,-lstdc++,--pop-state"
        return ""

    def _build_folder(self, source, folder, pkg_config_path, *arguments):
        env = dict(os.environ, PKG_CONFIG_PATH=str(pkg_config_path), CC=" ".join(self._compiler),
                   CFLAGS="", LDFLAGS=self._sanitizer_link_flags())
        env.pop("DESTDIR", None)
        run(self._meson + ["setup", folder, source, "-Dwerror=true", f"-Db_sanitize={self._sanitizers}", *arguments],
            env)
        run(["ninja", "-C", folder, "-j1"], env)

    def _build_sample(self, name, role):
        self._build_folder(self._samples / SAMPLES[name] / name,
                           self.work / "build" / (name if role is None else f"{name}-{role}"), self._pkg_config_path,
                           *([] if role is None else [f"-Drole={role}"]))

    def _build_v3_sample(self, source):
        self._build_folder(source, self.work / "build" / "3.0" / source.name, self._pkg_config_path_v3)

    def build_samples(self):
        """Two at a time, as a meson set-up uses one processor. Those of DOCA 3.0 are run by tests of their own, and built
        alone where no sanitizer is."""
        wanted = [(name, None) for name in SAMPLES] + list(WRONG_ROLES.items())
        of_v3 = [path.parent for path in sorted((self._samples / "3.0").glob("*/*/meson.build"))]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in pool.map(lambda sample: self._build_sample(*sample), wanted):
                pass
            for _ in pool.map(self._build_v3_sample, of_v3 if self._sanitizers == "none" else []):
                pass

    def program(self, name, role=None):
        return self.work / "build" / (name if role is None else f"{name}-{role}") / f"doca_{name}"


if __name__ == "__main__":
    sys.exit("this is a part of run.py")
