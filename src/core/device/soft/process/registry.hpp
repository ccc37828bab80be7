// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "../../../fork.hpp"

namespace opendoca::soft {

/// What this process has once, whoever asks for it, by key. Objects are shared; each takes itself out at its end, so
/// that nobody has to sweep. Never destroyed: objects may outlive what is destroyed at the end of the program.
template <typename Key, typename Object, LockRank rank>
class Registry {
public:
    [[nodiscard]] static Registry &instance() noexcept { return instance_; }

    /// Whoever looks and then adds does both under it. No object may end under it: remove() takes it.
    ForkSafeMutex lock;

    /// Null when there is none.
    [[nodiscard]] std::shared_ptr<Object> find(const Key &key)
    {
        if (!home_.is_here())
            forget_all();
        const auto known = objects_.find(key);
        return known != objects_.end() ? known->second.lock() : nullptr;
    }
    void add(const Key &key, const std::shared_ptr<Object> &object)
    {
        if (!home_.is_here())
            forget_all();
        objects_[key] = object;
    }
    /// For the end of the object of @p key.
    void remove(const Key &key) noexcept
    {
        const std::lock_guard guard(lock);
        const auto known = objects_.find(key);
        if (known != objects_.end() && known->second.expired()) // else there is another one meanwhile
            objects_.erase(known);
    }

private:
    /// A forked child makes its own.
    void forget_all()
    {
        objects_.clear();
        home_ = {};
    }

    static Registry &instance_;

    std::map<Key, std::weak_ptr<Object>> objects_;
    HomeProcess home_;
    const ForkRegistration fork_registration_{lock, rank};
};

template <typename Key, typename Object, LockRank rank>
Registry<Key, Object, rank> &Registry<Key, Object, rank>::instance_ = *new Registry;

} // namespace opendoca::soft
