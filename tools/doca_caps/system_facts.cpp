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

constexpr std::uint64_t secret = 0x0d0ca0d0ca0d0caf;
constexpr int not_itself = EBADMSG; ///< read something else than was written

bool is_in_initial_pid_namespace()
{
    constexpr ino_t initial = 0xeffffffc; // fixed by the kernel
    struct stat info {};
    return stat("/proc/self/ns/pid", &info) != 0 || info.st_ino == initial;
}

bool proc_shows_this_namespace()
{
    char target[32] = {};
    return readlink("/proc/self", target, sizeof(target) - 1) > 0 && target == std::to_string(getpid());
}

/// A memfd like those of the library, or the error.
int create_sealed_memfd(UniqueFd &fd)
{
    fd = UniqueFd(memfd_create("doca_caps", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd.is_open() || pwrite(fd.get(), &secret, sizeof(secret), 0) != sizeof(secret) ||
        fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return errno;
    return 0;
}

int try_pidfd()
{
    const UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
    return fd.is_open() ? 0 : errno;
}

int try_membarrier()
{
    const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (commands < 0)
        return errno;
    return (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 ? 0 : ENOSYS;
}

int try_process_vm(pid_t pid, const std::uint64_t &there)
{
    std::uint64_t here = 0;
    const iovec local = {&here, sizeof(here)};
    const iovec remote = {const_cast<std::uint64_t *>(&there), sizeof(there)};
    if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != sizeof(here))
        return errno;
    return here == secret ? 0 : not_itself;
}

int try_memory_file(pid_t pid, const std::uint64_t &there)
{
    const UniqueFd fd(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
    std::uint64_t here = 0;
    if (!fd.is_open() || pread(fd.get(), &here, sizeof(here), reinterpret_cast<off_t>(&there)) != sizeof(here))
        return errno;
    return here == secret ? 0 : not_itself;
}

int try_descriptor(pid_t pid, int number)
{
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number);
    const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd.is_open())
        return errno;
    void *const mapped = mmap(nullptr, sizeof(secret), PROT_READ, MAP_SHARED, fd.get(), 0);
    if (mapped == MAP_FAILED)
        return errno;
    const bool is_right = *static_cast<const std::uint64_t *>(mapped) == secret;
    munmap(mapped, sizeof(secret));
    return is_right ? 0 : not_itself;
}

/// What @p attempt returns in a child of this process: 0 or an errno value.
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
    std::uint64_t mask = 0;
    std::istringstream(status.substr(place + 7)) >> std::hex >> mask;
    return (mask >> number & 1) != 0;
}

std::string hidepid_in(const std::string &mountinfo)
{
    std::istringstream lines(mountinfo);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string skipped, place, type, source, options;
        for (int field = 1; field < 5; ++field)
            fields >> skipped;
        fields >> place;
        while (fields >> skipped && skipped != "-") {
        }
        if (place != "/proc" || !(fields >> type >> source >> options) || type != "proc")
            continue;
        found.clear(); // the last mount at a place is the one that is seen
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

    const std::uint64_t memory = secret;
    const pid_t exporter = getpid();
    facts.process_vm_error = try_process_vm(exporter, memory);
    facts.shared_memory_error = in_child([&] { return try_descriptor(exporter, memfd.get()); });
    // The child reads its parent, as Yama lets every process read its children.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    facts.ordinary_memory_error = in_child([&] {
        const int error = try_process_vm(exporter, memory);
        return error != 0 ? error : try_memory_file(exporter, memory);
    });
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
    return facts;
}

} // namespace opendoca::tools
