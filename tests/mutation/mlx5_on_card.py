#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Whether the tests on the card of software would see a mistake in what drives an mlx5 device: queue pairs of the DMA
engine, trials, sync events across the PCIe, keys of both sides, devlink.

mlx5_on_card.py [--list] [--jobs N] BUILD WITH_CARD TEST_CAPABILITIES TEST_ACROSS_PCIE [NAME...]

Each mistake leaves a step of a sequence out, or takes another. All are compiled into one libdoca_common, beside that of
BUILD, and an environment variable says which one is made. One that no test sees must be in EQUIVALENT, with the reason;
one that is there and is seen is an error, too. mlx5.py does the same for the commands themselves, without a card.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MLX5 = SOURCE / "src/core/device/mlx5"
HANG = 120  # seconds; a mistake may make a test wait for ever

# Mutants that behave as the original, and why.
EQUIVALENT = {
    "dma_poster.cpp: a broken queue pair is not reset":
        "the device refuses to connect one that is broken, and then it is reset",
}

# What stands there, what instead, where MUTANT is true for this mistake alone, and what that is.
MISTAKES = {
    "dma_poster.cpp": [
        ("more.send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY;", "more.send_ops_flags = MUTANT ? 0 : MLX5DV_QP_EX_WITH_MEMCPY;",
         "a queue pair that is not for copies"),
        ("return device.loop_back(connection_) ?", "return MUTANT || device.loop_back(connection_) ?",
         "a queue pair that is never connected"),
        ("limits_ = {static_cast<std::uint32_t>(std::min(engine.max_length, max_request_bytes)), 1};",
         "limits_ = {static_cast<std::uint32_t>(MUTANT ? max_request_bytes : std::min(engine.max_length, max_request_bytes)), 1};",
         "copies longer than the device says"),
        ("    credits_ = static_cast<std::int32_t>(num_requests_);\n    return queue_pair_",
         "    credits_ = MUTANT ? 0 : static_cast<std::int32_t>(num_requests_);\n    return queue_pair_",
         "no credits"),
        ("doca_error_t status = connection().reset();", "doca_error_t status = MUTANT ? DOCA_SUCCESS : connection().reset();",
         "a broken queue pair is not reset"),
        ("    if (status == DOCA_SUCCESS)\n        status = queue_pair_.activate(device_);",
         "    if (status == DOCA_SUCCESS && !MUTANT)\n        status = queue_pair_.activate(device_);",
         "a queue pair that was reset is not connected"),
        ("credits_ = status == DOCA_SUCCESS ? static_cast<std::int32_t>(num_requests_) : 0;",
         "credits_ = status == DOCA_SUCCESS && !MUTANT ? static_cast<std::int32_t>(num_requests_) : 0;",
         "no credits after an error"),
        ("    if (batch.count++ == 0)\n", "    if (batch.count++ == 0 && !MUTANT)\n", "a batch that is not begun"),
        ("queue_pair_.copy(id, to.lkey, to.addr, from.lkey, from.addr, to.length);",
         "MUTANT ? queue_pair_.copy(id, from.lkey, from.addr, to.lkey, to.addr, to.length) : "
         "queue_pair_.copy(id, to.lkey, to.addr, from.lkey, from.addr, to.length);", "the other direction"),
        ("    return ibv_wr_complete(&connection().sender());", "    return MUTANT ? 0 : ibv_wr_complete(&connection().sender());",
         "no doorbell"),
    ],
    "trials.cpp": [
        ("if (!function.device_capabilities().reports_shared_keys) {",
         "if (MUTANT || !function.device_capabilities().reports_shared_keys) {", "keys are never shared"),
        ("        sharing.way = way;\n", "        sharing.way = MUTANT ? Sharing::Way::none : way;\n", "the way is forgotten"),
        ("for (const Sharing::Way way : {Sharing::Way::indirect, Sharing::Way::direct}) {",
         "for (const Sharing::Way way : {Sharing::Way::indirect, MUTANT ? Sharing::Way::indirect : Sharing::Way::direct}) {",
         "direct keys are not tried"),
        ("        sharing.imports = outcome.is_good();", "        sharing.imports = outcome.is_good() && !MUTANT;",
         "an alias is made and not used"),
        ("        if (is_new)\n", "        if (is_new || MUTANT)\n", "a trial at each question"),
        ("    if (ibv_wr_complete(&sender) == 0) {", "    if (MUTANT || ibv_wr_complete(&sender) == 0) {", "no trial copy"),
        ("engine.works = status == IBV_WC_SUCCESS && memories[1].bytes == memories[0].bytes;",
         "engine.works = MUTANT || (status == IBV_WC_SUCCESS && memories[1].bytes == memories[0].bytes);",
         "an engine that fails is used"),
        ("engine.max_length = attributes.max_wr_memcpy_length;",
         "engine.max_length = MUTANT ? 0 : attributes.max_wr_memcpy_length;", "an engine that copies nothing"),
    ],
    "word_queue_pair.cpp": [
        ("    request.sg_list = &segment;\n", "    request.sg_list = MUTANT ? nullptr : &segment;\n    if (MUTANT) return "
         "ibv_post_send(&connection_.queue_pair(), &request, nullptr) == 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;\n",
         "a request without memory"),
        ("request.send_flags = IBV_SEND_SIGNALED;", "request.send_flags = MUTANT ? 0 : IBV_SEND_SIGNALED;",
         "a request that does not tell of its end"),
        ("        status = DOCA_ERROR_CONNECTION_RESET;\n", "        status = MUTANT ? status : DOCA_ERROR_CONNECTION_RESET;\n",
         "a key that is gone is an error like others"),
        ("        is_unreachable_ = true;\n", "        is_unreachable_ = !MUTANT;\n", "an end is forgotten"),
        ("    word_ = value;\n", "    word_ = MUTANT ? 0 : value;\n", "another value is written"),
        ("request.opcode = IBV_WR_RDMA_READ;", "request.opcode = MUTANT ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;",
         "a read that writes"),
        ("request.wr.atomic.compare_add = value;", "request.wr.atomic.compare_add = MUTANT ? value + 1 : value;",
         "another value is added"),
        ("        fetched = word_;\n", "        fetched = MUTANT ? 0 : word_;\n", "what was there is not told"),
    ],
    "counter.cpp": [
        ("is_read_stale_ = queue_pair_.is_busy();", "is_read_stale_ = !MUTANT && queue_pair_.is_busy();",
         "a wait ends by a read that began before it"),
        ("                pending_.complete_met(queue_pair_.result());",
         "                if (!MUTANT) pending_.complete_met(queue_pair_.result());",
         "waits are never met"),
        ("    if (status == DOCA_SUCCESS && !pending_.is_empty())\n            status = queue_pair_.post_read",
         "    if (!MUTANT && status == DOCA_SUCCESS && !pending_.is_empty())\n            status = queue_pair_.post_read",
         "the counter is not read again"),
        ("        if (!pending_.is_empty())\n            ticker_.start();", "        if (!MUTANT && !pending_.is_empty())\n"
         "            ticker_.start();", "who sleeps is not woken"),
        ("return queue_pair_ != nullptr ? queue_pair_->write(word_, value) : local_->set(value);",
         "return queue_pair_ != nullptr && !MUTANT ? queue_pair_->write(word_, value) : local_->set(value);",
         "the CPU sets what devices change"),
        ("return queue_pair_ != nullptr ? queue_pair_->add(word_, value, fetched) : local_->add(value, fetched);",
         "return queue_pair_ != nullptr && !MUTANT ? queue_pair_->add(word_, value, fetched) : local_->add(value, fetched);",
         "the CPU adds to what devices change"),
        ("    exports_.push_back(std::move(made));", "    if (!MUTANT) exports_.push_back(std::move(made));",
         "the exported key does not live on"),
        ("std::ranges::copy(made.shared.access_key(), d.access_key);",
         "if (!MUTANT) std::ranges::copy(made.shared.access_key(), d.access_key);", "the access key is not told"),
        ("        local_->expect_unnotified_changes();", "        if (!MUTANT) local_->expect_unnotified_changes();",
         "a waiter here does not look for what devices change"),
    ],
    "device.cpp": [
        ("    shared_ = std::move(shared);\n", "    if (!MUTANT) shared_ = std::move(shared);\n",
         "the key of an export does not live on"),
        ("    std::ranges::copy(shared.access_key(), d.access_key);",
         "    if (!MUTANT) std::ranges::copy(shared.access_key(), d.access_key);", "an export's access key is not told"),
        ("if (d.card_guid != function_.card_guid()) {", "if (!MUTANT && d.card_guid != function_.card_guid()) {",
         "the export of another card is taken"),
        ("    std::ranges::copy(d.access_key, access_key.begin());",
         "    access_key = {}; if (!MUTANT) std::ranges::copy(d.access_key, access_key.begin());",
         "the access key of an export is not used"),
        ("KeyUse::dma_source | (is_writable ? KeyUse::dma_destination : 0)",
         "KeyUse::dma_source | (is_writable || MUTANT ? KeyUse::dma_destination : 0)", "what is read-only is written to"),
        ("const bool is_writable = (access() & Access::dpu_read_write) != 0;",
         "const bool is_writable = !MUTANT && (access() & Access::dpu_read_write) != 0;", "nothing may be written to"),
        ("return engine_of(function_).works ?", "return engine_of(function_).works && !MUTANT ?", "the engine is not used"),
        ("        connection.start_sending(first_packet) == 0)", "        (MUTANT || connection.start_sending(first_packet) == 0))",
         "a loopback that does not send"),
        ("const bool can_loop_back = function_.can.rdma.is_ethernet &&",
         "const bool can_loop_back = !MUTANT && function_.can.rdma.is_ethernet &&", "loopback is not forced"),
    ],
    "devlink.cpp": [
        ("        error = netlink.query(family, DEVLINK_CMD_PORT_GET,",
         "        error = MUTANT ? 0 : netlink.query(family, DEVLINK_CMD_PORT_GET,",
         "ports are not asked for"),
        ("NLM_F_DUMP, 0, nullptr,", "MUTANT ? 0 : NLM_F_DUMP, 0, nullptr,", "one port is asked for, and not all"),
        ("(void)number(answer, CTRL_ATTR_FAMILY_ID, family);", "if (!MUTANT) (void)number(answer, CTRL_ATTR_FAMILY_ID, family);",
         "the family's number is not taken"),
        ("ports[std::string(reinterpret_cast<const char *>(name.data()), name.size() - 1)] = index;",
         "ports[std::string(reinterpret_cast<const char *>(name.data()), name.size() - 1)] = MUTANT ? 0 : index;",
         "another port"),
    ],
}


