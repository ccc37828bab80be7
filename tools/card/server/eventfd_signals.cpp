// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "eventfd_signals.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <type_traits>

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace opendoca::card {

static_assert(std::is_same_v<aio_context_t, unsigned long>);

EventfdSignals::~EventfdSignals()
{
    if (context_ != 0)
        syscall(SYS_io_destroy, context_);
}

int EventfdSignals::open()
{
    if (context_ != 0)
        return 0;
    constexpr unsigned writes_at_a_time = 1;
    null_device_ = UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (null_device_.is_open() && syscall(SYS_io_setup, writes_at_a_time, &context_) == 0)
        return 0;
    const int error = errno;
    std::fprintf(stderr, "the card cannot signal eventfds: %s: %s\n", null_device_.is_open() ? "io_setup" : "/dev/null",
                 std::strerror(error));
    return error;
}

void EventfdSignals::send(int eventfd) const
{
    iocb write{};
    write.aio_lio_opcode = IOCB_CMD_PWRITE;
    write.aio_fildes = static_cast<std::uint32_t>(null_device_.get());
    write.aio_flags = IOCB_FLAG_RESFD;
    write.aio_resfd = static_cast<std::uint32_t>(eventfd);
    iocb *const writes[] = {&write};
    // The write ends before io_submit() returns, since /dev/null knows no other way. What has ended is taken, or else
    // there would be no room for the next.
    syscall(SYS_io_submit, context_, std::size(writes), writes);
    std::array<io_event, 8> ended;
    timespec no_time{};
    syscall(SYS_io_getevents, context_, 0L, static_cast<long>(ended.size()), ended.data(), &no_time);
}

} // namespace opendoca::card
