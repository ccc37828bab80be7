// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "aes_gcm.hpp"

namespace opendoca::v3 {

/// A pool of encryptions or decryptions. Owned by its TaskType.
template <typename Task, GcmDirection direction>
class CryptTasks final : public PoolOf<Task> {
public:
    CryptTasks(doca_aes_gcm &owner, const TaskConf &configuration, CryptQueue &crypts)
        : PoolOf<Task>(owner, configuration, false, true),
          owner_(owner),
          crypts_(crypts)
    {
    }

    /// The task's own errors are reported by its completion. A full queue cannot occur: the context's queue has a
    /// credit for each task.
    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        auto &task = static_cast<CryptTask &>(base);
        doca_error_t status = owner_.check_key(task.key);
        if (status == DOCA_SUCCESS) [[likely]] {
            task.request.key = task.key->cipher.get();
            task.request.direction = direction;
            status = crypts_.submit(task.tag(), task.request);
        }
        if (status != DOCA_SUCCESS) [[unlikely]]
            owner_.completions().done(task.tag(), crypts_, status);
        return DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        const auto &task = static_cast<const CryptTask &>(base);
        if (const doca_error_t status = owner_.check_key(task.key); status != DOCA_SUCCESS)
            return status;
        CryptRequest request = task.request;
        request.direction = direction;
        return crypts_.check(request);
    }
    void abandoned(doca_task &base) noexcept override { crypts_.drop(base.tag()); }

private:
    doca_aes_gcm &owner_;
    CryptQueue &crypts_;
};

} // namespace opendoca::v3
