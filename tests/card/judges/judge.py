#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Programs that others wrote judge the card: what runs on a real one has to run on it, and to see what it sees there.

judge.py WITH_CARD PROFILE JUDGE...

WITH_CARD is the command that puts a program on a card. JUDGEs are
  devinfo   what `ibv_devinfo -v` shows, against what it shows of a real card
  pingpong  the ping-pong programs of ibverbs-utils
  perftest  bandwidth and latency programs of perftest
  rdmacm    programs of rdmacm-utils, and perftest with connections by rdma_cm
  libfabric fi_pingpong of libfabric
  pyverbs   rdma-core's own tests; or only some of their modules: pyverbs:test_qp,test_cq
  ucx       ucx_perftest, over rc_mlx5
  ucx_devx  the same of UCX from 1.18 on: that it makes its queues by DEVX, and other transports
  tools     what administrators look with: rdma of iproute2, ibstat and ibstatus of infiniband-diags

Prints what tests/vm/report.py reads. Exit status 77 says, with a reason, that nothing can be judged on this machine.
exceptions.txt, next to this file, lists the tests that do not pass, and those that are not run.
"""

import ctypes
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import identity
import ucx
from card import Card, Failed, Judge, free_tcp_port

HERE = pathlib.Path(__file__).resolve().parent
RDMA_CORE_TESTS = pathlib.Path("/usr/share/doc/rdma-core/tests")
# Tests of other makers' devices, and of steering, which need raw packets: they would all be skipped.
NOT_OF_THIS_CARD = ("test_efa", "test_cuda", "test_mlx5_cuda", "test_mlx5_dr", "test_mlx5_vfio")


def sides_of(card):
    """Between which functions of the card to talk, and what the name of the test says of it."""
    yield ("host", "host"), "one_side"
    if card.has_dpu:
        yield ("host", "dpu"), "two_sides"
        yield ("dpu", "host"), "two_sides_turned"


def judge_devinfo(card, judge):
    devices = judge.test("devinfo.host", card.devices)
    if devices is None:
        return
    judge.test("devinfo.part", identity.check_part, card.profile, devices)
    judge.test("devinfo.limits", identity.check_limits, devices)
    judge.test("devinfo.ports", identity.check_ports, card.profile, devices)
    judge.test("devinfo.usable_port", card.port)
    if not card.has_dpu:
        return
    on_dpu = judge.test("devinfo.dpu", card.devices, "dpu")
    if on_dpu is None:
        return
    judge.test("devinfo.part_on_dpu", identity.check_part, card.profile, on_dpu)
    judge.test("devinfo.limits_on_dpu", identity.check_limits, on_dpu)
    judge.test("devinfo.ports_on_dpu", identity.check_ports, card.profile, on_dpu)
    judge.test("devinfo.usable_port_on_dpu", card.port, "dpu")
    judge.test("devinfo.sides_of_one_card", identity.check_sides, devices, on_dpu)


def judge_pingpong(card, judge):
    def exchange(program, sides, iterations, *options):
        def arguments(port):
            gid = ["-g", str(port.roce_v2_gid)] if port.is_ethernet else []
            return ["-d", port.device, "-i", str(port.number), *gid, "-n", str(iterations), *options]

        for output in card.run_pair(program, arguments, sides):
            if not re.search(rf"^{iterations} iters in ", output, re.M):
                raise Failed(f"{program} does not tell of {iterations} iterations:\n{output}")

    def exchange_by_xrc(sides):
        def arguments(port):
            gid = ["-g", str(port.roce_v2_gid)] if port.is_ethernet else []
            return ["-d", port.device, "-i", str(port.number), *gid, "-n", "200", "-e"]

        for output in card.run_pair("ibv_xsrq_pingpong", arguments, sides):
            if not re.search("^success$", output, re.M):
                raise Failed(f"ibv_xsrq_pingpong has no success:\n{output}")

    for sides, name in sides_of(card):
        judge.test(f"pingpong.rc_events_{name}", exchange, "ibv_rc_pingpong", sides, 1000, "-e", "-c")
    sides = ("host", "dpu") if card.has_dpu else ("host", "host")
    judge.test("pingpong.rc", exchange, "ibv_rc_pingpong", sides, 50, "-c")
    judge.test("pingpong.rc_work_request_api", exchange, "ibv_rc_pingpong", sides, 200, "-e", "-c", "-N")
    # Not with events: this program takes an event whose completion it has had already for an error.
    judge.test("pingpong.rc_timestamps", exchange, "ibv_rc_pingpong", sides, 50, "-c", "-t")
    judge.test("pingpong.rc_large", exchange, "ibv_rc_pingpong", sides, 20, "-e", "-c", "-s", str(4 << 20))
    judge.test("pingpong.rc_on_demand_paging", exchange, "ibv_rc_pingpong", sides, 200, "-e", "-c", "-o", "-P")
    if card.port().is_ethernet:
        judge.test("pingpong.rc_implicit_region", exchange, "ibv_rc_pingpong", sides, 200, "-e", "-c", "-O")
    judge.test("pingpong.rc_device_memory", exchange, "ibv_rc_pingpong", sides, 200, "-e", "-c", "-j")
    judge.test("pingpong.uc", exchange, "ibv_uc_pingpong", sides, 200, "-e", "-c")
    judge.test("pingpong.srq", exchange, "ibv_srq_pingpong", sides, 200, "-e", "-c")
    judge.test("pingpong.xrc", exchange_by_xrc, sides)
    judge.test("pingpong.ud", exchange, "ibv_ud_pingpong", sides, 200, "-e", "-c", "-s", "1024")


def judge_perftest(card, judge):
    def measure(program, sides, iterations, *options):
        def arguments(port):
            gid = ["-x", str(port.roce_v2_gid)] if port.is_ethernet else []
            return ["-d", port.device, "-i", str(port.number), *gid, "-F", "-n", str(iterations), *options]

        # On a busy machine perftest cannot tell how fast the processor's counter runs, says so, and prints a rate of 0.
        for _ in range(20):
            _, output = card.run_pair(program, arguments, sides)
            if "Correlation coefficient" not in output:
                break
        rows = [line.split() for line in output.splitlines() if re.match(r"\s*\d+\s+\d+\s+[\d.]", line)]
        total = iterations * (int(options[options.index("-q") + 1]) if "-q" in options else 1)
        if not rows or any(row[1] != str(total) or float(row[2]) <= 0 for row in rows):
            raise Failed(f"{program} has no good row of results:\n{output}")

    sides = ("host", "dpu") if card.has_dpu else ("host", "host")
    # Who waits for events leaves the processor to the peer. The programs that write can't.
    events, polling = (200, "-e"), (50,)
    for operation, (iterations, *options) in {"write": polling, "read": events, "send": events,
                                              "atomic": events}.items():
        judge.test(f"perftest.{operation}_bw", measure, f"ib_{operation}_bw", sides, 200, "-t", "64", *options)
        judge.test(f"perftest.{operation}_lat", measure, f"ib_{operation}_lat", sides, iterations, *options)
    judge.test("perftest.write_bw_one_side", measure, "ib_write_bw", ("host", "host"), 200, "-t", "64")
    judge.test("perftest.write_bw_both_ways", measure, "ib_write_bw", sides, 200, "-t", "64", "-b")
    judge.test("perftest.write_bw_4_queue_pairs", measure, "ib_write_bw", sides, 100, "-t", "64", "-q", "4")
    judge.test("perftest.write_bw_1_mib", measure, "ib_write_bw", sides, 100, "-t", "16", "-s", str(1 << 20))
    judge.test("perftest.atomic_compare_and_swap", measure, "ib_atomic_bw", sides, 200, "-e", "-A", "CMP_AND_SWAP")
    judge.test("perftest.send_bw_srq", measure, "ib_send_bw", sides, 200, "-e", "-t", "64", "--use-srq")
    judge.test("perftest.send_bw_ud", measure, "ib_send_bw", sides, 200, "-e", "-t", "64", "-c", "UD", "-s", "1024")
    for operation, options in {"write": [], "read": ["-e"], "send": ["-e", "-q", "2"], "atomic": ["-e"]}.items():
        judge.test(f"perftest.{operation}_bw_xrc", measure, f"ib_{operation}_bw", sides, 100, "-t", "16", "-c", "XRC",
                   *options)
    judge.test("perftest.send_lat_uc", measure, "ib_send_lat", sides, 200, "-e", "-c", "UC")


def judge_rdmacm(card, judge):
    def exchange(expected, server, client, sides=("host", "host")):
        if expected not in (output := card.run_cm_pair(server, client, sides)[1]):
            raise Failed(f"{' '.join(client)} does not print '{expected}':\n{output}")

    def ping(server, client, sides=("host", "host")):
        # The end of rping closes the channel while its other thread may be about to wait there for an event. If the
        # close comes first, that thread ends the program with this error, on hardware as well.
        for attempt in range(3):
            try:
                return exchange("", ["rping", *server], ["rping", *client], sides)
            except Failed as failure:
                if "rdma_get_cm_event: Bad file descriptor" not in str(failure) or attempt == 2:
                    raise

    def measure(words):
        # Server and client of perftest connect twice. On a busy machine the client may be too early for the second
        # time, when the server does not listen again yet: a connection is then rejected with reason 8 (invalid service
        # ID), and a datagram's lookup of the service ends with status 1 (not supported).
        for attempt in range(10):
            try:
                return exchange("#bytes", words, [*words, "127.0.0.1"])
            except Failed as failure:
                too_early = re.search("RDMA_CM_EVENT_(REJECTED; error: 8|UNREACHABLE; error: 1)\\b", str(failure))
                if not too_early or attempt == 9:
                    raise

    for size in ("64", "1000", "65535"):
        judge.test(f"rdmacm.rping_{size}", ping, ["-s", "-a", "0.0.0.0", "-C", "20", "-V", "-S", size],
                   ["-c", "-a", "127.0.0.1", "-C", "20", "-V", "-S", size])
    judge.test("rdmacm.rping_ipv6", ping, ["-s", "-a", "::", "-C", "5", "-V"], ["-c", "-a", "::1", "-C", "5", "-V"])
    judge.test("rdmacm.ucmatose", exchange, "return status 0", ["ucmatose", "-c", "100", "-C", "5", "-S", "200"],
               ["ucmatose", "-s", "127.0.0.1", "-c", "100", "-C", "5", "-S", "200"])
    judge.test("rdmacm.ucmatose_migrated", exchange, "return status 0", ["ucmatose", "-c", "10", "-m"],
               ["ucmatose", "-s", "127.0.0.1", "-c", "10", "-m"])
    judge.test("rdmacm.client_server", exchange, "rdma_client: end 0", ["rdma_server"],
               ["rdma_client", "-s", "127.0.0.1"])
    if card.profile != "infiniband":  # the answers there go by the LID of the completion, which the card does not set
        judge.test("rdmacm.udaddy", exchange, "return status 0", ["udaddy", "-c", "3"],
                   ["udaddy", "-s", "127.0.0.1", "-c", "3"])
    for program, *options in (("ib_write_bw", "-s", "4096"), ("ib_send_lat", "-e"),
                              ("ib_send_bw", "-c", "UD", "-s", "1024")):
        words = [program, "-R", "-n", "100", *options]
        judge.test(f"rdmacm.{program}_{'_'.join(options).replace('-', '')}", measure, words)
    if not card.has_dpu:
        return
    # By the address of the other side's function, since 127.0.0.1 is each side's own.
    judge.test("rdmacm.rping_host_to_dpu", ping, ["-s", "-a", "0.0.0.0", "-C", "20", "-V"],
               ["-c", "-a", "127.0.0.6", "-C", "20", "-V"], ("dpu", "host"))
    judge.test("rdmacm.rping_dpu_to_host", ping, ["-s", "-a", "127.0.0.2", "-C", "20", "-V"],
               ["-c", "-a", "127.0.0.2", "-C", "20", "-V"], ("host", "dpu"))


def judge_libfabric(card, judge):
    def exchange(endpoint):
        def environment(port):
            return {"FI_VERBS_GID_IDX": str(port.roce_v2_gid)} if port.is_ethernet else {}

        _, output = card.run_pair("fi_pingpong", lambda _: ["-p", "verbs", "-e", endpoint, "-I", "20", "-c"],
                                  environment=environment, meet=("-B", "-P"))
        rows = [line.split() for line in output.splitlines() if re.match(r"\d+[km]?\s", line)]
        if len(rows) < 3 or any(row[1:3] != ["20", "=20"] for row in rows):
            raise Failed(f"fi_pingpong has not sent and got 20 messages of each size:\n{output}")

    # Not "rdm": its last message is lost if the peer's disconnect comes between its looks at completions and at events, as
    # on a busy machine.
    for endpoint in ("msg", "dgram"):
        judge.test(f"libfabric.{endpoint}", exchange, endpoint)


def judge_tools(card, judge):
    def rows(side, *arguments, command=()):
        # What is printed after the command that precedes them in a shell.
        text = card.run("sh", "-c", f'{" ".join(command) or ":"} >&2 && rdma -j {" ".join(arguments)}', side=side,
                        errors="discarded")
        return json.loads(text) if text.strip() else []

    def need(condition, what, value):
        if not condition:
            raise Failed(f"{what}: {value}")

    def show_devices(side, devices):
        shown = rows(side, "dev", "show")
        need([row["ifname"] for row in shown] == [device.name for device in devices], "rdma dev lists", shown)
        for row, device in zip(shown, devices):
            need(row["fw"] == device.values["fw_ver"], f"rdma dev shows for {device.values}", row)
            need(row["node_guid"] == device.values["node_guid"], f"rdma dev shows for {device.values}", row)
            need(row["node_type"] == "ca", "rdma dev shows", row)

    def show_links(side, devices):
        shown = rows(side, "link", "show")
        need([(row["ifname"], row["port"]) for row in shown] == [(device.name, 1) for device in devices],
             "rdma link lists", shown)
        for row, device in zip(shown, devices):
            need(row["state"] == "ACTIVE" and row["physical_state"] == "LINK_UP", "rdma link shows", row)
            if not device.ports[0].is_ethernet:
                need(row["lid"] == int(device.ports[0].values["port_lid"]), "rdma link shows", row)

    def show_port_that_is_down():
        down = [card.with_card, "--card", '"$(basename "$(dirname "$OPENDOCA_CARD_SIDE")")"', "--fault", "'port-down host 0'"]
        shown = rows("host", "link", "show", "mlx5_0/1", command=down)
        need([(row["state"], row["physical_state"]) for row in shown] == [("DOWN", "POLLING")], "rdma link shows", shown)
        text = card.run("sh", "-c", f'{" ".join(down)} && ibstat mlx5_0 && ibstatus mlx5_0')
        for line in (r"State: Down", r"Physical state: Polling", r"state:\s+1: DOWN", r"phys state:\s+2: Polling"):
            need(re.search(line, text), f"no {line}", text)

    def show_objects():
        # The objects of a program that waits for its peer, while the tool runs beside it on the same card.
        script = """ibv_rc_pingpong -d "$1" -g 1 -p "$2" > /dev/null & program=$!
                    until rdma -j resource show qp | grep -q lqpn; do kill -0 $program || exit 1; done
                    for type in qp cq mr pd srq cm_id; do rdma -j resource show $type; echo ,; done
                    rdma -j resource show; kill $program"""
        port = card.port()
        text = card.run("sh", "-c", script, "sh", port.device, str(free_tcp_port()), errors="discarded")
        qps, cqs, mrs, pds, *others, counts = [json.loads(part) if part.strip() else [] for part in text.split(",\n")]
        need([(row["ifname"], row["type"], row["state"]) for row in qps] == [(port.device, "RC", "INIT")], "qp", qps)
        need(len(cqs) == 1 and cqs[0]["users"] >= 1, "cq", cqs)
        need([row["mrlen"] for row in mrs] == [4096], "mr", mrs)
        need(len(pds) == 1 and len({row["pid"] for row in qps + cqs + mrs + pds}) == 1, "pd", pds)
        need(others == [[], []], "srq and cm_id", others)
        own, = [row for row in counts if row["ifname"] == port.device]
        need({name: own[name] for name in ("qp", "cq", "mr", "pd", "ctx", "srq")} ==
             {"qp": 1, "cq": 1, "mr": 1, "pd": 1, "ctx": 1, "srq": 0}, "counts", counts)

    def show_status(side, devices):
        text = card.run("sh", "-c", "ibstat && ibstatus && ibstat -l", side=side)
        for device in devices:
            guid = device.values["node_guid"].replace(":", "")
            need(re.search(rf"CA '{device.name}'(.|\n)*?Node GUID: 0x{guid}", text), f"ibstat of {device.name}", text)
            need(f"Infiniband device '{device.name}' port 1 status:" in text, f"ibstatus of {device.name}", text)
        need(text.split()[-len(devices):] == [device.name for device in devices], "ibstat -l", text)

    def change_folder():
        text = card.run("bash", "-c", "cd /sys/class/infiniband/mlx5_0/ports && pwd && cat 1/state && cd .. && cat node_type")
        need(text.splitlines() == ["/sys/class/infiniband/mlx5_0/ports", "4: ACTIVE", "1: CA"], "a shell reads", text)

    for side in ("host", "dpu") if card.has_dpu else ("host",):
        devices = card.devices(side)
        judge.test(f"tools.rdma_dev_{side}", show_devices, side, devices)
        judge.test(f"tools.rdma_link_{side}", show_links, side, devices)
        judge.test(f"tools.ibstat_{side}", show_status, side, devices)
    judge.test("tools.port_that_is_down", show_port_that_is_down)
    judge.test("tools.rdma_resource", show_objects)
    judge.test("tools.folders_of_sysfs", change_folder)


def prepare_rdma_core_tests(folder):
    """Unpacks the tests that come with the package of pyverbs."""
    folder.mkdir()
    for path in RDMA_CORE_TESTS.iterdir():
        if not path.name.startswith(NOT_OF_THIS_CARD):
            if path.suffix == ".gz":
                (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
            else:
                shutil.copy(path, folder)


def judge_pyverbs(card, modules):
    """The tests report themselves. Returns the exit status."""
    port = card.port()
    with tempfile.TemporaryDirectory(prefix="judges-") as folder:
        tests = pathlib.Path(folder, "tests")
        prepare_rdma_core_tests(tests)
        gid = ["--gid", str(port.roce_v2_gid)] if port.is_ethernet else []
        # The interpreter that Debian's module is for.
        return card.relay("/usr/bin/python3", HERE / "pyverbs_tests.py", tests, "--dev", port.device, *gid, *modules,
                          folder=folder)


def what_is_missing(names):
    """What the judges need and is not installed here, or None."""
    programs = {"devinfo": "ibv_devinfo", "pingpong": "ibv_rc_pingpong", "perftest": "ib_write_bw",
                "ucx": "ucx_perftest", "ucx_devx": "ucx_info", "tools": "ibstat", "rdmacm": "rping", "libfabric": "fi_pingpong"}
    for name in ["devinfo", *names]:
        if name in programs and shutil.which(programs[name]) is None:
            return programs[name]
        if name == "pyverbs" and not RDMA_CORE_TESTS.is_dir():
            return f"{RDMA_CORE_TESTS}, of python3-pyverbs,"
        if name == "ucx_devx" and not ucx.has_devx():
            return "UCX from 1.18 on"
    return None


def can_read_other_processes():
    """Whether the kernel has the call by which a card gets at a program's memory. Filters of containers forbid it."""
    text = ctypes.create_string_buffer(b"here")
    copy = ctypes.create_string_buffer(len(text))
    pieces = [(ctypes.c_size_t * 2)(ctypes.addressof(buffer), len(buffer)) for buffer in (copy, text)]
    libc = ctypes.CDLL(None)
    libc.process_vm_readv(os.getpid(), pieces[0], ctypes.c_ulong(1), pieces[1], ctypes.c_ulong(1), ctypes.c_ulong(0))
    return copy.raw == text.raw