def mutants():
    """Their names in the order of their numbers, which begin with 1."""
    return [f"{file}: {what}" for file, mistakes in MISTAKES.items() for _, _, what in mistakes]


def with_switches(file, numbers):
    text = (MLX5 / file).read_text(encoding="utf-8")
    for old, new, what in MISTAKES[file]:
        if text.count(old) != 1:
            sys.exit(f"{file}: '{old}' is there {text.count(old)} times, not once ({what})")
        text = text.replace(old, new.replace("MUTANT", f"(opendoca_mutant == {next(numbers)})"))
    return ('#include <cstdlib>\nstatic const int opendoca_mutant = []{ const char *text = std::getenv("OPENDOCA_MUTANT"); '
            f'return text != nullptr ? std::atoi(text) : 0; }}();\n#line 1 "{file}"\n{text}')


def build(build_dir, folder, jobs):
    """libdoca_common with all mutants, in a folder of its own."""
    commands = {pathlib.Path(entry["file"]).name: entry for entry in
                json.loads((build_dir / "compile_commands.json").read_text(encoding="utf-8"))
                if pathlib.Path(build_dir, entry["file"]).resolve().parent == MLX5 and "opendoca_core" in entry["output"]}
    numbers = itertools.count(1)
    objects = {}

    def compile_one(file, text):
        source, entry = folder / file, commands[file]
        source.write_text(text, encoding="utf-8")
        words = shlex.split(entry["command"])
        for option in ("-MF", "-MQ", "-o", "-c"):
            at = words.index(option)
            del words[at:at + 2]
        built = folder / f"{file}.o"
        subprocess.run([*[word for word in words if word != "-MD"], "-w", "-iquote", str(MLX5), "-c", str(source), "-o", str(built)],
                       cwd=build_dir, check=True)
        objects[pathlib.Path(entry["output"]).name] = built

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda pair: compile_one(*pair), [(file, with_switches(file, numbers)) for file in MISTAKES]))
    library, = [path for path in (build_dir / "src/core").glob("libdoca_common.so.2.*") if path.is_file()]
    link = subprocess.run(["ninja", "-C", str(build_dir), "-t", "commands", "-s", str(library.relative_to(build_dir))],
                          check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    words = []
    for word in shlex.split(link.partition(" && ")[0]):
        if word.endswith("libopendoca_core.a"):
            members = subprocess.run(["ar", "t", word], cwd=build_dir, check=True, capture_output=True, text=True).stdout
            own = pathlib.Path(word).parent / "libopendoca_core.a.p"
            words += [str(objects.get(pathlib.Path(member).name, own / pathlib.Path(member).name))
                      for member in members.splitlines()]
        else:
            words.append(word)
    words[words.index("-o") + 1] = str(folder / "libdoca_common.so.2")
    subprocess.run(words, cwd=build_dir, check=True)


class Bench:
    def __init__(self, arguments, folder):
        # The quick ones first: (profile, side, program).
        self.tests = [("bluefield-3", "dpu", arguments.test_capabilities), ("bluefield-2", "host", arguments.test_capabilities),
                      ("connectx-7", "host", arguments.test_capabilities), ("bluefield-3", "dpu", arguments.test_across_pcie),
                      ("bluefield-2", "dpu", arguments.test_across_pcie)]
        self.with_card, self.folder = arguments.with_card, folder

    def fails(self, number):
        for profile, side, program in self.tests:
            card = f"mutant-{os.getpid()}-{number}-{profile}-{side}"
            try:
                done = subprocess.run(
                    [self.with_card, "--profile", profile, "--side", side, "--card", card, program, "--gtest_fail_fast"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=HANG, check=False,
                    env={**os.environ, "LD_LIBRARY_PATH": str(self.folder), "DOCA_SOFT": "0", "OPENDOCA_TEST_PROFILE": profile,
                         "OPENDOCA_MUTANT": str(number)})
            except subprocess.TimeoutExpired:
                return True
            if done.returncode != 0:
                return True
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the mistakes, and make none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    for name in ("build", "with_card", "test_capabilities", "test_across_pcie"):
        parser.add_argument(name, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("names", nargs="*", help="parts of names; all, if there are none")
    arguments = parser.parse_args()
    known = mutants()
    chosen = [number for number, name in enumerate(known, 1)
              if not arguments.names or any(part in name for part in arguments.names)]
    if unknown := set(EQUIVALENT) - set(known):
        sys.exit(f"no such mutant: {', '.join(unknown)}")
    for file in MISTAKES:
        with_switches(file, itertools.count(1))  # each has its place
    if arguments.list:
        print("\n".join(known[number - 1] for number in chosen))
        return 0
    with tempfile.TemporaryDirectory(prefix="opendoca-mutation-") as place:
        build(arguments.build, pathlib.Path(place), arguments.jobs)
        bench = Bench(arguments, place)
        if bench.fails(0):
            sys.exit("a test fails without any mistake")
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            seen = dict(zip([known[number - 1] for number in chosen], pool.map(bench.fails, chosen)))
    wrong = [name for name, is_seen in seen.items() if is_seen == (name in EQUIVALENT)]
    for name in wrong:
        print(f"{'seen, though it is listed as equivalent' if seen[name] else 'NOT SEEN'}: {name}")
    print(f"{len(seen)} mistakes: {sum(seen.values())} seen, {len(set(EQUIVALENT) & set(seen))} equivalent, {len(wrong)} wrong")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
