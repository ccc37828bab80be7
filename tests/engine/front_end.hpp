// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A front end that is none of DOCA's: tasks that carry a callback, and a progress call that runs it. It stands on
// the engine as the API generations do, and shows what one needs of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "../../src/core/engine/completion_queue.hpp"

namespace doca_test {

/// One operation, from its submission to its callback. May be submitted again, also in the callback.
class Task {
public:
    using Callback = std::function<void(Task &)>;

    explicit Task(Callback callback = [](Task &) {}) : callback_(std::move(callback)) {}
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    /// What an operation is submitted with.
    [[nodiscard]] opendoca::Tag tag() { return {reinterpret_cast<std::uintptr_t>(this), magic}; }
    [[nodiscard]] static Task &of(opendoca::Tag tag)
    {
        if (tag.b != magic)
            throw std::logic_error("a tag that is no task's");
        return *reinterpret_cast<Task *>(tag.a);
    }

    [[nodiscard]] bool has_ended() const { return num_ends_ != 0; }
    [[nodiscard]] int num_ends() const { return num_ends_; }
    [[nodiscard]] doca_error_t status() const { return ended_.status; }
    [[nodiscard]] const opendoca::Result &result() const { return ended_.result; }

private:
    friend class TaskEngine;
    static constexpr std::uint64_t magic = 0x7a5c;

    void end(const opendoca::Ended &ended)
    {
        ended_ = ended;
        ++num_ends_;
        callback_(*this);
    }

    Callback callback_;
    opendoca::Ended ended_{};
    int num_ends_ = 0;
};

/// Where the tasks of one thread end.
class TaskEngine {
public:
    explicit TaskEngine(std::uint32_t depth = 64, bool is_event_driven = false) : completions(depth)
    {
        if (is_event_driven && completions.set_event_driven(true) != DOCA_SUCCESS)
            throw std::runtime_error("no event handle");
    }

    /// Runs the callbacks of what has ended: false when there was nothing.
    bool progress()
    {
        opendoca::Ended ended{};
        if (completions.is_empty()) {
            if (opendoca::Operation *const operation = completions.poll()) {
                ended = {operation->tag, operation->source, DOCA_SUCCESS, operation->result()};
                completions.release(*operation);
                Task::of(ended.tag).end(ended);
                return true;
            }
        }
        if (!completions.pop(ended))
            return false;
        Task::of(ended.tag).end(ended);
        return true;
    }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            if (!progress())
                std::this_thread::yield();
        }
    }
    void run(const Task &task)
    {
        run_until([&] { return task.has_ended(); });
    }

    opendoca::CompletionQueue completions;
};

} // namespace doca_test
