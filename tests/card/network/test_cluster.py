#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The examples for containers and clusters: their fields, and their commands in network namespaces in place of containers.

Arguments: the folder packaging/cluster, with_card and doca_bench of 3.0.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import namespaces
import yaml

FOLDER = pathlib.Path()
PROGRAMS = {}  # what a command of the image stands for here
ADDRESSES = ("172.28.0.2", "172.28.0.3")
LIMIT = 120  # seconds

# The fields of the Compose Specification and of Kubernetes' API that the examples use, with what may be below each. A type
# stands for any value of it, a list for a list of such values, and "*" for names that the author chooses.
NAMES = {"*": str}
COMPOSE = {
    "services": {"*": {"image": str, "command": [str], "environment": NAMES, "ulimits": {"memlock": int},
                       "networks": {"*": {"ipv4_address": str}}, "depends_on": [str], "restart": str}},
    "networks": {"*": {"driver": str, "driver_opts": NAMES, "ipam": {"config": [{"subnet": str}]}}},
}
METADATA = {"name": str, "labels": NAMES}
VARIABLES = [{"name": str, "value": str, "valueFrom": {"fieldRef": {"fieldPath": str}}}]
CONTAINER = {"name": str, "image": str, "command": [str], "env": VARIABLES,
             "securityContext": {"capabilities": {"add": [str]}}, "volumeMounts": [{"name": str, "mountPath": str}]}
POD = {"containers": [CONTAINER], "restartPolicy": str, "hostNetwork": bool, "hostPID": bool,
       "volumes": [{"name": str, "hostPath": {"path": str, "type": str}}]}
KINDS = {
    ("v1", "Service"): {"clusterIP": str, "selector": NAMES, "ports": [{"name": str, "port": int}]},
    ("v1", "Pod"): POD,
    ("apps/v1", "DaemonSet"): {"selector": {"matchLabels": NAMES}, "template": {"metadata": METADATA, "spec": POD}},
}


def mistakes(value, allowed, where):
    """What in a value is not as the table has it."""
    if isinstance(allowed, type):
        return [] if type(value) is allowed else [f"{where}: {value!r} is no {allowed.__name__}"]
    if isinstance(allowed, list):
        if not isinstance(value, list) or not value:
            return [f"{where} is no list, or empty"]
        return [found for i, item in enumerate(value) for found in mistakes(item, allowed[0], f"{where}[{i}]")]
    if not isinstance(value, dict):
        return [f"{where} has no fields"]
    found = []
    for name, item in value.items():
        if name in allowed or "*" in allowed:
            found += mistakes(item, allowed.get(name, allowed.get("*")), f"{where}.{name}")
        else:
            found.append(f"{where} has no field {name}")
    return found


def objects(name):
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


