// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// AES-GCM without any API: the front ends turn their tasks into requests to a CryptQueue.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "../core/device/device.hpp"
#include "../core/engine/completion_queue.hpp"
#include "crypt_check.hpp"
#include "crypt_job.hpp"

namespace opendoca {

/// Encrypts and decrypts on the CPU of the completion queue's thread. A short request completes within its submission.
/// A long one is processed in slices, so that other contexts of the thread are served in between; requests that are
/// submitted meanwhile wait for it, so those that are not refused complete in the order of submission. Owned by a
/// context, one for each of its completion queues; used by that queue's thread only. Its part as a Pollable is to wake
/// an armed queue at once while a request waits; it is not polled otherwise.
class CryptQueue final : public Source, public Pollable {
public:
    /// Limits of a request.
    struct Limits {
        std::uint32_t list_elements; ///< buffers on a side
        std::uint64_t size;          ///< bytes of a source, and of a result
    };

    /// Bytes of AAD and text that are processed in one go: 50 to 150 us of work.
    static constexpr std::size_t slice = std::size_t{256} << 10;

    /// Throws std::bad_alloc. @p completions and @p device must outlive the object.
    CryptQueue(CompletionQueue &completions, Device &device, const Limits &limits);
    ~CryptQueue() override;

    /// Starts @p request, which must not change until its completion is retrieved. Returns INVALID_VALUE or
    /// NOT_PERMITTED after a log line, or NO_MEMORY without a credit; nothing has then changed. Other errors, those of
    /// CryptJob, are reported by the completion.
    [[nodiscard]] doca_error_t submit(Tag tag, CryptRequest &request) noexcept;
    /// Returns the status that submit() would return, but for a full queue.
    [[nodiscard]] doca_error_t check(const CryptRequest &request) const noexcept
    {
        CryptPlan plan{};
        return check_.check(request, plan);
    }
    /// Ends @p request with SHUTDOWN if it waits or is in progress, while its buffers still exist. Does nothing if it
    /// has completed.
    void drop(const CryptRequest &request) noexcept;
    /// Returns whether a request that waits or is in progress uses @p key.
    [[nodiscard]] bool is_in_use(const GcmKey &key) const noexcept;

    /// Completes the requests that wait, and the one in progress, with SHUTDOWN.
    void flush() noexcept override;
    /// Processes a slice of the oldest request that waits. Returns false if there is none. The front end calls this for
    /// as long as is_waiting() is set, and reports its result as progress.
    [[nodiscard]] bool process_slice() noexcept;
    [[nodiscard]] const std::atomic<bool> &is_waiting() const noexcept { return is_waiting_; }

    void progress() noexcept override {}
    [[nodiscard]] bool arm() noexcept override { return num_waiting_ != 0; }

private:
    /// Returns the place in the ring of the request that is number @p index of those that wait, from the oldest on.
    [[nodiscard]] Operation *&waiting(std::uint32_t index) const noexcept
    {
        return waiting_[(first_waiting_ + index) % completions_.depth()];
    }
    [[nodiscard]] static CryptRequest &request_of(Operation &operation) noexcept
    {
        return *operation.payload<CryptRequest *>();
    }
    void complete_oldest(doca_error_t status) noexcept;

    CompletionQueue &completions_;
    CryptJob job_;
    CryptCheck check_;
    /// Requests in the order of submission, the oldest one in progress: a ring of the completion queue's depth.
    std::unique_ptr<Operation *[]> waiting_;
    std::uint32_t first_waiting_ = 0;
    std::uint32_t num_waiting_ = 0;
    std::atomic<bool> is_waiting_{false}; ///< num_waiting_ is not 0; only the queue's thread writes it
    bool is_in_progress_ = false;         ///< job_ has the oldest request
};

} // namespace opendoca
