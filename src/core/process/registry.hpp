// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "fork.hpp"

namespace opendoca {

/// Objects that are found by key, at most one for each, and shared by all users. Each object removes itself when it
/// is destroyed, so that no sweep is needed. The registry is never destroyed, because objects may outlive the program's
/// static objects.
template <typename Key, typename Object, LockRank rank>
class Registry {
public:
    [[nodiscard]] static Registry &instance() noexcept { return instance_; }

    /// Held by the caller over find() and the add() that follows. The last reference to an object must not be released
    /// while it is held, because remove() locks it.
    ForkSafeMutex lock;

    /// Returns the object of @p key, or null.
    [[nodiscard]] std::shared_ptr<Object> find(const Key &key)
    {
        if (!creator_.is_current())
            forget_all();
        const auto known = objects_.find(key);
        return known != objects_.end() ? known->second.lock() : nullptr;
    }
    void add(const Key &key, const std::shared_ptr<Object> &object)
    {
        if (!creator_.is_current())
            forget_all();
        objects_[key] = object;
    }
    /// Called by the destructor of the object of @p key.
    void remove(const Key &key) noexcept
    {
        const std::lock_guard guard(lock);
        const auto known = objects_.find(key);
        if (known != objects_.end() && known->second.expired()) // otherwise a new object has taken the key
            objects_.erase(known);
    }

private:
    /// A forked child makes its own.
    void forget_all()
    {
        objects_.clear();
        creator_ = {};
    }

    static Registry &instance_;

    std::map<Key, std::weak_ptr<Object>> objects_;
    CreatorProcess creator_;
    const ForkRegistration fork_registration_{lock, rank};
};

template <typename Key, typename Object, LockRank rank>
Registry<Key, Object, rank> &Registry<Key, Object, rank>::instance_ = *new Registry;

} // namespace opendoca
