// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ring.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>

#include "../core/base/sealed_file.hpp"

namespace opendoca::comm_channel {

namespace {

std::size_t memory_size(RingShape to_service, RingShape to_client) noexcept
{
    return sizeof(SharedPage) + to_service.bytes() + to_client.bytes();
}

// A waiter stores "armed" and then loads the counter; the other side stores the counter and then loads "armed". All
// four operations are sequentially consistent, so at least one side sees the other's store and no wake-up is lost.

void arm(std::atomic<std::uint32_t> &armed) noexcept
{
    if (armed.load() == 0)
        armed.store(1);
}

/// Clears @p armed and returns whether it was set.
bool disarm(std::atomic<std::uint32_t> &armed) noexcept
{
    return armed.load() != 0 && armed.exchange(0) != 0;
}

} // namespace

void SendRing::attach(RingState &state, std::byte *records, RingShape shape) noexcept
{
    *this = SendRing();
    state_ = &state;
    records_ = records;
    shape_ = shape;
}

RingResult SendRing::check_space() noexcept
{
    // The cached count suffices most of the time, so that a send does not load the line that the receiver writes.
    if (sent_ - received_ < shape_.messages)
        return RingResult::done;
    // Acquires the store in free_records(): the records of received messages may be overwritten.
    const std::uint64_t received = state_->received.load();
    if (sent_ - received > shape_.messages)
        return RingResult::damaged;
    received_ = received;
    return sent_ - received_ < shape_.messages ? RingResult::done : RingResult::nothing;
}

RingResult SendRing::send(const void *message, std::size_t length, std::uint32_t kind) noexcept
{
    if (const RingResult space = check_space(); space != RingResult::done)
        return space;
    const std::size_t size = shape_.bytes();
    // Prefix: the kind in the upper half, the length in the lower. It never wraps around; the bytes after it may.
    const std::uint64_t prefix = std::uint64_t{kind} << 32 | length;
    std::memcpy(records_ + at_, &prefix, sizeof(prefix));
    const std::size_t start = (at_ + sizeof(prefix)) % size;
    const std::size_t first = std::min(length, size - start);
    std::memcpy(records_ + start, message, first);
    std::memcpy(records_, static_cast<const std::byte *>(message) + first, length - first);
    at_ = (at_ + RingShape::record(length)) % size;
    state_->sent.store(++sent_); // pairs with the load in check_message()
    return RingResult::done;
}

bool SendRing::disarm_for_message() noexcept
{
    return disarm(state_->armed_for_message);
}

void SendRing::rearm_for_message() noexcept
{
    arm(state_->armed_for_message);
}

void SendRing::arm_for_space() noexcept
{
    arm(state_->armed_for_space);
}

std::uint64_t SendRing::in_flight() const noexcept
{
    return std::min<std::uint64_t>(sent_ - state_->received.load(std::memory_order_relaxed), shape_.messages);
}

std::uint64_t SendRing::num_received() const noexcept
{
    return state_->received.load();
}

void ReceiveRing::attach(RingState &state, const std::byte *records, RingShape shape) noexcept
{
    *this = ReceiveRing();
    state_ = &state;
    records_ = records;
    shape_ = shape;
}

RingResult ReceiveRing::check_message() const noexcept
{
    // Acquires the store in send(): the record is complete.
    const std::uint64_t waiting = state_->sent.load() - received_;
    if (waiting == 0)
        return RingResult::nothing;
    return waiting <= shape_.messages ? RingResult::done : RingResult::damaged;
}

RingResult ReceiveRing::receive(void *message, std::size_t &length, std::uint32_t &kind) noexcept
{
    const RingResult result = take(message, length, kind);
    if (result == RingResult::done)
        free_records(received_);
    return result;
}

void ReceiveRing::free_records(std::uint64_t count) noexcept
{
    state_->received.store(count); // pairs with check_space()
}

RingResult ReceiveRing::take(void *message, std::size_t &length, std::uint32_t &kind) noexcept
{
    if (const RingResult result = check_message(); result != RingResult::done)
        return result;
    const std::size_t size = shape_.bytes();
    // Read once: the sender could change it between the check and the use. Volatile keeps the compiler from loading it
    // again.
    const std::uint64_t prefix = *reinterpret_cast<const volatile std::uint64_t *>(records_ + at_);
    const std::size_t arrived = prefix & UINT32_MAX;
    const auto message_kind = static_cast<std::uint32_t>(prefix >> 32);
    if (arrived == 0 || arrived > shape_.max_length(message_kind))
        return RingResult::damaged;
    if (arrived > length) {
        length = arrived;
        return RingResult::too_long;
    }
    const std::size_t start = (at_ + sizeof(prefix)) % size;
    const std::size_t first = std::min(arrived, size - start);
    std::memcpy(message, records_ + start, first);
    std::memcpy(static_cast<std::byte *>(message) + first, records_, arrived - first);
    at_ = (at_ + RingShape::record(arrived)) % size;
    length = arrived;
    kind = message_kind;
    ++received_;
    return RingResult::done;
}

bool ReceiveRing::disarm_for_space() noexcept
{
    return disarm(state_->armed_for_space);
}

void ReceiveRing::rearm_for_space() noexcept
{
    arm(state_->armed_for_space);
}

void ReceiveRing::arm_for_message() noexcept
{
    arm(state_->armed_for_message);
}

SharedMemory::SharedMemory(SharedMemory &&other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(other.size_),
      to_service_bytes_(other.to_service_bytes_)
{
}

SharedMemory &SharedMemory::operator=(SharedMemory &&other) noexcept
{
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    std::swap(to_service_bytes_, other.to_service_bytes_);
    return *this;
}

SharedMemory::~SharedMemory()
{
    close();
}

void SharedMemory::close() noexcept
{
    if (base_ != nullptr)
        munmap(std::exchange(base_, nullptr), size_);
}

bool SharedMemory::create(RingShape to_service, RingShape to_client, UniqueFd &file)
{
    constexpr SealedFor use = SealedFor::all_writers;
    const std::size_t size = memory_size(to_service, to_client);
    for (int tries = 0; tries != max_tries_to_seal; ++tries) {
        UniqueFd made = create_file_to_seal("opendoca-comm-channel", size, use);
        if (made.is_open() && seal_file(made.get(), size, use) && map(to_service, to_client, made.get())) {
            file = std::move(made);
            return true;
        }
        if (errno != EBUSY)
            return false;
    }
    return false;
}

bool SharedMemory::open(RingShape to_service, RingShape to_client, const UniqueFd &file)
{
    struct stat status {};
    return is_sealed_file(file.get(), SealedFor::all_writers, status) &&
           static_cast<std::size_t>(status.st_size) == memory_size(to_service, to_client) &&
           map(to_service, to_client, file.get());
}

bool SharedMemory::map(RingShape to_service, RingShape to_client, int file)
{
    const std::size_t size = memory_size(to_service, to_client);
    void *const base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED)
        return false;
    close();
    base_ = static_cast<std::byte *>(base);
    size_ = size;
    to_service_bytes_ = to_service.bytes();
    return true;
}

} // namespace opendoca::comm_channel
