// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A walk through the whole API of one generation by two processes, a host and a DPU. Each call may answer an error, whereupon
// the walk does without what it would have made; what both need is agreed upon by messages, so that none
// waits for what will not come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doca_error.h>

#include "failing.hpp"

struct doca_dev;

namespace attack {

enum class Role : std::uint8_t { host, dpu };

/// One process's part of the walk.
class Walk {
public:
    /// @p channel leads to the other process. Only @p may_fail allows any call to answer an error that it has
    /// no reason for.
    Walk(Role role, int channel, bool may_fail) noexcept : role_(role), channel_(channel), may_fail_(may_fail)
    {
    }

    /// All of it: see walk.cpp of each generation. False when something was wrong, which was printed.
    [[nodiscard]] bool run();

    [[nodiscard]] bool is_host() const noexcept { return role_ == Role::host; }
    [[nodiscard]] std::uint64_t num_calls() const noexcept { return num_calls_; }
    [[nodiscard]] std::uint64_t num_refused() const noexcept { return num_refused_; }

    /// A call that has to succeed, or may fail: whether it has succeeded.
    template <typename Call>
    bool call(Call body, std::source_location where = std::source_location::current())
    {
        const doca_error_t status = enter(body);
        if (status == DOCA_SUCCESS)
            return true;
        ++num_refused_;
        if (!may_fail_)
            complain(where, status);
        return false;
    }
    /// The same, without a word about how it ends.
    template <typename Call>
    doca_error_t enter(Call body)
    {
        ++num_calls_;
        const Inside inside;
        return body();
    }
    /// What was made is taken down: at the second attempt at the latest, since one thing fails only once.
    template <typename Call>
    void undo(Call body, std::source_location where = std::source_location::current())
    {
        doca_error_t status = enter(body);
        if (status != DOCA_SUCCESS && may_fail_)
            status = enter(body);
        if (status != DOCA_SUCCESS)
            complain(where, status);
    }
    void require(bool holds, const char *what, std::source_location where = std::source_location::current());
    /// For results of what was shared: they are right unless something has failed before.
    [[nodiscard]] bool may_fail() const noexcept { return may_fail_; }

    /// Both processes give some bytes and get those of the other: nothing stands for "has failed".
    /// @p meanwhile is called again and again until the other one's are here.
    [[nodiscard]] std::vector<std::byte> exchange(std::span<const std::byte> mine,
                                                  const std::function<void()> &meanwhile = nullptr);
    /// Whether both say so.
    [[nodiscard]] bool agree(bool mine, const std::function<void()> &meanwhile = nullptr);

private:
    void complain(std::source_location where, doca_error_t status);

    Role role_;
    int channel_;
    bool may_fail_;
    bool is_good_ = true;
    std::uint64_t num_calls_ = 0;
    std::uint64_t num_refused_ = 0;
};

/// The library's log goes nowhere: its words are for others to test. The first line takes memory that stays.
void silence();

[[nodiscard]] const char *name_of(doca_error_t status);

/// An object of the API that is taken down at the end.
template <typename T>
class Owned {
public:
    Owned(Walk &walk, doca_error_t (*destroy)(T *),
          std::source_location where = std::source_location::current()) noexcept
        : walk_(walk),
          destroy_(destroy),
          where_(where)
    {
    }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;
    ~Owned() { reset(); }

    void reset()
    {
        if (T *const object = std::exchange(object_, nullptr); object != nullptr)
            walk_.undo([&] { return destroy_(object); }, where_);
    }
    [[nodiscard]] T *get() const noexcept { return object_; }
    operator T *() const noexcept { return object_; }
    [[nodiscard]] T **out() noexcept { return &object_; }

private:
    Walk &walk_;
    doca_error_t (*destroy_)(T *);
    std::source_location where_;
    T *object_ = nullptr;
};

/// An open device.
class Device {
public:
    Device(Walk &walk, const char *name);

    /// False when it is not there, or something has failed.
    [[nodiscard]] bool is_open() const noexcept { return dev_.get() != nullptr; }
    operator doca_dev *() const noexcept { return dev_; }

private:
    Owned<doca_dev> dev_;
};

/// Does something at the end.
class AtEnd {
public:
    explicit AtEnd(std::function<void()> body) : body_(std::move(body)) {}
    AtEnd(const AtEnd &) = delete;
    AtEnd &operator=(const AtEnd &) = delete;
    ~AtEnd() { body_(); }

private:
    std::function<void()> body_;
};

} // namespace attack
