// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

namespace opendoca {

/// A member of an object that publishes the object's address to users that may outlive it. Not thread-safe.
template <typename Object>
class WeakAddress {
public:
    WeakAddress() = default;
    WeakAddress(const WeakAddress &) = delete;
    WeakAddress &operator=(const WeakAddress &) = delete;
    ~WeakAddress()
    {
        if (address_ != nullptr)
            *address_ = nullptr;
    }

    /// Points to the address of @p owner, which contains this member; to null once that was destroyed. The first call
    /// allocates.
    [[nodiscard]] std::shared_ptr<Object *const> share(Object &owner)
    {
        if (address_ == nullptr)
            address_ = std::make_shared<Object *>(&owner);
        return address_;
    }

private:
    std::shared_ptr<Object *> address_;
};

} // namespace opendoca
