#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Who may use a card, and where: other users, without privilege, below filters of containers, with sanitizers; and what
an idle client costs.

    test_card_access.py WITH_CARD CARD_CLIENT WITHOUT_SYSCALLS [CARD_CLIENT_WITH_A_SANITIZER]...
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

NOBODY = 65534
PROFILES = ("bluefield-3", "bluefield-2", "connectx-7", "connectx-5", "infiniband")
with_card, client, without_syscalls, *sanitized = (str(Path(name).resolve()) for name in sys.argv[1:])


class Access(unittest.TestCase):
    def setUp(self):
        # Cards of this test's own. The name is short: sockets are in it.
        self.folder = Path(tempfile.mkdtemp(prefix="card-", dir="/tmp"))
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder)}
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_client(self, *command, user=None, processors=None, **environment):
        return subprocess.run(command, env={**self.environment, **environment}, user=user, group=user,
                              extra_groups=None if user is None else [], cwd="/", capture_output=True, text=True,
                              timeout=300, preexec_fn=processors and (lambda: os.sched_setaffinity(0, processors)))

    def keep_card(self, *options):
        """Starts a program that keeps the card of these options until the test ends."""
        holder = subprocess.Popen([with_card, *options, client, "1", "60"], env=self.environment, stdout=subprocess.PIPE)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.kill)
        self.assertTrue(holder.stdout.readline(), "the card runs")

    def assert_works(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"us\n")

    def status(self, *options):
        result = self.run_client(with_card, *options, "--fault", "status")
        self.assertEqual(result.returncode, 0, result.stderr)
        words = result.stdout.split()
        return dict(zip(words[2::2], words[3::2]))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_user_without_privilege_has_cards_of_his_own(self):
        os.chown(self.folder, NOBODY, NOBODY)
        copied = self.folder / "bin"  # what the build tree keeps from others
        copied.mkdir()
        for program in (Path(with_card), Path(with_card).parent / "libopendoca_card.so", Path(client)):
            shutil.copy(program, copied)
        copied.chmod(0o755)
        for profile in PROFILES:
            with self.subTest(profile):
                self.assert_works(self.run_client(copied / "with_card", "--profile", profile, "--card", profile,
                                                  copied / "card_client", "5", user=NOBODY))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_client_of_another_user_is_refused(self):
        copied = self.folder / "bin"
        copied.mkdir()
        shutil.copy(client, copied)
        shutil.copy(Path(with_card).parent / "libopendoca_card.so", copied)
        self.keep_card()
        for path in [self.folder, *self.folder.rglob("*")]:  # as if somebody had opened the folder up
            if not path.is_symlink():
                path.chmod(0o777)
        side = self.folder / "opendoca-cards" / "bluefield-3" / "host"
        result = self.run_client(copied / "card_client", "1", user=NOBODY, OPENDOCA_CARD_SIDE=str(side),
                                 LD_PRELOAD=str(copied / "libopendoca_card.so"))
        self.assertNotEqual(result.returncode, 0)
        (self.folder / "opendoca-cards").chmod(0o700)
        self.assertEqual(self.status()["files"], "2", "those of the holder's two devices")

    def test_a_folder_that_others_may_use_is_not_trusted(self):
        cards = self.folder / "opendoca-cards"
        cards.mkdir(mode=0o777)
        cards.chmod(0o777)
        result = self.run_client(with_card, client, "1")
        self.assertEqual(result.returncode, 125)
        self.assertIn("belongs to user", result.stderr)
        self.assertEqual(stat.S_IMODE(cards.stat().st_mode), 0o777)

    def test_where_userfaultfd_is_refused_doorbells_are_polled(self):
        for profile in PROFILES:
            with self.subTest(profile):
                result = self.run_client(without_syscalls, "userfaultfd", "--", with_card, "--profile", profile,
                                         "--card", profile, client, "5")
                self.assert_works(result)
                self.assertIn("userfaultfd", result.stderr)

    def test_where_process_vm_is_refused_memory_is_a_file(self):
        self.assert_works(self.run_client(without_syscalls, "userfaultfd", "process_vm", "--", with_card, client, "50"))

    def test_programs_with_sanitizers_run_on_the_card(self):
        for program, profile in zip(sanitized, ("connectx-5", "infiniband")):
            with self.subTest(program):
                result = self.run_client(with_card, "--profile", profile, "--card", profile, program, "50")
                self.assert_works(result)
                self.assertNotIn("Sanitizer", result.stderr)

    def test_an_idle_client_costs_nothing(self):
        holder = subprocess.Popen([with_card, client, "100", "600"], env=self.environment, stdout=subprocess.PIPE)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.kill)
        holder.stdout.readline()
        pid = self.status()["pid"]

        def ticks():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12])

        def sleeps():
            return sum(int(line.split()[1]) for status in Path(f"/proc/{pid}/task").glob("*/status")
                       for line in status.read_text().splitlines() if line.startswith("voluntary_ctxt_switches"))
        before = ticks(), sleeps()
        time.sleep(3)  # a cost over time is what is measured
        # Some are of interrupts and of a sanitizer's own thread, which wakes ten times a second. A thread that polled would
        # have three hundred ticks, and one that slept for milliseconds in between hundreds of sleeps.
        self.assertLess(ticks() - before[0], 10, "clock ticks of the card's process")
        self.assertLess(sleeps() - before[1], 100, "how often its threads went to sleep")

    def test_one_processor_is_enough_and_the_other_of_two_is_kept_awake(self):
        allowed = sorted(os.sched_getaffinity(0))
        for count in (1, 2, 3):
            if count > len(allowed):
                continue
            with self.subTest(processors=count):
                name = f"on-{count}"
                self.assert_works(self.run_client(with_card, "--card", name, client, "50",
                                                  processors=set(allowed[:count])))
                # Sanitizers have threads of their own.
                threads = Path(f"/proc/{self.status('--card', name)['pid']}/task").glob("*/comm")
                names = [thread.read_text(encoding="ascii").strip() for thread in threads]
                self.assertEqual(names.count("processor"), 1 if count == 2 else 0, names)

    def test_programs_of_one_name_share_a_card_and_it_ends_after_them(self):
        self.run_client(with_card, "--card", "one", "true")
        first = self.status("--card", "one")["pid"]
        self.assertEqual(self.status("--card", "one")["pid"], first)
        self.assertNotEqual(self.status("--card", "two")["pid"], first)
        end = time.monotonic() + 60
        while Path(f"/proc/{first}").exists() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertFalse(Path(f"/proc/{first}").exists(), "it ends when nobody has needed it for a while")
        self.assertEqual([path.name for path in (self.folder / "opendoca-cards").glob("one*")], [],
                         "and takes its files with it")

    def test_a_card_whose_files_were_cleaned_away_ends_too(self):
        self.run_client(with_card, "true")
        pid = self.status()["pid"]
        shutil.rmtree(self.folder / "opendoca-cards")
        end = time.monotonic() + 60
        while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertFalse(Path(f"/proc/{pid}").exists())

    def test_a_command_line_that_is_wrong_is_said(self):
        for words in (["--profile", "none", "true"], ["--side", "left", "true"], ["--card", "a/b", "true"], ["--what"],
                      [], ["--profile", "connectx-5", "--side", "dpu", "true"], ["--fault", "explode", "true"]):
            with self.subTest(words):
                result = self.run_client(with_card, *words)
                self.assertEqual(result.returncode, 125)
                self.assertNotEqual(result.stderr, "")
        self.assertEqual(self.run_client(with_card, "/nothing/there").returncode, 127)
        self.assertEqual(self.run_client(with_card, "false").returncode, 1)

    def test_a_card_keeps_its_profile(self):
        self.keep_card("--profile", "connectx-5", "--card", "one")
        result = self.run_client(with_card, "--profile", "bluefield-3", "--card", "one", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn("connectx-5", result.stderr)

    def test_both_sides_of_a_card_with_a_dpu_know_its_network(self):
        network = ["printenv", "DOCA_COMM_CHANNEL_ADDRESS"]
        host = self.run_client(with_card, *network).stdout
        self.assertTrue(host.startswith("127."), "the profile that is the default has a DPU")
        self.assertEqual(self.run_client(with_card, "--side", "dpu", *network).stdout, host)
        self.keep_card("--profile", "connectx-5", "--card", "one")
        self.assertEqual(self.run_client(with_card, "--card", "one", *network).returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
