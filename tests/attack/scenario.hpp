// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A walk through the whole API of one generation by two processes, a host and a DPU. Each call may answer an error,
// whereupon the walk does without what it would have made; what both need is agreed upon by messages, so that none
// waits for what will not come.
//
// What no call has refused has to arrive: a message, a wake-up, the end of a job. Each side tells with all its messages
// whether a call of its has answered an error in this part of the walk. What a side has waited for in vain is a failure
// of the walk unless one has.
#pragma once

#include <chrono>
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

/// What happens in a walk.
enum class Trouble : std::uint8_t {
    none,        ///< all works
    one_failure, ///< of an allocation or a system call, in one of the two processes
    any,         ///< whatever the pages that they share can bring about
};

/// One process's part of the walk.
class Walk {
public:
    /// @p channel leads to the other process.
    Walk(Role role, int channel, Trouble trouble) noexcept : role_(role), channel_(channel), trouble_(trouble) {}

    /// All of it, or the part that walk_only() names: see walk.cpp of each generation. False when something was wrong,
    /// which was printed.
    [[nodiscard]] bool run();

    [[nodiscard]] bool is_host() const noexcept { return role_ == Role::host; }
    [[nodiscard]] std::uint64_t num_calls() const noexcept { return num_calls_; }
    [[nodiscard]] std::uint64_t num_refused() const noexcept { return num_refused_; }

    /// A call that has to succeed, or may fail: whether it has succeeded.
    template <typename Call>
    bool call(Call body, std::source_location where = std::source_location::current())
    {
        const std::uint64_t missed_before = num_missed_;
        const doca_error_t status = enter(body);
        if (status == DOCA_SUCCESS)
            return true;
        if (num_missed_ == missed_before)
            refused(where, status);
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
        if (status != DOCA_SUCCESS && may_fail()) {
            refused(where, status);
            status = enter(body);
        }
        if (status != DOCA_SUCCESS)
            complain(where, status);
    }
    /// What holds whatever has failed.
    void require(bool holds, const char *what, std::source_location where = std::source_location::current());
    /// What has to come unless a call was refused: in this part of the walk, by either side.
    void expect(bool has_come, const char *what, std::source_location where = std::source_location::current());
    /// Waits until @p fd is readable, but not for ever: false.
    [[nodiscard]] bool wait_for(int fd);

    [[nodiscard]] bool may_fail() const noexcept { return trouble_ != Trouble::none; }
    /// Whether a call was refused in this part of the walk, as far as is known here.
    [[nodiscard]] bool is_excused();

    /// Both processes give some bytes and get those of the other: nothing stands for "has failed".
    /// @p meanwhile is called again and again until the other one's are here.
    [[nodiscard]] std::vector<std::byte> exchange(std::span<const std::byte> mine,
                                                  const std::function<void()> &meanwhile = nullptr);
    /// Whether both say so.
    [[nodiscard]] bool agree(bool mine, const std::function<void()> &meanwhile = nullptr);

private:
    /// A part is walked by both, or by none.
    template <typename Part>
    void walk_part(const char *name, Part part)
    {
        if (!is_walked(name))
            return;
        part();
        end_part();
    }
    [[nodiscard]] static bool is_walked(const char *part);
    void end_part();
    void refused(std::source_location where, doca_error_t status);
    void complain(std::source_location where, doca_error_t status);
    void complain(std::source_location where, const char *what);

    Role role_;
    int channel_;
    Trouble trouble_;
    bool is_good_ = true;
    std::uint64_t num_calls_ = 0;
    std::uint64_t num_refused_ = 0;
    std::uint64_t num_missed_ = 0;
    // Of this part.
    bool is_refused_here_ = false;
    bool is_refused_there_ = false;
    const char *missed_ = nullptr; ///< the first
    std::source_location missed_where_;
};

/// From now on, walks are through this part alone. The other parts are tried as well if it is empty.
void walk_only(const std::string &part);

/// How long a part waits for what comes soon: long, unless it is known why it might not come.
class Patience {
public:
    explicit Patience(Walk &walk) : walk_(walk), start_(std::chrono::steady_clock::now()) {}
    [[nodiscard]] bool is_over() const;

private:
    Walk &walk_;
    std::chrono::steady_clock::time_point start_;
};

/// The library's log goes nowhere: its words are for others to test. What takes memory that stays until the process
/// ends is used once: the log's first line, and OpenSSL's ciphers.
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
