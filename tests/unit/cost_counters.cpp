// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cost_counters.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace doca_test {

namespace {

thread_local bool is_counting = false;
thread_local Costs costs;

void count_allocation(std::size_t size) noexcept
{
    if (is_counting) {
        ++costs.allocations;
        costs.bytes += size;
    }
}

void count_lock() noexcept
{
    if (is_counting)
        ++costs.locks;
}

void on_system_call(int, siginfo_t *, void *context) noexcept
{
    ++costs.system_calls;
    auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    registers.gregs[REG_RAX] = -ENOSYS;
#elif defined(__aarch64__)
    registers.regs[0] = static_cast<unsigned long long>(-ENOSYS);
#endif
}

/// The function that would be called without this file.
template <typename Function>
Function *next(const char *name) noexcept
{
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace

void begin_counting() noexcept
{
    costs = {};
    is_counting = true;
}

Costs end_counting() noexcept
{
    is_counting = false;
    return costs;
}

bool trap_system_calls() noexcept
{
    struct sigaction action = {};
    action.sa_sigaction = on_system_call;
    action.sa_flags = SA_SIGINFO;
    if (sigaction(SIGSYS, &action, nullptr) != 0)
        return false;
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter = {.len = std::size(program), .filter = program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace doca_test

// The C library's own, behind the names that it leaves to us.
extern "C" {
void *__libc_malloc(std::size_t size);
void *__libc_calloc(std::size_t count, std::size_t size);
void *__libc_realloc(void *memory, std::size_t size);
void *__libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void *memory);

void *malloc(std::size_t size) noexcept
{
    doca_test::count_allocation(size);
    return __libc_malloc(size);
}

void *calloc(std::size_t count, std::size_t size) noexcept
{
    doca_test::count_allocation(count * size);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, std::size_t size) noexcept
{
    doca_test::count_allocation(size);
    return __libc_realloc(memory, size);
}

void *aligned_alloc(std::size_t alignment, std::size_t size) noexcept
{
    doca_test::count_allocation(size);
    return __libc_memalign(alignment, size);
}

void *memalign(std::size_t alignment, std::size_t size) noexcept
{
    doca_test::count_allocation(size);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, std::size_t alignment, std::size_t size) noexcept
{
    doca_test::count_allocation(size);
    *memory = __libc_memalign(alignment, size);
    return *memory == nullptr ? ENOMEM : 0;
}

void free(void *memory) noexcept
{
    doca_test::count_allocation(0);
    __libc_free(memory);
}

#define COUNTED(name, type)                                                                                            \
    int name(type *object) noexcept                                                                                    \
    {                                                                                                                  \
        static auto *const original = doca_test::next<int(type *)>(#name);                                             \
        doca_test::count_lock();                                                                                       \
        return original(object);                                                                                       \
    }

COUNTED(pthread_mutex_lock, pthread_mutex_t)
COUNTED(pthread_mutex_trylock, pthread_mutex_t)
COUNTED(pthread_mutex_unlock, pthread_mutex_t)
COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_wrlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_unlock, pthread_rwlock_t)
COUNTED(pthread_spin_lock, pthread_spinlock_t)
COUNTED(pthread_spin_unlock, pthread_spinlock_t)
COUNTED(pthread_cond_signal, pthread_cond_t)
COUNTED(pthread_cond_broadcast, pthread_cond_t)
}
