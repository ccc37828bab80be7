# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""UCX judges the card, by ucx_info and ucx_perftest.

From version 1.18 on, UCX creates the queues of rc_mlx5 by DEVX if the device has channels of DEVX events. That it does is
seen in two ways: UCX is not permitted to do without DEVX, and it reports the command by which the card refuses a queue.
"""

import re
import subprocess

from card import Failed

WITH_DEVX = (1, 18)


def version():
    """The version as two numbers."""
    text = subprocess.run(["ucx_info", "-v"], stdout=subprocess.PIPE, text=True, check=False).stdout
    found = re.search(r"version:?\s+(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def has_devx():
    """Whether this UCX takes on the card the path that it takes on hardware."""
    return version() >= WITH_DEVX


def environment(port, transport="rc_x"):
    gid = {"UCX_IB_GID_INDEX": str(port.roce_v2_gid)} if port.is_ethernet else {}
    devx = {"UCX_IB_MLX5_DEVX": "y"} if has_devx() else {}
    return {"UCX_TLS": transport, "UCX_NET_DEVICES": f"{port.device}:{port.number}", **gid, **devx}


def measure(card, test, sides, iterations, *options, uct=None, transport="rc_x", log=None):
    """Runs ucx_perftest, over a transport of UCT or of UCP. Returns what the client has printed."""
    def arguments(port):
        of_uct = ["-d", f"{port.device}:{port.number}", "-x", uct] if uct else []
        return ["-t", test, "-n", str(iterations), "-w", "10", "-f", *of_uct, *options]

    # Built with MPI, as Debian's from 1.18 on is, it takes a call without a terminal for one by mpirun.
    _, output = card.run_pair("ucx_perftest", arguments, sides, has_terminal=True,
                              environment=lambda port: {**environment(port, transport), **(log or {})})
    if not re.search(rf"^(?:Final:)?\s*{iterations}\s", output, re.M):
        raise Failed(f"ucx_perftest does not tell of {iterations} iterations:\n{output}")
    return output


def sides_of(card):
    return ("host", "dpu") if card.has_dpu else ("host", "host")


def judge(card, tests):
    for test in ("am_lat", "am_bw", "put_lat", "put_bw", "get", "fadd", "cswap"):
        layout = {"get": "bcopy", "am_bw": "zcopy", "put_bw": "zcopy"}.get(test)
        options = ["-D", layout, "-s", "4096"] if layout else []
        iterations = 50 if test.endswith("lat") else 200
        # On one side, because the server takes the name of the client's device.
        tests.test(f"ucx.uct_{test}", lambda test, *rest: measure(card, test, ("host", "host"), *rest, uct="rc_mlx5"), test,
                   iterations, *options)
    for test, size in (("tag_lat", 8), ("tag_bw", 4096), ("tag_bw", 1 << 20), ("ucp_put_lat", 8),
                       ("ucp_put_bw", 1 << 16), ("ucp_get", 8), ("ucp_get", 1 << 16), ("ucp_fadd", 8),
                       ("stream_bw", 4096), ("ucp_am_lat", 8)):
        iterations = 50 if test.endswith("lat") else 200
        tests.test(f"ucx.{test}_{size}", measure, card, test, sides_of(card), iterations, "-s", str(size))


def show_devices(card):
    """Each device is opened with DEVX, and has the transports of an mlx5 device."""
    port = card.port()
    text = card.run("env", "UCX_LOG_LEVEL=debug", "UCX_IB_MLX5_DEVX=y", "ucx_info", "-d")
    transports = [rf"Transport: {name}\n#\s+Device: {port.device}:{port.number}" for name in ("rc_verbs", "rc_mlx5", "ud_mlx5")]
    for wanted in (rf"{port.device}: opened DEVX md log_max_qp=\d+", *transports):
        if not re.search(wanted, text):
            raise Failed(f"no '{wanted}' in what ucx_info shows:\n{text}")


def refuse(card, command, name):
    """UCX makes an object by a command of DEVX: it complains if the card refuses that."""
    fault = ["--card", '"$(basename "$(dirname "$OPENDOCA_CARD_SIDE")")"', "--fault", f"'refuse {command} 15 count 1000'"]
    settings = [f"{key}={value}" for key, value in environment(card.port()).items()]
    text = card.run("sh", "-c", " ".join([card.with_card, *fault, "&&", *settings, "ucx_info", "-d"]))
    if not re.search(rf"mlx5dv_devx_obj_create\({name}\) failed on \w+, syndrome", text):
        raise Failed(f"UCX does not need {command}:\n{text}")


def wake(card):
    """Programs that sleep are woken by events of DEVX. Their connections are those of DEVX."""
    text = measure(card, "tag_lat", sides_of(card), 50, "-s", "8", "-E", "sleep", log={"UCX_LOG_LEVEL": "debug"})
    if "connected rc devx qp" not in text:
        raise Failed(f"no connection by DEVX:\n{text}")


def judge_devx(card, tests):
    tests.test("ucx_devx.info", show_devices, card)
    for command, name in (("CREATE_CQ", "CQ"), ("CREATE_RMP", "RMP")):
        tests.test(f"ucx_devx.{command.lower()}", refuse, card, command, name)
    tests.test("ucx_devx.sleep", wake, card)
    tests.test("ucx_devx.tag_bw_1048576", measure, card, "tag_bw", sides_of(card), 100, "-s", str(1 << 20))
    tests.test("ucx_devx.fadd", measure, card, "ucp_fadd", sides_of(card), 100, "-s", "8")
    for transport in ("ud_x", "rc_v"):
        tests.test(f"ucx_devx.tag_lat_{transport}", lambda of_ucp: measure(
            card, "tag_lat", sides_of(card), 50, "-s", "8", transport=of_ucp), transport)
