#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The workflows and the action of .github: their structure, the scripts that they call, and the action's steps.

test_workflows.py SOURCE_ROOT

Skipped without PyYAML. Nothing is fetched: whether an action of others does what it should, only GitHub shows.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import commands

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML; scripts/install_dependencies.sh tests installs it")
    sys.exit(77)

TOP = pathlib.Path()
ACTION = ".github/actions/setup-doca/action.yml"
RUNNERS = {"ubuntu-22.04", "ubuntu-24.04", "ubuntu-24.04-arm"}
CONTAINERS = {"debian:12", "debian:13", "rockylinux/rockylinux:9"}
# One version of each action of others, with the commit of its tag.
ACTIONS = {
    "actions/attest-build-provenance": ("a2bbfa25375fe432b6a289bc6b6cd05ecd0c4c32", "v4.1.0"),
    "actions/cache": ("27d5ce7f107fe9357f9df03efb73ab90386fccae", "v5.0.5"),
    "actions/checkout": ("3d3c42e5aac5ba805825da76410c181273ba90b1", "v7.0.1"),
    "actions/download-artifact": ("3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c", "v8.0.1"),
    "actions/upload-artifact": ("bbbca2ddaa5d8feaa63e36b76fdaad77386f024f", "v7.0.0"),
    "github/codeql-action": ("8aad20d150bbac5944a9f9d289da16a4b0d87c1e", "v4.36.2"),
    "ossf/scorecard-action": ("2d1146689b8cda280b9bc96326124645441f03bc", "v2.4.4"),
}
# Jobs that may write, and what. All others read the contents.
WRITES = {
    ("codeql.yml", "codeql"): {"security-events"},
    ("scorecard.yml", "scorecard"): {"id-token", "security-events"},
    ("release.yml", "release"): {"attestations", "contents", "id-token"},
}
MATRIX = {
    "runner": RUNNERS,
    "image": CONTAINERS,
    "name": {"debian-12", "debian-13", "rocky-9"},
    "git": None,
    "generation": {"2.2", "3.0"},
    "system": {"ubuntu-22.04", "ubuntu-24.04", "debian-12", "debian-13", "rocky-9"},
    "configuration": {"asan", "tsan", "clang", "gxx11"},
    "language": {"c-cpp", "python", "actions"},
    "architecture": {"amd64", "arm64"},
}
JOB_KEYS = {"name", "runs-on", "timeout-minutes", "strategy", "steps", "container", "env", "permissions", "needs"}
STEP_KEYS = {"name", "uses", "run", "with", "if", "env", "id", "shell"}
CONTEXTS = {"matrix", "github", "inputs", "steps"}


class Loader(yaml.SafeLoader):
    """YAML that refuses a key that is there twice, and for which `on` is a word."""


def mapping(loader, node):
    keys = [loader.construct_object(key) for key, _ in node.value]
    if len(keys) != len(set(keys)):
        raise yaml.YAMLError(f"a key twice: {keys}{node.start_mark}")
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)


Loader.add_constructor("tag:yaml.org,2002:map", mapping)
Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"] + (
        [("tag:yaml.org,2002:bool", re.compile("^(true|false)$"))] if first in "tf" else [])
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def load(text):
    return yaml.load(text, Loader=Loader)  # a subclass of SafeLoader


def matrix_rows(job):
    """Each combination of a job's matrix."""
    matrix = dict(job.get("strategy", {}).get("matrix", {}))
    rows = matrix.pop("include", [])
    combinations = [{}]
    for key, values in matrix.items():
        combinations = [row | {key: value} for row in combinations for value in values]
    return rows + (combinations if matrix or not rows else [])


def filled(text, row):
    return re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda name: str(row.get(name[1], name[0])), text)


def check_uses(value, text):
    """What is wrong with a `uses:`."""
    if value.startswith("./"):
        return None if (TOP / value / "action.yml").is_file() else f"no action {value}"
    name, _, commit = value.partition("@")
    known = ACTIONS.get("/".join(name.split("/")[:2]))
    if known is None:
        return f"{name} is no known action"
    if commit != known[0]:
        return f"{value} is not pinned to {known[0]}"
    if not re.search(rf"uses: {re.escape(value)} # {re.escape(known[1])}$", text, re.M):
        return f"{value} has no comment with its version {known[1]}"
    return None


