// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../../tools/doca_caps/access.hpp"

#include <cerrno>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using namespace opendoca::tools;

std::map<std::string, AccessCheck> check(const SystemFacts &facts)
{
    std::map<std::string, AccessCheck> checks;
    for (AccessCheck &one : check_access(facts))
        checks.emplace(one.key, std::move(one));
    return checks;
}

SystemFacts with_yama(int scope, bool may_trace = false)
{
    SystemFacts facts;
    facts.yama_scope = scope;
    facts.may_trace = may_trace;
    return facts;
}

TEST(Access, NothingIsToBeDoneOnASystemWithoutRestrictions)
{
    for (const AccessCheck &one : check_access(SystemFacts())) {
        EXPECT_EQ(one.verdict, Verdict::ok) << one.key;
        EXPECT_EQ(one.advice, "") << one.key;
        EXPECT_NE(one.found, "") << one.key;
    }
}

TEST(Access, YamaScopesUpToOneLetOrdinaryMemoryBeReached)
{
    EXPECT_EQ(check(with_yama(0)).at("yama").verdict, Verdict::ok);
    EXPECT_EQ(check(with_yama(1)).at("yama").verdict, Verdict::ok);
    EXPECT_NE(check(with_yama(1)).at("yama").found.find("PR_SET_PTRACER"), std::string::npos);
}

TEST(Access, YamaScopeTwoLeavesSharedMemoryAndThoseWhoMayTrace)
{
    const AccessCheck without = check(with_yama(2)).at("yama");
    EXPECT_EQ(without.verdict, Verdict::limited);
    EXPECT_NE(without.found.find("shared memory (memfd, shared file) can"), std::string::npos);
    EXPECT_NE(without.advice.find("kernel.yama.ptrace_scope=1"), std::string::npos);
    EXPECT_EQ(check(with_yama(2, true)).at("yama").verdict, Verdict::ok);
}

TEST(Access, YamaScopeThreeIsForEverybodyAndUntilTheNextBoot)
{
    const AccessCheck yama = check(with_yama(3, true)).at("yama");
    EXPECT_EQ(yama.verdict, Verdict::limited);
    EXPECT_NE(yama.advice.find("boot"), std::string::npos);
}

TEST(Access, AProcessThatIsNotDumpableCantExport)
{
    SystemFacts facts;
    facts.dumpable = 0;
    EXPECT_EQ(check(facts).at("dumpable").verdict, Verdict::blocked);
    EXPECT_NE(check(facts).at("dumpable").advice.find("PR_SET_DUMPABLE"), std::string::npos);
    facts.dumpable = 2;
    EXPECT_EQ(check(facts).at("dumpable").found, "for root only");
}

TEST(Access, MissingAndForbiddenCallsAreDistinguished)
{
    SystemFacts facts;
    facts.pidfd_error = ENOSYS;
    EXPECT_EQ(check(facts).at("pidfd_open").verdict, Verdict::limited);
    EXPECT_NE(check(facts).at("pidfd_open").advice.find("Linux 5.3"), std::string::npos);
    facts.pidfd_error = EPERM;
    EXPECT_NE(check(facts).at("pidfd_open").advice.find("seccomp"), std::string::npos);
}

TEST(Access, WhatCanBeDoneWithoutOnlyLimits)
{
    SystemFacts facts;
    facts.membarrier_error = EPERM;
    facts.process_vm_error = EPERM;
    facts.ordinary_memory_error = EPERM;
    const auto checks = check(facts);
    for (const char *const key : {"membarrier", "process_vm_readv", "ordinary_memory"}) {
        EXPECT_EQ(checks.at(key).verdict, Verdict::limited) << key;
        EXPECT_NE(checks.at(key).advice, "") << key;
    }
    EXPECT_EQ(checks.at("shared_memory").verdict, Verdict::ok);
}

TEST(Access, WhatNothingWorksWithoutBlocks)
{
    SystemFacts facts;
    facts.memfd_error = EACCES;
    facts.shared_memory_error = EACCES;
    facts.proc_shows_this_namespace = false;
    const auto checks = check(facts);
    for (const char *const key : {"memfd_sealing", "shared_memory", "pid_namespace"}) {
        EXPECT_EQ(checks.at(key).verdict, Verdict::blocked) << key;
        EXPECT_NE(checks.at(key).advice, "") << key;
    }
    EXPECT_NE(checks.at("memfd_sealing").advice.find("vm.memfd_noexec"), std::string::npos);
}

TEST(Access, AContainersPidNamespaceIsMentioned)
{
    SystemFacts facts;
    facts.is_in_initial_pid_namespace = false;
    EXPECT_EQ(check(facts).at("pid_namespace").verdict, Verdict::limited);
}

TEST(Access, ASetUserIdProgramIsReported)
{
    SystemFacts facts;
    facts.user = 1000;
    facts.effective_user = 0;
    EXPECT_EQ(check(facts).at("user").verdict, Verdict::limited);
}

TEST(Access, HidepidIsReadFromTheMountOfProc)
{
    EXPECT_EQ(hidepid_in("22 27 0:21 / /proc rw,relatime - proc proc rw\n"), "");
    EXPECT_EQ(hidepid_in("22 27 0:21 / /proc rw shared:3 - proc proc rw,gid=5,hidepid=invisible\n"), "invisible");
    EXPECT_EQ(hidepid_in("22 27 0:21 / /proc rw - proc proc rw,hidepid=2,gid=5\n"), "2");
    EXPECT_EQ(hidepid_in("22 27 0:21 / /other rw - proc proc rw,hidepid=2\n"), "");
    EXPECT_EQ(hidepid_in("22 27 0:21 / /proc rw - proc proc rw,hidepid=2\n30 22 0:9 / /proc rw - proc proc rw\n"), "");
    SystemFacts facts;
    facts.hidepid = "2";
    EXPECT_EQ(check(facts).at("hidepid").verdict, Verdict::ok);
    EXPECT_NE(check(facts).at("hidepid").found.find("hidepid=2"), std::string::npos);
}

TEST(Access, TheFactsAreThoseOfThisProcess)
{
    const SystemFacts facts = read_system_facts();
    EXPECT_EQ(facts.user, getuid());
    EXPECT_EQ(facts.effective_user, geteuid());
    EXPECT_EQ(facts.dumpable, prctl(PR_GET_DUMPABLE));
    EXPECT_EQ(facts.yama_scope.has_value(), access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0);
}

TEST(Access, ALossOfDumpabilityIsSeen)
{
    const int before = prctl(PR_GET_DUMPABLE);
    ASSERT_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
    const SystemFacts facts = read_system_facts();
    prctl(PR_SET_DUMPABLE, before);
    EXPECT_EQ(facts.dumpable, 0);
    if (!facts.may_trace) {
        EXPECT_NE(facts.shared_memory_error, 0);
        EXPECT_NE(facts.ordinary_memory_error, 0);
    }
}

} // namespace
