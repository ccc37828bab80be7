#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""compare_packages.py ARCH FOLDER [OTHER]: packages of another CPU are marked as such and hold programs for it, and have the same files
as those of amd64 in the folder OTHER, if these are there."""
import pathlib
import subprocess
import sys
import tempfile

TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
MACHINES = {"amd64": 62, "arm64": 183}  # EM_X86_64, EM_AARCH64


def files_of(package, folder):
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    return {str(path.relative_to(folder)): path for path in pathlib.Path(folder).rglob("*")}


def main():
    arch, folder, *others = sys.argv[1:]
    packages = sorted(pathlib.Path(folder).glob(f"*_{arch}.deb"))
    if not packages:
        raise SystemExit(f"no packages for {arch} in {folder}")
    programs = 0
    for package in packages:
        field = subprocess.run(["dpkg-deb", "--field", package, "Architecture"], check=True, capture_output=True, text=True).stdout.strip()
        if field != arch:
            raise SystemExit(f"{package.name}: its field Architecture is {field}")
        with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as other_place:
            files = files_of(package, place)
            for name, path in files.items():
                if path.is_symlink() or not path.is_file():
                    continue
                with path.open("rb") as file:
                    head = file.read(20)
                if head.startswith(b"\x7fELF"):
                    programs += 1
                    machine = int.from_bytes(head[18:20], "little")
                    if machine != MACHINES[arch]:
                        raise SystemExit(f"{package.name}: {name} is for ELF machine {machine}")
            other = pathlib.Path(*others or [folder], package.name.replace(f"_{arch}.deb", "_amd64.deb"))
            if not other.exists():
                other = other.parent / "opt" / other.name
            if other != package and other.exists():
                expected = {name.replace(TRIPLETS["amd64"], TRIPLETS[arch]) for name in files_of(other, other_place)}
                if set(files) != expected:
                    raise SystemExit(f"{package.name} and {other.name} differ in {sorted(expected ^ set(files))}")
                print(f"{package.name}: the files of {other.name}")
    if not programs:
        raise SystemExit(f"no ELF file in the packages for {arch}")
    print(f"{programs} programs and libraries for {arch}")


if __name__ == "__main__":
    main()