def check_step(step, text, row):
    """What is wrong with a step, for one row of the matrix."""
    unknown = set(step) - STEP_KEYS
    if unknown:
        yield f"unknown keys of a step: {sorted(unknown)}"
    if ("uses" in step) == ("run" in step):
        yield f"a step has either uses or run: {step}"
    if "uses" in step:
        complaint = check_uses(step["uses"], text)
        if complaint:
            yield complaint
        if step["uses"].startswith("actions/checkout@") and step.get("with", {}).get("persist-credentials") is not False:
            yield "checkout keeps the token: persist-credentials: false"
        return
    run = filled(step.get("run", ""), row)
    # Text of others in a script would be run: it goes into the environment.
    if "${{" in run:
        yield f"an expression in a script: {run}"
        return
    # A value of the matrix by way of the environment.
    for name, value in step.get("env", {}).items():
        if isinstance(value, str) and "${{" not in filled(value, row):
            run = re.sub(rf"\$(\{{{name}\}}|{name}\b)", filled(value, row), run)
    yield from commands.mistakes(run, TOP)


def check_workflow(name, text):
    """What is wrong with a workflow."""
    try:
        workflow = load(text)
    except yaml.YAMLError as error:
        yield f"no YAML: {error}"
        return
    unknown = set(workflow) - {"name", "on", "permissions", "concurrency", "jobs"}
    if unknown:
        yield f"unknown keys: {sorted(unknown)}"
    if workflow.get("permissions") != {"contents": "read"}:
        yield "permissions of the workflow must be contents: read"
    if not workflow.get("on") or "pull_request_target" in workflow["on"]:
        yield "on: must be set, and not be pull_request_target"
    for key, job in workflow["jobs"].items():
        def of_job(what, key=key):
            return f"{key}: {what}"
        unknown = set(job) - JOB_KEYS
        if unknown:
            yield of_job(f"unknown keys of a job: {sorted(unknown)}")
        if not isinstance(job.get("timeout-minutes"), int):
            yield of_job("no timeout-minutes")
        permissions = job.get("permissions", {"contents": "read"})
        writes = {what for what, right in permissions.items() if right == "write"}
        if writes != WRITES.get((name, key), set()) or not set(permissions.values()) <= {"read", "write"}:
            yield of_job(f"permissions {permissions}")
        needed = job.get("needs", [])
        for other in [needed] if isinstance(needed, str) else needed:
            if other not in workflow["jobs"]:
                yield of_job(f"needs {other}, which is no job")
        for row in matrix_rows(job):
            for entry, value in row.items():
                if entry not in MATRIX or MATRIX[entry] is not None and value not in MATRIX[entry]:
                    yield of_job(f"unknown entry of the matrix: {entry}: {value}")
            if filled(str(job.get("runs-on")), row) not in RUNNERS:
                yield of_job(f"unknown runner {job.get('runs-on')}")
            if "container" in job and filled(job["container"]["image"], row) not in CONTAINERS:
                yield of_job(f"unknown container {job['container']['image']}")
            used = re.findall(r"matrix\.(\w+)", str(job))
            for entry in used:
                if entry not in row:
                    yield of_job(f"matrix.{entry} is not in the matrix")
            for step in job["steps"]:
                step = dict(step)
                if "run" in step:
                    step["env"] = job.get("env", {}) | step.get("env", {})
                yield from (of_job(what) for what in check_step(step, text, row))
    contexts = set(re.findall(r"\$\{\{ (\w+)\.", text))
    if contexts - CONTEXTS:
        yield f"unknown contexts: {sorted(contexts - CONTEXTS)}"


def workflows():
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((TOP / ".github/workflows").iterdir())}