class Fields(unittest.TestCase):
    def test_compose(self):
        compose, = objects("compose.yaml")
        self.assertEqual(mistakes(compose, COMPOSE, "compose.yaml"), [])
        for service in compose["services"].values():
            address = service["networks"]["rdma"]["ipv4_address"]
            self.assertEqual(service["environment"]["OPENDOCA_CARD_ADDRESS"], address)
            for other in service.get("depends_on", []):
                self.assertIn(other, compose["services"])
        self.assertEqual([service["networks"]["rdma"]["ipv4_address"] for service in compose["services"].values()],
                         list(ADDRESSES))

    @unittest.skipUnless(shutil.which("docker-compose"), "docker-compose is not installed")
    def test_compose_by_its_own_program(self):
        done = subprocess.run(["docker-compose", "-f", FOLDER / "compose.yaml", "config", "--quiet"], check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_kubernetes(self):
        for name in ("pods.yaml", "daemonset.yaml"):
            for described in objects(name):
                kind = (described.pop("apiVersion"), described.pop("kind"))
                self.assertIn(kind, KINDS)
                self.assertEqual(mistakes(described, {"metadata": METADATA, "spec": KINDS[kind]}, f"{name}: {kind[1]}"), [])

    def test_the_table_finds_mistakes(self):
        for broken in ({"services": {"one": {"comand": ["x"]}}}, {"services": {"one": {"command": "x"}}},
                       {"services": {"one": {"environment": {"NUMBER": 1}}}}, {"services": {"one": {"depends_on": []}}}):
            self.assertEqual(len(mistakes(broken, COMPOSE, "file")), 1, broken)

    def test_names_fit_together(self):
        service, server, _ = objects("pods.yaml")
        self.assertEqual(server["metadata"]["labels"], service["spec"]["selector"])
        daemons, = objects("daemonset.yaml")
        self.assertEqual(daemons["spec"]["template"]["metadata"]["labels"], daemons["spec"]["selector"]["matchLabels"])


class Commands(unittest.TestCase):
    """A network namespace stands for each container. Their cards have folders of their own, as containers have."""

    def setUp(self):
        self.machines = [namespaces.Machine([f"{address}/24"], 4200) for address in ADDRESSES]
        self.relay = namespaces.Relay(*self.machines)
        self.folders = [tempfile.mkdtemp(prefix="cl-", dir="/tmp") for _ in ADDRESSES]
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()  # with_card has become the program
            process.wait()
            process.stdout.close()
        self.relay.close()
        for machine in self.machines:
            machine.close()
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)

    def start(self, number, command, variables):
        words = [PROGRAMS.get(word, word) for word in command]
        environment = {**os.environ, "XDG_RUNTIME_DIR": self.folders[number], **variables}
        self.processes.append(subprocess.Popen(self.machines[number].command(*words), env=environment, text=True,
                                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        return self.processes[-1]

    def wait_for_port(self, server):
        listeners = self.machines[0].command("ss", "-Htln", "sport = :18617")
        while not subprocess.run(listeners, capture_output=True, text=True, check=True).stdout.strip():
            self.assertIsNone(server.poll(), "the server has ended early")
            time.sleep(0.01)

    def check_pair(self, server_command, client_command, variables):
        server = self.start(0, server_command, variables[0])
        self.wait_for_port(server)
        client = self.start(1, client_command, variables[1])
        text = client.communicate(timeout=LIMIT)[0]
        self.assertEqual(client.returncode, 0, text)
        self.assertRegex(text, r"(?m)write +rate +polling +4 KiB", text)
        self.assertIsNone(server.poll(), "the server goes on")
        server.send_signal(signal.SIGTERM)

    def test_compose(self):
        compose, = objects("compose.yaml")
        services = [compose["services"][name] for name in ("server", "client")]
        self.check_pair(*(self.quick(service["command"]) for service in services),
                        [service["environment"] for service in services])

    def test_pods(self):
        _, *pods = objects("pods.yaml")
        containers = [pod["spec"]["containers"][0] for pod in pods]
        self.check_pair(*(self.quick(container["command"]) for container in containers),
                        [self.variables(container, address) for container, address in zip(containers, ADDRESSES)])

    def test_cards_of_nodes(self):
        daemons, = objects("daemonset.yaml")
        container, = daemons["spec"]["template"]["spec"]["containers"]
        _, *pods = objects("pods.yaml")
        programs = []
        for number, address in enumerate(ADDRESSES):
            own = self.variables(container, address) | {"XDG_RUNTIME_DIR": self.folders[number]}
            self.start(number, container["command"], own)
            command = self.quick(pods[number]["spec"]["containers"][0]["command"])
            self.assertEqual(command[:3], ["with_card", "--profile", "connectx-5"])
            programs.append(["with_card", "--card", "node", *command[1:]])
            control = pathlib.Path(self.folders[number], "opendoca-cards", "node", "control")
            while not control.exists():
                self.assertIsNone(self.processes[-1].poll(), "the card has ended")
                time.sleep(0.01)
        self.check_pair(*programs, [{"DOCA_SOFT": "0"}, {"DOCA_SOFT": "0"}])

    @staticmethod
    def quick(command):
        """The command with the name of the service resolved, and fewer rounds."""
        words = [ADDRESSES[0] if word == "rdma-server" else word for word in command]
        return words + (["--jobs", "write", "--sizes", "4096", "--rounds", "1", "--time", "0.02", "--wait", "0",
                        "--pin", "none"] if "--connect" in words else [])

    @staticmethod
    def variables(container, address):
        """The environment as a node with this address makes it."""
        return {variable["name"]: variable.get("value", address) for variable in container["env"]}


def main():
    global FOLDER  # pylint: disable=global-statement
    FOLDER = pathlib.Path(sys.argv[1])
    PROGRAMS.update(with_card=os.path.abspath(sys.argv[2]), doca_bench=os.path.abspath(sys.argv[3]))
    namespaces.skip_without_namespaces()
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
