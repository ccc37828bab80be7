#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What docs/architecture.md says of the layers of src/, held against the files."""
import os
import re
import sys
import unittest

SOURCE = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.join(SOURCE, "src")
# Equal in all generations of the API.
NEUTRAL_HEADERS = {"doca_error.h", "doca_types.h"}
# Sources of C functions outside of v2/ and v3/.
FRONT_ENDS = ("argp/param_api.cpp",)
PROVIDERS = ("core/device/soft/", "core/device/verbs/", "core/device/mlx5/", "core/device/skeleton/")
API_TYPES = re.compile(r"\bdoca_(job|event|workq|ctx|task|pe)\b|\bJobQueue\b")
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.S | re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def sources():
    for folder, _, names in os.walk(ROOT):
        for name in sorted(names):
            if name.endswith((".cpp", ".hpp")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, ROOT), file.read()


def generation(path):
    """The API generation whose front end a file belongs to."""
    found = re.search(r"/(v\d)/", path)
    return found.group(1) if found else None


def is_front_end(path):
    return generation(path) is not None or path.startswith(FRONT_ENDS)


class Layers(unittest.TestCase):
    def each(self, check):
        found = [f"{path}: {text}" for path, content in sources() for text in check(path, content)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_only_front_ends_include_public_headers(self):
        def check(path, content):
            for kind, name in INCLUDE.findall(content):
                if name.startswith("doca_") and name not in NEUTRAL_HEADERS and not is_front_end(path):
                    yield f"includes {kind}{name}"
        self.each(check)

    def test_only_front_ends_know_types_of_an_api(self):
        def check(path, content):
            if not is_front_end(path):
                for match in API_TYPES.finditer(COMMENT.sub("", content)):
                    yield f"names {match.group(0)}"
        self.each(check)

    def test_nothing_includes_upwards(self):
        def check(path, content):
            for kind, name in INCLUDE.findall(content):
                if kind != '"' or name == "release_number.hpp":  # made by the build
                    continue
                target = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if not os.path.exists(os.path.join(ROOT, target)):
                    yield f"includes {name}, which is not there"
                elif is_front_end(target) and not is_front_end(path):
                    yield f"includes {target}, a front end"
                elif path.startswith("core/engine/") and target.startswith("core/device/"):
                    yield f"includes {target}, which is below the engine"
                elif path.startswith("core/") and not target.startswith("core/"):
                    yield f"includes {target}, of a library"
        self.each(check)

    def test_generations_do_not_know_each_other(self):
        def check(path, content):
            for kind, name in INCLUDE.findall(content):
                target = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if kind == '"' and generation(path) and generation(target) not in (None, generation(path)):
                    yield f"includes {target}, of another generation"
        self.each(check)

    def test_providers_do_not_know_each_other(self):
        def check(path, content):
            for kind, name in INCLUDE.findall(content):
                target = os.path.normpath(os.path.join(os.path.dirname(path), name))
                # mlx5 devices are verbs devices that can do more.
                for own, other in (("soft", "verbs"), ("verbs", "soft"), ("soft", "mlx5"), ("mlx5", "soft"),
                                   ("verbs", "mlx5"), ("skeleton", "soft"), ("skeleton", "verbs"), ("skeleton", "mlx5")):
                    if path.startswith(f"core/device/{own}/") and target.startswith(f"core/device/{other}/"):
                        yield f"includes {target}"
        self.each(check)

    def test_only_lists_of_them_know_providers(self):
        known = ("core/device/small_copies.hpp", "core/device/providers.cpp")

        def check(path, content):
            for kind, name in INCLUDE.findall(content):
                target = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if (kind == '"' and target.startswith(PROVIDERS) and not path.startswith(PROVIDERS)
                        and path not in known):
                    yield f"includes {target}, of a provider"
        self.each(check)

    def test_the_check_sees_the_files(self):
        self.assertGreater(sum(1 for _ in sources()), 150)
        self.assertEqual({generation(path) for path, _ in sources()}, {None, "v2", "v3"})


if __name__ == "__main__":
    unittest.main()
