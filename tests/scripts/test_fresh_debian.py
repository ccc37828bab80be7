#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/test_in_fresh_debian.sh where no root can be made: it is skipped with the reason, in time, and leaves nothing behind.

A server of this test stands for the mirror, and a program of a few lines for mmdebstrap.

test_fresh_debian.py SCRIPT
"""
import http.server
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SCRIPT = pathlib.Path()
SKIPPED = 77


class Mirror(http.server.BaseHTTPRequestHandler):
    """Has the file that a release begins with, of which mmdebstrap alone reads the contents, and nothing else."""

    def do_GET(self):  # pylint: disable=invalid-name
        found = self.path.endswith("/InRelease")
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"x\n")

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


def namespaces():
    return subprocess.run(["unshare", "--mount", "--pid", "--ipc", "--fork", "true"], capture_output=True, check=False).returncode == 0


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        for part in "scripts", "bin":
            (self.top / part).mkdir()
        shutil.copy(SCRIPT, self.top / "scripts")
        subprocess.run(["git", "init", "-q", self.top], check=True)
        self.program("mmdebstrap", "exit 1")

    def program(self, name, text):
        path = self.top / "bin" / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def start(self, mirror, limit=60):
        environment = os.environ | {"PATH": f"{self.top}/bin:{os.environ['PATH']}", "DEBIAN_MIRROR": mirror,
                                    "OPENDOCA_DOWNLOAD_LIMIT": str(limit), "no_proxy": "127.0.0.1"}
        return subprocess.Popen([self.top / "scripts/test_in_fresh_debian.sh", "debian13", self.top / "work"], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)

    def skipped(self, *arguments, **options):
        with self.start(*arguments, **options) as script:
            printed, _ = script.communicate(timeout=100)
        self.assertEqual(script.returncode, SKIPPED, printed)
        return printed.splitlines()[-1]

    def mirror(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}/debian"


class Anywhere(Runs):
    @unittest.skipIf(os.getuid() == 0, "this is root")
    def test_users_are_told_who_may(self):
        self.assertEqual(self.skipped("http://127.0.0.1:1"), "skipped: a debian13 root is made by root alone")

    def test_a_release_that_there_is_none_of_is_refused(self):
        done = subprocess.run([self.top / "scripts/test_in_fresh_debian.sh", "debian9", self.top / "work"], capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("test_in_fresh_debian.sh RELEASE DIR", done.stderr)
        self.assertIn("OPENDOCA_DOWNLOAD_LIMIT", done.stderr)
        self.assertNotIn("set -e", done.stderr)


@unittest.skipUnless(os.getuid() == 0 and os.access("/usr/lib/apt/apt-helper", os.X_OK) and shutil.which("setpriv") and namespaces(),
                     "needs root, apt and namespaces")
class WithoutAnArchive(Runs):
    def test_no_mirror(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            closed = server.getsockname()[1]
        mirror = f"http://127.0.0.1:{closed}/debian"
        self.assertEqual(self.skipped(mirror), f"skipped: {mirror}/dists/trixie cannot be reached")

    def test_a_mirror_that_never_answers_is_given_up(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            mirror = f"http://127.0.0.1:{server.getsockname()[1]}/debian"
            self.assertEqual(self.skipped(mirror, limit=1), f"skipped: {mirror}/dists/trixie cannot be reached")

    def test_the_reason_of_mmdebstrap_is_shown(self):
        self.program("mmdebstrap", "echo 'I: downloading' >&2; echo 'E: no such package: git' >&2; exit 1")
        mirror = self.mirror()
        self.assertEqual(self.skipped(mirror),
                         f"skipped: mmdebstrap could not make a debian13 root from {mirror}: no such package: git")

    def test_a_download_that_hangs_is_stopped(self):
        self.program("mmdebstrap", "exec sleep 1000")
        mirror = self.mirror()
        self.assertEqual(self.skipped(mirror, limit=1), f"skipped: mmdebstrap could not make a debian13 root from {mirror}: "
                         "stopped after 1 s")

    def test_a_run_that_is_ended_ends_its_download(self):
        # The read ends when no process has the pipe open any more.
        fifo = self.top / "fifo"
        os.mkfifo(fifo)
        # timeout(1) leaves its child alive if a signal comes before it knows the number of the child. It waits once it does.
        self.program("mmdebstrap", f"exec 9>{fifo}; until grep -q '^State:.S' /proc/$PPID/status; do :; done; echo >&9; "
                     "exec sleep 1000")
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number), self.start(self.mirror()) as script:
                with open(fifo, "rb") as pipe:
                    self.assertEqual(pipe.readline(), b"\n")
                    script.send_signal(number)
                    started = time.monotonic()
                    self.assertEqual(pipe.read(), b"")
                    self.assertLess(time.monotonic() - started, 30)
                script.communicate(timeout=60)


if __name__ == "__main__":
    SCRIPT = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
