// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "access.hpp"

#include <cerrno>
#include <cstring>

namespace opendoca::tools {

namespace {

/// Formats the result of a system call that was tried: 0 or an errno value.
std::string describe(int error)
{
    return error == 0 ? "works" : std::string("fails: ") + std::strerror(error);
}

/// Returns the remedy for a system call that fails with @p error. ENOSYS and EINVAL mean that the kernel lacks it; any
/// other error means that a filter or security module denies it. @p missing_in_kernel names what the kernel needs.
std::string advice_for_call(const char *call, int error, const char *missing_in_kernel)
{
    if (error == ENOSYS || error == EINVAL)
        return std::string("the kernel does not have ") + call + ": " + missing_in_kernel;
    return std::string("a seccomp filter or security module forbids ") + call +
           ": allow it in the container's or service's profile";
}

/// Set-user-ID programs have two users. Access between processes is checked against the effective one.
AccessCheck check_user(const SystemFacts &facts)
{
    AccessCheck check{"user", "user", Verdict::ok, "user " + std::to_string(facts.effective_user), ""};
    if (facts.may_trace)
        check.found += ", with SYS_PTRACE";
    if (facts.user != facts.effective_user) {
        check.verdict = Verdict::limited;
        check.found =
            "real user " + std::to_string(facts.user) + ", effective user " + std::to_string(facts.effective_user);
        check.advice = "memory is shared between processes with the same effective user, and set-user-ID programs "
                       "are not dumpable: run both sides as one ordinary user";
    }
    return check;
}

/// Yama restricts ptrace, and with it access to another process's ordinary memory; memfds are not affected. Scopes: 0
/// no restriction, 1 own children and consenting processes, 2 only with CAP_SYS_PTRACE, 3 nobody, until the next boot.
AccessCheck check_yama(const SystemFacts &facts)
{
    AccessCheck check{"yama", "Yama", Verdict::ok, "not in this kernel", ""};
    if (!facts.yama_scope)
        return check;
    const int scope = *facts.yama_scope;
    check.found = "kernel.yama.ptrace_scope = " + std::to_string(scope);
    if (scope <= 0) {
        check.found += ": no restriction";
    } else if (scope == 1) {
        check.found += ": ordinary memory needs the exporter's consent, which the library gives (PR_SET_PTRACER)";
    } else if (scope == 2 && facts.may_trace) {
        check.found += ": ordinary memory only with SYS_PTRACE, which this process has";
    } else {
        check.verdict = Verdict::limited;
        check.found += ": ordinary memory can't be reached, shared memory (memfd, shared file) can";
        check.advice = scope == 2 ? "sysctl kernel.yama.ptrace_scope=1, or give the importer SYS_PTRACE, or export "
                                    "memory of a memfd"
                                  : "export memory of a memfd; scope 3 stays until the next boot: change it in "
                                    "/etc/sysctl.d and boot with 1";
    }
    return check;
}

/// The kernel makes /proc/<pid> of a process that is not dumpable belong to root: nobody else can open its memory or
/// descriptors.
AccessCheck check_dumpable(const SystemFacts &facts)
{
    AccessCheck check{"dumpable", "dumpable", Verdict::ok, "yes", ""};
    if (facts.dumpable != 1) {
        check.verdict = facts.may_trace ? Verdict::limited : Verdict::blocked;
        check.found = facts.dumpable == 2 ? "for root only" : "no";
        check.advice = "processes that changed their user, have file capabilities or called "
                       "prctl(PR_SET_DUMPABLE, 0) can't export to others of their user: start the exporter without "
                       "them, or let it call prctl(PR_SET_DUMPABLE, 1)";
    }
    return check;
}

/// Export descriptors contain PIDs, which are valid in one PID namespace only. A procfs of another namespace makes
/// /proc/<pid> another process, or none.
AccessCheck check_pid_namespace(const SystemFacts &facts)
{
    AccessCheck check{"pid_namespace", "PID namespace", Verdict::ok, "the machine's", ""};
    if (!facts.proc_shows_this_namespace) {
        check.verdict = Verdict::blocked;
        check.found = "/proc does not show this process under its PID";
        check.advice = "mount the procfs of this PID namespace at /proc";
    } else if (!facts.is_in_initial_pid_namespace) {
        check.verdict = Verdict::limited;
        check.found = "one of its own, as in a container";
        check.advice = "processes can share memory within this container; to reach others, start both with the same "
                       "PID namespace (for instance --pid=host, or --pid=container:NAME)";
    }
    return check;
}

/// hidepid hides only processes of other users, between which memory is not shared in any case: never a fault.
AccessCheck check_hidepid(const SystemFacts &facts)
{
    AccessCheck check{"hidepid", "/proc", Verdict::ok, "no hidepid", ""};
    if (!facts.hidepid.empty() && facts.hidepid != "0" && facts.hidepid != "off")
        check.found = "hidepid=" + facts.hidepid + ": hides other users' processes, which can't share memory anyway";
    return check;
}

/// The library keeps exported memory in sealed memfds, so that an exporter can't shrink memory that importers have
/// mapped. Without them nothing can be exported.
AccessCheck check_memfd(const SystemFacts &facts)
{
    AccessCheck check{"memfd_sealing", "sealed memfd", Verdict::ok, describe(facts.memfd_error), ""};
    if (facts.memfd_error != 0) {
        check.verdict = Verdict::blocked;
        check.advice = facts.memfd_error == EACCES
                           ? "sysctl vm.memfd_noexec=1 (2 refuses what the library creates), or allow memfd_create in "
                             "the security profile"
                           : advice_for_call("memfd_create", facts.memfd_error, "CONFIG_MEMFD_CREATE is needed");
    }
    return check;
}

/// A pidfd becomes readable at the end of the peer's process, which wakes a waiter in epoll.
AccessCheck check_pidfd(const SystemFacts &facts)
{
    AccessCheck check{"pidfd_open", "pidfd_open", Verdict::ok, describe(facts.pidfd_error), ""};
    if (facts.pidfd_error != 0) {
        check.verdict = Verdict::limited;
        check.advice = advice_for_call("pidfd_open", facts.pidfd_error, "Linux 5.3 or later is needed") +
                       "; until then only who polls sees that another process has ended, and who sleeps is not woken";
    }
    return check;
}

/// The expedited membarrier lets a copy omit its own memory fence.
AccessCheck check_membarrier(const SystemFacts &facts)
{
    AccessCheck check{"membarrier", "membarrier", Verdict::ok, describe(facts.membarrier_error), "", true};
    if (facts.membarrier_error != 0) {
        check.verdict = Verdict::limited;
        check.advice =
            advice_for_call("membarrier", facts.membarrier_error, "Linux 4.16 with CONFIG_MEMBARRIER is needed") +
            "; until then each copy of another process's memory takes some 10 ns longer";
    }
    return check;
}

/// process_vm_readv copies ordinary memory; /proc/<pid>/mem is its slower replacement.
AccessCheck check_process_vm(const SystemFacts &facts)
{
    AccessCheck check{"process_vm_readv", "process_vm_readv", Verdict::ok, describe(facts.process_vm_error), ""};
    if (facts.process_vm_error != 0) {
        check.verdict = Verdict::limited;
        check.advice =
            advice_for_call("process_vm_readv", facts.process_vm_error, "CONFIG_CROSS_MEMORY_ATTACH is needed") +
            ", or export memory of a memfd";
    }
    return check;
}

/// The whole path of an importer that maps a memfd of the exporter.
AccessCheck check_shared_memory(const SystemFacts &facts)
{
    AccessCheck check{
        "shared_memory", "shared memory, tried", Verdict::ok, describe(facts.shared_memory_error), "", true};
    if (facts.shared_memory_error != 0) {
        check.verdict = Verdict::blocked;
        check.advice = "another process of this user can't open /proc/<pid>/fd: see what is not OK above, and the "
                       "container's security profile (SELinux, AppArmor)";
    }
    return check;
}

/// The whole path of an importer that copies memory which is not in a memfd.
AccessCheck check_ordinary_memory(const SystemFacts &facts)
{
    AccessCheck check{
        "ordinary_memory", "ordinary memory, tried", Verdict::ok, describe(facts.ordinary_memory_error), "", true};
    if (facts.ordinary_memory_error != 0) {
        check.verdict = Verdict::limited;
        check.advice = "another process of this user can't read what malloc gives: see what is not OK above, or export "
                       "memory of a memfd";
    }
    return check;
}

} // namespace

const char *name_of(Verdict verdict)
{
    switch (verdict) {
    case Verdict::ok:
        return "OK";
    case Verdict::limited:
        return "limited";
    case Verdict::blocked:
        return "blocked";
    }
    return "?";
}

// In the order in which they are printed: settings first, then system calls, then the attempts that depend on them.
std::vector<AccessCheck> check_access(const SystemFacts &facts)
{
    return {check_user(facts),          check_yama(facts),           check_dumpable(facts),
            check_pid_namespace(facts), check_hidepid(facts),        check_memfd(facts),
            check_pidfd(facts),         check_membarrier(facts),     check_process_vm(facts),
            check_shared_memory(facts), check_ordinary_memory(facts)};
}

} // namespace opendoca::tools