def version_of_rdma_core():
    """The first number of the version, 0 if none is installed by Debian's packages."""
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-pyverbs"], check=False, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    number = re.match(r"\d+", found)
    return int(number[0]) if number else 0


def print_exceptions(profile, name, modules):
    """The lines of exceptions.txt that hold: PROFILES[@VERSION] JUDGE TEST KIND REASON."""
    installed = version_of_rdma_core()
    for line in (HERE / "exceptions.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        profiles, judge, test, kind, reason = line.split(None, 4)
        profiles, _, first_version = profiles.partition("@")
        if judge != name or (modules and test.partition(".")[0] not in modules) or installed < int(first_version or 0):
            continue
        if profiles == "all" or profile in profiles.split(","):
            print(f"@@ {kind} {name}_{profile} {test} {reason}", flush=True)


JUDGES = {"devinfo": judge_devinfo, "pingpong": judge_pingpong, "perftest": judge_perftest, "rdmacm": judge_rdmacm,
          "libfabric": judge_libfabric, "ucx": ucx.judge,
          "ucx_devx": ucx.judge_devx, "tools": judge_tools}


def misused(why):
    print(f"{pathlib.Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    return 2


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    with_card, profile, *words = sys.argv[1:]
    if not (os.path.isfile(with_card) and os.access(with_card, os.X_OK)):
        return misused(f"{with_card} is no program: WITH_CARD is the path of with_card in a build directory")
    if unknown := {word.partition(":")[0] for word in words} - {"pyverbs", *JUDGES}:
        return misused(f"no such judge: {', '.join(sorted(unknown))}")
    # To be ended is to end what has been started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    if program := what_is_missing([word.partition(":")[0] for word in words]):
        print(f"{program} is not here: scripts/install_dependencies.sh card installs it", file=sys.stderr)
        return 77
    if not can_read_other_processes():
        print("a card can't run here: process_vm_readv is refused", file=sys.stderr)
        return 77
    card = Card(os.path.abspath(with_card), profile)
    if status := card.relay("true"):
        print(f"no card of profile {profile} can be had: status {status}", file=sys.stderr)
        return 1

    for word in words:
        name, _, modules = word.partition(":")
        modules = modules.split(",") if modules else []
        with Judge(f"{name}_{profile}") as judge:
            print_exceptions(profile, name, modules)
            if name == "pyverbs":
                judge.status = judge_pyverbs(card, modules)
            else:
                JUDGES[name](card, judge)
    print("@@ complete")
    return 0


if __name__ == "__main__":
    sys.exit(main())
