// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>

#include "../../log/log_sinks.hpp"
#include "../../process/fork.hpp"
#include "../log_api.hpp"
#include "symbols.hpp"

namespace {

/// The stream to which a program of these releases has redirected its messages. Never destroyed, like all backends. Any
/// thread may write; redirect() is called with `redirecting` held.
class Redirected final : public opendoca::LogSink {
public:
    explicit Redirected(FILE *stream) noexcept : stream_(stream) {}

    bool write(const opendoca::LogLine &line) noexcept override
    {
        // Acquire: pairs with the release store in redirect().
        FILE *const stream = stream_.load(std::memory_order_acquire);
        return std::fwrite(line.text.data(), 1, line.text.size(), stream) == line.text.size() &&
               std::fflush(stream) == 0;
    }
    void redirect(FILE *stream) noexcept { stream_.store(stream, std::memory_order_release); }

private:
    std::atomic<FILE *> stream_;
};

constinit opendoca::ForkSafeMutex redirecting;
const opendoca::ForkRegistration redirecting_registration(redirecting, opendoca::LockRank::log_setup);

} // namespace

doca_error_t opendoca_log_stream_redirect_1_3(FILE *stream)
{
    static constinit Redirected *current = nullptr;
    if (stream == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const std::lock_guard guard(redirecting);
    // Later calls change the stream of the same backend.
    if (current != nullptr) {
        current->redirect(stream);
        return DOCA_SUCCESS;
    }
    std::unique_ptr<Redirected> created(new (std::nothrow) Redirected(stream));
    if (created == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    Redirected *const sink = created.get();
    doca_logger_backend *backend = nullptr;
    const doca_error_t status =
        opendoca::add_sink(opendoca::v2::program_log, DOCA_SUCCESS, std::move(created), &backend);
    if (status == DOCA_SUCCESS)
        current = sink;
    return status;
}
