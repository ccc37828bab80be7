// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ready_descriptors.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "../base/guard.hpp"

namespace opendoca {

ReadyDescriptors::ReadyDescriptors(CompletionQueue &root) : root_(root)
{
    root_.reserve_polled();
}

ReadyDescriptors::~ReadyDescriptors()
{
    root_.stop_polling(*this);
    root_.unreserve_polled();
}

bool ReadyDescriptors::add(int fd, CompletionQueue &queue) noexcept
{
    const auto index = static_cast<std::size_t>(fd);
    const doca_error_t status = guarded([&] {
        if (index >= by_descriptor_.size())
            by_descriptor_.resize(index + 1);
        return DOCA_SUCCESS;
    });
    if (status != DOCA_SUCCESS)
        return false;
    by_descriptor_[index] = &queue;
    if (num_added_++ == 0)
        root_.start_polling(*this);
    return true;
}

void ReadyDescriptors::remove(int fd) noexcept
{
    by_descriptor_[static_cast<std::size_t>(fd)] = nullptr;
    if (--num_added_ == 0)
        root_.stop_polling(*this);
}

void ReadyDescriptors::progress() noexcept
{
    if (is_due_ || polls_between_calls_.is_spent()) [[unlikely]]
        resume_ready();
}

void ReadyDescriptors::resume_ready() noexcept
{
    is_due_ = false;
    polls_between_calls_.restart();
    std::array<int, 64> ready; // the next call returns further ones
    const std::size_t count = root_.readable_descriptors(ready);
    for (std::size_t i = 0; i != count; ++i) {
        const auto index = static_cast<std::size_t>(ready[i]);
        if (index < by_descriptor_.size() && by_descriptor_[index] != nullptr)
            by_descriptor_[index]->resume();
    }
    is_due_ = count == ready.size();
}

} // namespace opendoca
