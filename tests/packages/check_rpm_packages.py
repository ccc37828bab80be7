#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""check_rpm_packages.py FOLDER SPEC: the packages of rpm in a folder are those of the spec, each file is in one of them, and libraries
are in the folder that the system has for them (lib64)."""
import collections
import pathlib
import re
import stat
import subprocess
import sys


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def files_of(package):
    """The paths of a package that are no folders."""
    lines = run("rpm", "--query", "--package", "--queryformat", "[%{FILEMODES} %{FILENAMES}\n]", package).splitlines()
    pairs = (line.split(" ", 1) for line in lines)
    return [path for mode, path in pairs if not stat.S_ISDIR(int(mode))]


def main():
    folder, spec = sys.argv[1:]
    # A package without a list of files is not made, as that of the spec's own name.
    text = pathlib.Path(spec).read_text(encoding="utf-8")
    expected = {name if flag else f"opendoca-{name}" for flag, name in re.findall(r"(?m)^%files (-n )?(\S+)$", text)}
    packages = {run("rpm", "--query", "--package", "--queryformat", "%{NAME}", path): path
                for path in sorted(pathlib.Path(folder).glob("*.rpm")) if not path.name.endswith(".src.rpm")}
    packages = {name: path for name, path in packages.items() if not re.search("-debug(info|source)$", name)}
    if set(packages) != expected:
        raise SystemExit(f"{folder} has other packages than the spec: {sorted(set(packages) ^ expected)}")
    owners = collections.defaultdict(list)
    for name, path in packages.items():
        for file in files_of(path):
            owners[file].append(name)
    for file, names in sorted(owners.items()):
        if len(names) > 1 and not file.startswith("/usr/lib/.build-id/"):
            raise SystemExit(f"{file} is in {' and '.join(names)}")
    libraries = [file for file in owners if re.search(r"/lib\w+\.so[.\d]*$", file)]
    place = run("rpm", "--eval", "%{_libdir}").strip()
    lost = [file for file in libraries if not file.startswith((f"{place}/opendoca/", f"/opt/mellanox/doca/{pathlib.Path(place).name}/"))]
    if lost or not libraries:
        raise SystemExit(f"libraries that are not below {place}/opendoca: {', '.join(sorted(lost)) or 'there is none at all'}")
    print(f"{len(packages)} packages with {len(owners)} files, {len(libraries)} names of libraries below {place} and /opt/mellanox/doca")


if __name__ == "__main__":
    main()
