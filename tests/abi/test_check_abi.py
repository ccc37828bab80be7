#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""check_abi.py must be able to fail: each fact is changed in turn, and exactly that change must be reported.

    test_check_abi.py BUILD_DIR
"""
import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_abi
import facts as facts_of
import libraries
import tree

FACTS = facts_of.load()
NOT_BUILT = json.loads((check_abi.HERE / "not-built.json").read_text(encoding="utf-8"))


def find(items, name):
    return next(item for item in items if item["name"] == name)


def job(header):
    return find(header["structs"], "doca_dma_job_memcpy")


def field(header, name):
    return find(job(header)["fields"], name)


def macro(header, name):
    return find(header["macros"], name)


def function(header, name="doca_dma_get_max_buf_size"):
    return find(header["functions"], name)


# What is changed in the facts of a header: header, change, the kind and the words of the only complaint.
HEADER_CHANGES = [
    ("doca_dma.h", lambda h: h["enums"][0]["values"][0].update(value=65538), "enums", "is 65538"),
    ("doca_dma.h", lambda h: h["enums"][0].update(underlying="int"), "enums", "is an int"),
    ("doca_dma.h", lambda h: h["enums"][0]["values"].clear(), "extra", "DOCA_DMA_JOB_MEMCPY"),
    ("doca_dma.h", lambda h: job(h).update(size=48), "structs", "has 48 bytes"),
    ("doca_dma.h", lambda h: job(h).update(align=16), "structs", "aligned to 16"),
    ("doca_dma.h", lambda h: field(h, "dst_buff").update(offset=32), "structs", "dst_buff at 32"),
    ("doca_dma.h", lambda h: field(h, "dst_buff").update(size=4), "structs", "dst_buff"),
    ("doca_dma.h", lambda h: field(h, "src_buff").update(type="struct doca_buf *"), "structs", "src_buff"),
    ("doca_dma.h", lambda h: field(h, "src_buff").update(name="source"), "structs", "source"),
    ("doca_dma.h", lambda h: function(h)["params"][1].update(type="uint32_t *"), "functions", "uint32_t *"),
    ("doca_dma.h", lambda h: function(h)["params"].pop(), "functions", "doca_dma_get_max_buf_size"),
    ("doca_dma.h", lambda h: function(h).update(ret="void"), "functions", "void doca_dma_get_max_buf_size"),
    ("doca_dma.h", lambda h: function(h).update(variadic=True), "functions", "..."),
    ("doca_dma.h", lambda h: function(h).update(stability="unmarked"), "marks", "is unmarked"),
    ("doca_dma.h", lambda h: h["functions"].remove(function(h)), "extra", "doca_dma_get_max_buf_size"),
    ("doca_dma.h", lambda h: h["opaque"].append("doca_job"), "opaque", "doca_job"),
    ("doca_dma.h", lambda h: h["opaque"].append("doca_dma_queue"), "opaque", "doca_dma_queue"),
    ("doca_dma.h", lambda h: h["macros"].append({"name": "DOCA_DMA_X"}), "macros", "DOCA_DMA_X"),
    ("doca_types.h", lambda h: h["typedefs"][0].update(type="unsigned int"), "typedefs", "unsigned int"),
    ("doca_types.h", lambda h: macro(h, "DOCA_GID_BYTE_LENGTH").update(value="17"), "macros", "17"),
    ("doca_types.h", lambda h: h["macros"].remove(macro(h, "DOCA_GID_BYTE_LENGTH")), "extra", "GID_BYTE"),
    ("doca_version.h", lambda h: macro(h, "DOCA_VER_STRING").update(value='"2.2.0081"'), "macros", "0081"),
    ("doca_version.h", lambda h: macro(h, "DOCA_VERSION_NUM")["params"].pop(), "macros", "VERSION_NUM"),
    ("doca_version.h", lambda h: function(h, "doca_version").update(stability="experimental"), "marks",
     "doca_version is experimental"),
]

# The same for a library: its own facts and those of its header.
LIBRARY_CHANGES = [
    (lambda lib, h: lib["version_nodes"].remove("INTERNAL"), "sonames", "INTERNAL"),
    (lambda lib, h: lib["version_nodes"].append("DOCA_3"), "sonames", "DOCA_3"),
    (lambda lib, h: function(h).update(symbol_version="DOCA_2"), "symbols", "get_max_buf_size@@DOCA_2"),
    (lambda lib, h: function(h).update(name="doca_dma_gone"), "symbols", "doca_dma_gone"),
    (lambda lib, h: h["functions"].remove(function(h)), "extra", "doca_dma_get_max_buf_size"),
    (lambda lib, h: lib.update(soname="libdoca_dma.so.3"), "libraries", "libdoca_dma"),
]


def complaints(results):
    return sorted({(kind, label) for kind, label, holds in results if not holds})


class CheckerCanFail(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.tree = tree.install(BUILD_DIR, cls.place.name)
        cls.compilers = check_abi.default_compilers(str(cls.tree.include))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def assert_one(self, found, kind, words):
        self.assertTrue(found, "nothing was reported")
        self.assertEqual({kind}, {item[0] for item in found}, found)
        self.assertTrue(any(words in label for _, label in found), found)

    def test_a_changed_fact_of_a_header_is_reported(self):
        for name, change, kind, words in HEADER_CHANGES:
            with self.subTest(header=name, kind=kind, words=words):
                facts = {"headers": {name: copy.deepcopy(FACTS["headers"][name])}}
                change(facts["headers"][name])
                found = complaints(check_abi.check_header(facts, name, self.compilers))
                self.assert_one(found, kind, words)

    def test_a_changed_fact_of_a_library_is_reported(self):
        for change, kind, words in LIBRARY_CHANGES:
            with self.subTest(kind=kind, words=words):
                facts = copy.deepcopy(FACTS)
                change(facts["libraries"]["libdoca_dma"], facts["headers"]["doca_dma.h"])
                found = complaints(libraries.check_library(facts, "libdoca_dma", self.tree.lib))
                if words == "doca_dma_gone":  # under its new name it is missing, under its real one unknown
                    self.assertIn("doca_dma_get_max_buf_size", found.pop(0)[1])
                self.assert_one(found, kind, words)

    def test_a_header_that_does_not_compile_is_reported(self):
        for text in ("#include <doca_dma.h>\nvoid f(void) { int unused; }\n", "uint32_t not_declared;\n"):
            with self.subTest(text=text), tempfile.TemporaryDirectory() as place:
                include = pathlib.Path(shutil.copytree(self.tree.include, f"{place}/include"))
                (include / "doca_config.h").write_text(text, encoding="utf-8")
                compilers = check_abi.default_compilers(str(include))
                found = complaints(check_abi.check_header(FACTS, "doca_config.h", compilers))
                self.assertIn("headers", {kind for kind, _ in found})

    def test_a_missing_header_is_reported(self):
        facts = {"headers": {"doca_gone.h": FACTS["headers"]["doca_dma.h"]}}
        found = complaints(check_abi.check_header(facts, "doca_gone.h", self.compilers))
        self.assertEqual([("headers", "doca_gone.h is installed")], found)

    def test_a_library_linked_the_wrong_way_is_reported(self):
        with tempfile.TemporaryDirectory() as place:
            subprocess.run([*self.compilers.commands["c"], "-shared", "-x", "c", "-", "-Wl,-z,lazy,-rpath,/x",
                            "-Wl,-soname,libother.so", "-o", f"{place}/libdoca_dma.so.2"],
                           input="int doca_dma_create(void) { return 0; }", text=True, check=True)
            found = {label for _, label in complaints(libraries.check_library(FACTS, "libdoca_dma", place))}
        for words in ("has the soname libdoca_dma.so.2, not 'libother.so'", "binds all symbols at start",
                      "no search path of its own ['/x']", "defines the version node EXPERIMENTAL",
                      "has the link libdoca_dma.so.2", "is the file libdoca_dma.so.2.2.0080",
                      "exports doca_dma_create@@EXPERIMENTAL"):
            self.assertTrue(any(words in label for label in found), f"{words}: {found}")

    def test_an_exception_that_holds_is_reported(self):
        for label, says in (("libdoca_dma is installed", "holds, but is listed"),
                            ("libdoca_gone is installed", "nothing is known by that name")):
            with self.subTest(label=label):
                tally = check_abi.Tally({**NOT_BUILT, label: "a reason"})
                check_abi.check_libraries(FACTS, self.tree.lib, tally)
                tally.close()
                self.assertEqual(1, len(tally.problems), tally.problems)
                self.assertIn(label, tally.problems[0])
                self.assertIn(says, tally.problems[0])

    def test_what_is_missing_without_an_exception_is_reported(self):
        tally = check_abi.Tally({})
        check_abi.check_libraries(FACTS, self.tree.lib, tally)
        self.assertEqual({f"libraries: {label}" for label in NOT_BUILT}, set(tally.problems))

    def test_the_command_fails_for_one_changed_fact(self):
        facts = copy.deepcopy(FACTS)
        find(facts["headers"]["doca_error.h"]["enums"][0]["values"], "DOCA_ERROR_AGAIN")["value"] = 50
        path = pathlib.Path(self.place.name) / "facts.json"
        path.write_text(json.dumps(facts), encoding="utf-8")
        command = [sys.executable, check_abi.__file__, "--include", str(self.tree.include), "--libdir",
                   str(self.tree.lib)]
        wrong = subprocess.run([*command, "--facts", path], capture_output=True, text=True, check=False)
        self.assertEqual(1, wrong.returncode)
        self.assertIn("doca_error.h DOCA_ERROR_AGAIN is 50", wrong.stdout)


if __name__ == "__main__":
    BUILD_DIR = sys.argv.pop(1)
    unittest.main()