class Workflows(unittest.TestCase):
    def test_there_is_one_for_each_purpose(self):
        self.assertEqual(sorted(workflows()), ["ci.yml", "codeql.yml", "nightly.yml", "release.yml", "sanitizers.yml", "scorecard.yml"])

    def test_they_have_no_mistakes(self):
        for name, text in workflows().items():
            with self.subTest(workflow=name):
                self.assertEqual(list(check_workflow(name, text)), [])

    def test_names_of_jobs_are_unique(self):
        names = []
        for text in workflows().values():
            for job in load(text)["jobs"].values():
                names += [filled(job["name"], row) for row in matrix_rows(job)]
        self.assertEqual(sorted(names), sorted(set(names)))
        self.assertFalse([name for name in names if "${{" in name])

    def test_names_of_artifacts_are_unique(self):
        for text in workflows().values():
            names = [filled(step["with"]["name"], row) for job in load(text)["jobs"].values() for row in matrix_rows(job)
                     for step in job["steps"] if step.get("uses", "").startswith("actions/upload-artifact@")]
            self.assertEqual(sorted(names), sorted(set(names)))

    def test_the_quick_tier_runs_on_each_supported_system(self):
        systems = set()
        for job in load(workflows()["ci.yml"])["jobs"].values():
            if any("run_all_tests.sh quick" in step.get("run", "") for step in job["steps"]):
                systems |= {filled(job["container"]["image"] if "container" in job else job["runs-on"], row) for row in matrix_rows(job)}
        self.assertEqual(systems, RUNNERS | CONTAINERS)

    def test_the_page_of_support_names_each_system(self):
        text = (TOP / "docs/support.md").read_text(encoding="utf-8")
        rows = [line for line in text.splitlines() if "workflow ci" in line]
        for name in "Debian 13", "Ubuntu 22.04", "Ubuntu 24.04", "Rocky Linux", "64-bit Arm, built there":
            self.assertEqual(len([row for row in rows if row.startswith(f"| {name}")]), 1, name)

    def test_images_are_built_of_each_containerfile(self):
        files = {path.name.removesuffix(".Containerfile") for path in (TOP / "packaging/containers").iterdir()}
        self.assertEqual({row["system"] for row in matrix_rows(load(workflows()["nightly.yml"])["jobs"]["images"])}, files)


class Mistakes(unittest.TestCase):
    """What the checks above find."""
    GOOD = """name: x
on: [push]
permissions:
  contents: read
jobs:
  one:
    name: one on ${{ matrix.runner }}
    runs-on: ${{ matrix.runner }}
    timeout-minutes: 5
    strategy:
      matrix:
        runner: [ubuntu-24.04]
    env:
      LIST: tests
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - run: scripts/install_dependencies.sh "$LIST"
"""

    def test_they_are_found(self):
        self.assertEqual(list(check_workflow("x.yml", self.GOOD)), [])
        for old, new, complaint in (
                ("  contents: read\n", "  contents: write\n", "permissions of the workflow"),
                ("permissions:\n  contents: read\n", "", "permissions of the workflow"),
                ("    timeout-minutes: 5\n", "", "no timeout-minutes"),
                ("    timeout-minutes: 5\n", "    timeout-minutes: 5\n    permissions:\n      packages: write\n", "permissions {"),
                ("    timeout-minutes: 5\n", "    timeout-minutes: 5\n    needs: two\n", "needs two, which is no job"),
                ("    timeout-minutes: 5\n", "    timeout-minutes: 5\n    timeout-minutes: 6\n", "a key twice"),
                ("[ubuntu-24.04]", "[windows-2025]", "unknown entry of the matrix: runner: windows-2025"),
                ("on ${{ matrix.runner }}", "on ${{ matrix.system }}", "matrix.system is not in the matrix"),
                ("[push]", "[pull_request_target]", "not be pull_request_target"),
                ("# v7.0.1", "# v7", "no comment with its version v7.0.1"),
                ("@3d3c42e5aac5ba805825da76410c181273ba90b1", "@v7", "is not pinned"),
                ("actions/checkout", "actions/chekout", "is no known action"),
                ("persist-credentials: false", "fetch-depth: 0", "checkout keeps the token"),
                ("LIST: tests", "LIST: test", "has no list test"),
                ("LIST: tests", "LIST: ${{ secrets.LIST }}", "unknown contexts"),
                ('"$LIST"', "${{ github.head_ref }}", "an expression in a script"),
                ('"$LIST"', "'", "unexpected EOF"),
                ("install_dependencies", "install_everything", "no such script"),
                ("- run:", "- rum:", "unknown keys of a step"),
                ("    steps:", "\tsteps:", "no YAML")):
            self.assertIn(old, self.GOOD)
            self.assertIn(complaint, "\n".join(check_workflow("x.yml", self.GOOD.replace(old, new))), new)


class Action(unittest.TestCase):
    """Runs the steps of the action in the way of a runner; a script that makes a tree stands for the build."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name).resolve()
        self.text = (TOP / ACTION).read_text(encoding="utf-8")
        self.action = load(self.text)
        self.top = self.base / "opendoca"
        (self.top / ACTION).parent.mkdir(parents=True)
        shutil.copy(TOP / ACTION, self.top / ACTION)
        for name in "include", "src", "tools", "packaging", "scripts":
            (self.top / name).mkdir()
            (self.top / name / "file").write_text(name)
        for name in "meson.build", "meson_options.txt":
            (self.top / name).write_text(name)
        self.program("scripts/install_dependencies.sh", 'echo dependencies >>"$CALLS"')
        exports = re.search(r"(?ms)^if \[ \"\$1\" = --exports.*?^fi$", (TOP / "tools/with_opendoca.in").read_text())[0]
        tool = f"#!/bin/sh\nlibraries=/libraries/of/$1\nshift\n{exports}\n"
        self.program("scripts/install_tree.sh", f"""echo "tree $*" >>"$CALLS"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/bin"
