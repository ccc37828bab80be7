// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// AES-GCM without any API: the front ends turn their tasks into requests to a CryptQueue.
#pragma once

#include <cstdint>

#include "../core/device/device.hpp"
#include "../core/engine/completion_queue.hpp"
#include "../core/engine/sliced_queue.hpp"
#include "crypt_check.hpp"
#include "crypt_job.hpp"

namespace opendoca {

/// Encrypts and decrypts on the CPU of the completion queue's thread. A request with more than a slice of AAD and text
/// is processed in slices: 50 to 150 us of work each. Owned by a context, one for each of its completion queues; used
/// by that queue's thread only.
class CryptQueue final : public SlicedQueue {
public:
    /// Limits of a request.
    struct Limits {
        std::uint32_t list_elements; ///< buffers on a side
        std::uint64_t size;          ///< bytes of a source, and of a result
    };

    /// Throws std::bad_alloc. @p completions and @p device must outlive the object.
    CryptQueue(CompletionQueue &completions, Device &device, const Limits &limits);

    /// Starts @p request, which must not change until its completion is retrieved. Returns an error of CryptCheck,
    /// after a log line, or NO_MEMORY without a credit; nothing has then changed. Other errors, those of CryptJob, are
    /// reported by the completion.
    [[nodiscard]] doca_error_t submit(Tag tag, CryptRequest &request) noexcept;
    /// Returns the status that submit() would return, but for a full queue.
    [[nodiscard]] doca_error_t check(const CryptRequest &request) const noexcept
    {
        CryptPlan plan{};
        return check_.check(request, plan);
    }
    /// Returns whether a request that waits or is in progress uses @p key.
    [[nodiscard]] bool is_in_use(const GcmKey &key) const noexcept
    {
        return has_waiting([&](const Operation &operation) { return request_of(operation).key == &key; });
    }

private:
    [[nodiscard]] doca_error_t begin(Operation &operation) noexcept override;
    [[nodiscard]] doca_error_t advance() noexcept override { return job_.advance(slice_size); }
    [[nodiscard]] bool cancel() noexcept override;

    [[nodiscard]] static CryptRequest &request_of(const Operation &operation) noexcept
    {
        return *operation.payload<CryptRequest *>();
    }

    CryptJob job_;
    CryptCheck check_;
};

} // namespace opendoca
