// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "access.hpp"

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/files.hpp"
#include "core/base/unique_fd.hpp"

namespace opendoca::tools {

namespace {

/// The value that a child must find in this process's memory.
constexpr std::uint64_t test_value = 0x0d0ca0d0ca0d0caf;
constexpr int wrong_value = EBADMSG; ///< errno value for an attempt that succeeded but read other bytes

/// Returns whether this process is in the machine's PID namespace. If /proc is missing, that is assumed.
bool is_in_initial_pid_namespace()
{
    constexpr ino_t initial = 0xeffffffc; // fixed by the kernel
    struct stat info {};
    return stat("/proc/self/ns/pid", &info) != 0 || info.st_ino == initial;
}

/// Returns whether /proc belongs to this process's PID namespace: /proc/self must name its PID.
bool proc_shows_this_namespace()
{
    char target[32] = {};
    return readlink("/proc/self", target, sizeof(target) - 1) > 0 && target == std::to_string(getpid());
}

/// Creates a memfd with the seals that the library uses, containing the test value. Returns 0 or an errno value.
int create_sealed_memfd(UniqueFd &fd)
{
    fd = UniqueFd(memfd_create("doca_caps", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd.is_open() || pwrite(fd.get(), &test_value, sizeof(test_value), 0) != sizeof(test_value) ||
        fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return errno;
    return 0;
}

/// Opens a pidfd of this process. Returns 0 or an errno value.
int try_pidfd()
{
    const UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
    return fd.is_open() ? 0 : errno;
}

/// Asks the kernel for the expedited barrier across processes; the query has no side effects. Returns 0 or an errno
/// value.
int try_membarrier()
{
    const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (commands < 0)
        return errno;
    return (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 ? 0 : ENOSYS;
}

/// Reads the variable @p there of process @p pid, which is at the same address in this process. Returns 0 or an errno
/// value.
int try_process_vm(pid_t pid, const std::uint64_t &there)
{
    std::uint64_t here = 0;
    const iovec local = {&here, sizeof(here)};
    const iovec remote = {const_cast<std::uint64_t *>(&there), sizeof(there)};
    if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != sizeof(here))
        return errno;
    return here == test_value ? 0 : wrong_value;
}

/// Reads the same variable through /proc/<pid>/mem. Returns 0 or an errno value.
int try_memory_file(pid_t pid, const std::uint64_t &there)
{
    const UniqueFd fd(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
    std::uint64_t here = 0;
    if (!fd.is_open() || pread(fd.get(), &here, sizeof(here), reinterpret_cast<off_t>(&there)) != sizeof(here))
        return errno;
    return here == test_value ? 0 : wrong_value;
}

/// Opens and maps a memfd of process @p pid by its descriptor. Returns 0 or an errno value.
int try_descriptor(pid_t pid, int number)
{
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number);
    const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd.is_open())
        return errno;
    void *const mapped = mmap(nullptr, sizeof(test_value), PROT_READ, MAP_SHARED, fd.get(), 0);
    if (mapped == MAP_FAILED)
        return errno;
    const bool is_right = *static_cast<const std::uint64_t *>(mapped) == test_value;
    munmap(mapped, sizeof(test_value));
    return is_right ? 0 : wrong_value;
}

/// Runs @p attempt in a child and returns its result: 0 or an errno value, which fits an exit status.
int in_child(const std::function<int()> &attempt)
{
    const pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0)
        _exit(attempt());
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;
}

} // namespace

bool has_capability(const std::string &status, int number)
{
    const auto place = status.find("CapEff:");
    if (place == std::string::npos)
        return false;
    // Bit n of the hexadecimal mask is capability n.
    std::uint64_t mask = 0;
    std::istringstream(status.substr(place + 7)) >> std::hex >> mask;
    return (mask >> number & 1) != 0;
}

std::string hidepid_in(const std::string &mountinfo)
{
    std::istringstream lines(mountinfo);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
        // Fields of a line: ID, parent, device, root, mount point, options, optional fields, "-", type, source, options
        // of the file system (proc_pid_mountinfo(5)).
        std::istringstream fields(line);
        std::string skipped, place, type, source, options;
        for (int field = 1; field < 5; ++field)
            fields >> skipped;
        fields >> place;
        while (fields >> skipped && skipped != "-") {
        }
        if (place != "/proc" || !(fields >> type >> source >> options) || type != "proc")
            continue;
        found.clear(); // a later mount at the same place covers earlier ones
        const std::string key = "hidepid=";
        const auto start = options.find(key);
        if (start != std::string::npos)
            found = options.substr(start + key.size(), options.find(',', start) - start - key.size());
    }
    return found;
}

SystemFacts read_system_facts()
{
    SystemFacts facts;
    facts.user = getuid();
    facts.effective_user = geteuid();
    facts.may_trace = has_capability(text_in("/proc/self/status"), 19); // CAP_SYS_PTRACE
    int scope = 0;
    if (std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope)
        facts.yama_scope = scope;
    facts.dumpable = prctl(PR_GET_DUMPABLE);
    facts.is_in_initial_pid_namespace = is_in_initial_pid_namespace();
    facts.proc_shows_this_namespace = proc_shows_this_namespace();
    facts.hidepid = hidepid_in(text_in("/proc/self/mountinfo"));
    UniqueFd memfd;
    facts.memfd_error = create_sealed_memfd(memfd);
    facts.pidfd_error = try_pidfd();
    facts.membarrier_error = try_membarrier();

    // Both children inherit this variable and the memfd at the same address and number.
    const std::uint64_t memory = test_value;
    const pid_t exporter = getpid();
    facts.process_vm_error = try_process_vm(exporter, memory);
    facts.shared_memory_error = in_child([&] { return try_descriptor(exporter, memfd.get()); });
    // In the attempts, a child reads its parent. Yama's scope 1 allows that only if the parent consents, as exporters
    // do.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    facts.ordinary_memory_error = in_child([&] {
        const int error = try_process_vm(exporter, memory);
        return error != 0 ? error : try_memory_file(exporter, memory);
    });
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
    return facts;
}

} // namespace opendoca::tools