cat >"$2/bin/with_opendoca" <<'END'
{tool}END
chmod +x "$2/bin/with_opendoca\"""")

    def program(self, name, text):
        (self.top / name).write_text(f"#!/bin/sh\nset -e\n{text}\n")
        (self.top / name).chmod(0o755)

    def run_action(self, cached=False, **inputs):
        """Returns (scripts that were called, what the files of the runner have)."""
        values = {f"inputs.{name}": inputs.get(name, entry["default"]) for name, entry in self.action["inputs"].items()}
        files = {name: self.base / name for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "CALLS")}
        for path in files.values():
            path.write_text("")
        environment = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(self.base),
                       "GITHUB_ACTION_PATH": str((self.top / ACTION).parent)} | {name: str(path) for name, path in files.items()}
        for step in self.action["runs"]["steps"]:
            if "uses" in step:
                if values["inputs.cache"] == "true":
                    values["steps.cache.outputs.cache-hit"] = "true" if cached else "false"
                continue
            condition = step.get("if")
            self.assertIn(condition, (None, "steps.cache.outputs.cache-hit != 'true'"))
            if condition and values.get("steps.cache.outputs.cache-hit") == "true":
                continue
            given = {name: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda name: values[name[1]], value) for name, value in step["env"].items()}
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=environment | given,
                                  capture_output=True, text=True, timeout=60, check=False, cwd=self.base)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return files["CALLS"].read_text().splitlines(), {name: path.read_text().splitlines() for name, path in files.items()}

    def test_its_form(self):
        self.assertEqual(set(self.action), {"name", "description", "inputs", "outputs", "runs"})
        self.assertEqual(self.action["runs"]["using"], "composite")
        for step in self.action["runs"]["steps"]:
            self.assertEqual(list(check_step(step, self.text, {})), [])
            if "run" in step:
                self.assertEqual(step["shell"], "bash")
        used = set(re.findall(r"inputs\.(\w+)", self.text))
        self.assertEqual(used, set(self.action["inputs"]))
        for entry in [*self.action["inputs"].values(), *self.action["outputs"].values()]:
            self.assertTrue(entry["description"])

    def test_it_builds_and_sets_the_environment(self):
        prefix = self.base / "tree"
        calls, files = self.run_action(prefix=str(prefix))
        self.assertEqual(calls, ["dependencies", f"tree --prefix {prefix} --generation 3.0 --build {self.base}/opendoca-build"])
        self.assertEqual(files["GITHUB_ENV"], ["PKG_CONFIG_PATH=/libraries/of/3.0/pkgconfig", "LD_LIBRARY_PATH=/libraries/of/3.0",
                                               "DOCA_SOFT=1"])
        self.assertEqual(files["GITHUB_PATH"], [f"{prefix}/bin"])
        self.assertIn(f"prefix={prefix}", files["GITHUB_OUTPUT"])

    def test_a_cached_tree_is_not_built_again(self):
        prefix = self.base / "tree"
        self.run_action(prefix=str(prefix))
        calls, files = self.run_action(cached=True, prefix=str(prefix))
        self.assertEqual(calls, ["dependencies"])
        self.assertEqual(files["GITHUB_PATH"], [f"{prefix}/bin"])
        self.assertEqual(len(self.run_action(cached=True, cache="false", prefix=str(prefix))[0]), 2)

    def test_the_key_of_the_cache_names_what_the_tree_depends_on(self):
        def key(**inputs):
            return next(line for line in self.run_action(**{"prefix": str(self.base / "tree")} | inputs)[1]["GITHUB_OUTPUT"]
                        if line.startswith("key="))
        first = key()
        self.assertRegex(first, r"^key=opendoca-[\w.-]+$")
        self.assertEqual(key(), first)
        self.assertNotEqual(key(generation="2.2"), first)
        self.assertNotEqual(key(prefix=str(self.base / "other")), first)
        (self.top / "src/file").write_text("changed")
        self.assertNotEqual(key(), first)


if __name__ == "__main__":
    TOP = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
