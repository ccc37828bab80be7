# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Libraries of another release: those of an installed SDK, or those of this build under another number."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess

GENERATIONS = {"2.2": "2.2.0080", "3.0": "3.0.0058"}
OTHER_NUMBER = "0.0.1"
RELEASE_NODE = r"OPENDOCA_[\d.]+"


def is_of(generation, library):
    return library.endswith(f".so.{GENERATIONS[generation]}")


def lay_out(libraries, place):
    """A folder of libraries, by the names that the loader looks for."""
    place.mkdir(parents=True)
    for library in libraries:
        library = pathlib.Path(library)
        shutil.copy(library, place / re.sub(r"\.so\.[\d.]+$", ".so.2", library.name))
    return place


def of_build(build, root):
    """{generation: folder} of this build."""
    return {generation: lay_out([build / name for name in linked(build) if is_of(generation, name)], root / generation)
            for generation in GENERATIONS}


def of_sdk(prefix, root):
    """{generation: folder} of an SDK that is installed."""
    found = [path for path in pathlib.Path(prefix).rglob("libdoca_*.so.*") if not path.is_symlink()]
    return {generation: lay_out([path for path in found if is_of(generation, path.name)], root / generation)
            for generation in GENERATIONS}


def linked(build):
    """The libraries as ninja names them, those that others need first."""
    text = (build / "meson-info" / "intro-targets.json").read_text(encoding="utf-8")
    names = [str(pathlib.Path(target["filename"][0]).relative_to(build)) for target in json.loads(text)
             if target["type"] == "shared library"]
    return sorted((name for name in names if "libdoca_" in name), key=lambda name: "libdoca_common" not in name)


def relinked(build, root):
    """{generation: folder} of this build with OTHER_NUMBER: the version nodes are named by the linker alone."""
    ninja = shutil.which("ninja") or shutil.which("ninja-build")
    names = set(linked(build))
    for name in linked(build):
        listed = subprocess.run([ninja, "-C", build, "-t", "commands", name], capture_output=True, text=True, check=True)
        command = []
        for word in shlex.split(listed.stdout.splitlines()[-1]):
            script = word.removeprefix("-Wl,--version-script=")
            if word in names:
                word = str(root / "linked" / word)
                pathlib.Path(word).parent.mkdir(parents=True, exist_ok=True)
            elif script != word:
                script = pathlib.Path(script)
                other = root / f"{name.replace('/', '_')}.map"
                other.write_text(re.sub(RELEASE_NODE, f"OPENDOCA_{OTHER_NUMBER}", script.read_text(encoding="utf-8")),
                                 encoding="utf-8")
                word = f"-Wl,--version-script={other}"
            command.append(word)
        subprocess.run(command, cwd=build, check=True)
    return {generation: lay_out([root / "linked" / name for name in names if is_of(generation, name)], root / generation)
            for generation in GENERATIONS}
