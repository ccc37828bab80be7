#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Writes the software bill of materials (SBOM) of this checkout, as SPDX 2.3 in JSON.

  sbom.py [--output FILE] [--build-versions] [ARTIFACT...]

It lists each tracked file with its checksums, the packages that a build needs, and the ARTIFACTs, such as packages, that were
made of the sources. The same commit and artifacts give the same bytes. With --build-versions the packages have the versions that
pkg-config finds on this machine, else none.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
HOME = "https://github.com/opendoca/opendoca"
RDMA_CORE = ("https://github.com/linux-rdma/rdma-core", "GPL-2.0-only OR Linux-OpenIB")
# The modules of pkg-config that meson.build asks for: relation to opendoca, home page, license.
DEPENDENCIES = {
    "json-c": ("DYNAMIC_LINK", "https://github.com/json-c/json-c", "MIT"),
    "libcrypto": ("DYNAMIC_LINK", "https://openssl.org", "Apache-2.0"),
    "libssl": ("DYNAMIC_LINK", "https://openssl.org", "Apache-2.0"),
    "libibverbs": ("DYNAMIC_LINK", *RDMA_CORE),
    # Loaded when the first device or connection needs them.
    "libmlx5": ("OPTIONAL_DEPENDENCY_OF", *RDMA_CORE),
    "librdmacm": ("OPTIONAL_DEPENDENCY_OF", *RDMA_CORE),
    # Headers alone: they are compiled into the libraries.
    "nlohmann_json": ("STATIC_LINK", "https://github.com/nlohmann/json", "MIT"),
    # libdoca_compress and libdoca_erasure_coding support nothing without them.
    "libdeflate": ("OPTIONAL_DEPENDENCY_OF", "https://github.com/ebiggers/libdeflate", "MIT"),
    "liblz4": ("OPTIONAL_DEPENDENCY_OF", "https://github.com/lz4/lz4", "BSD-2-Clause"),
    "libxxhash": ("OPTIONAL_DEPENDENCY_OF", "https://github.com/Cyan4973/xxHash", "BSD-2-Clause"),
    "libisal": ("OPTIONAL_DEPENDENCY_OF", "https://github.com/intel/isa-l", "BSD-3-Clause"),
    # doca_bench measures it, where it is there.
    "tbb": ("OPTIONAL_DEPENDENCY_OF", "https://github.com/uxlfoundation/oneTBB", "Apache-2.0"),
    # The tests compress by it.
    "zlib": ("TEST_DEPENDENCY_OF", "https://zlib.net", "Zlib"),
    "libbsd": ("DEV_DEPENDENCY_OF", "https://libbsd.freedesktop.org", "BSD-3-Clause"),
    "gtest": ("TEST_DEPENDENCY_OF", "https://github.com/google/googletest", "BSD-3-Clause"),
}


def output_of(*command):
    done = subprocess.run(command, cwd=TOP, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"sbom.py: {' '.join(command)}: {done.stderr.decode().strip()}")
    return done.stdout.decode()


def checksums(data):
    return [{"algorithm": name, "checksumValue": hashlib.new(name.lower(), data).hexdigest()} for name in ("SHA1", "SHA256")]


def license_of(data):
    """That of the line near the beginning of a file, or NONE."""
    found = re.search(rb"SPDX-License-Identifier: ([A-Za-z0-9.-]+)", data[:500])
    return found[1].decode() if found else "NONE"


def identifier(kind, name):
    """SPDX permits letters, digits, dots and hyphens; the checksum keeps names apart that differ in other characters."""
    return f"SPDXRef-{kind}-{re.sub('[^A-Za-z0-9.-]', '-', name)}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def relationship(element, kind, related):
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": related}


def module_version(module):
    done = subprocess.run(["pkg-config", "--modversion", module], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "NOASSERTION"


def package(spdx_id, name, version, home, license_expression, **more):
    return {"SPDXID": spdx_id, "name": name, "versionInfo": version, "downloadLocation": home, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": license_expression, "copyrightText": "NOASSERTION", **more}


def document(artifacts, with_versions):
    version = re.search(r"^  version: '(.*)'", (TOP / "meson.build").read_text(encoding="utf-8"), re.M)[1]
    commit = output_of("git", "rev-parse", "HEAD").strip()
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or output_of("git", "log", "-1", "--format=%ct"))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    project = "SPDXRef-Package-opendoca"
    # Changed files are not those of the commit.
    is_clean = not output_of("git", "status", "--porcelain", "--untracked-files=no")
    origin = f"git+{HOME}@{commit}" if is_clean else "NOASSERTION"
    files, relationships = [], [relationship("SPDXRef-DOCUMENT", "DESCRIBES", project)]
    for name in filter(None, output_of("git", "ls-files", "-z").split("\0")):
        path = TOP / name
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        files.append({"SPDXID": identifier("File", name), "fileName": f"./{name}", "checksums": checksums(data),
                      "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": [license_of(data)], "copyrightText": "NOASSERTION"})
        relationships.append(relationship(project, "CONTAINS", files[-1]["SPDXID"]))
    sums = sorted(file["checksums"][0]["checksumValue"] for file in files)
    packages = [package(project, "opendoca", version, origin, "BSD-3-Clause", homepage=HOME, filesAnalyzed=True,
                        packageVerificationCode={"packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()})]
    for module, (kind, home, license_expression) in DEPENDENCIES.items():
        spdx_id = identifier("Package", module)
        packages.append(package(spdx_id, module, module_version(module) if with_versions else "NOASSERTION", home,
                                license_expression, filesAnalyzed=False))
        # "A DYNAMIC_LINK B" is that A is linked with B, "A OPTIONAL_DEPENDENCY_OF B" that B depends on A.
        ends = (spdx_id, kind, project) if kind.endswith("_OF") else (project, kind, spdx_id)
        relationships.append(relationship(*ends))
    for artifact in sorted(artifacts, key=lambda path: path.name):
        spdx_id = identifier("Artifact", artifact.name)
        packages.append(package(spdx_id, artifact.name, version, "NOASSERTION", "BSD-3-Clause", filesAnalyzed=False,
                                packageFileName=artifact.name, checksums=checksums(artifact.read_bytes())))
        relationships += [relationship(spdx_id, "GENERATED_FROM", project), relationship("SPDXRef-DOCUMENT", "DESCRIBES", spdx_id)]
    # The same document has the same name: it depends on what is in it alone.
    content = hashlib.sha256(json.dumps([packages, sums], sort_keys=True).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"opendoca-{version}",
            "documentNamespace": f"{HOME}/spdx/opendoca-{version}-{content}",
            "creationInfo": {"created": created, "creators": ["Organization: opendoca", f"Tool: opendoca-sbom.py-{version}"]},
            "packages": packages, "files": files, "relationships": relationships}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", metavar="FILE", type=pathlib.Path, help="default: the standard output")
    parser.add_argument("--build-versions", action="store_true", help="look up the versions of packages by pkg-config")
    parser.add_argument("artifacts", metavar="ARTIFACT", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    for artifact in options.artifacts:
        if not artifact.is_file():
            parser.error(f"{artifact} is no file")
    text = json.dumps(document(options.artifacts, options.build_versions), indent=1) + "\n"
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
