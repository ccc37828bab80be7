// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The two sides of the SHA benchmark: jobs on a device, and a loop of OpenSSL's functions over the same
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <openssl/evp.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_sha.h>

#include "../../common/doca.hpp"
#include "../measure.hpp"

namespace opendoca::tools {

struct ShaAlgorithm {
    const char *name; ///< OpenSSL's, and that of --algorithms
    doca_sha_job_type job;
    std::size_t digest_size;
};

[[nodiscard]] std::span<const ShaAlgorithm> sha_algorithms();

/// A device that does SHA, a running SHA context, its work queue, and mapped memory.
class ShaSession {
public:
    /// @p ibdev names the device; empty takes the first that can.
    ShaSession(const std::string &ibdev, std::size_t largest);
    ShaSession(const ShaSession &) = delete;
    ShaSession &operator=(const ShaSession &) = delete;
    ~ShaSession();

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    [[nodiscard]] bool is_hardware() const noexcept { return is_hardware_; }
    [[nodiscard]] doca_workq *workq() const noexcept { return workq_.get(); }
    [[nodiscard]] doca_ctx *ctx() const noexcept { return doca_sha_as_ctx(sha_.get()); }
    /// What is hashed: as many bytes as the largest message has.
    [[nodiscard]] std::span<const std::byte> message() const noexcept { return message_; }
    /// Buffers of the message's first @p size bytes, and of room for @p size bytes of a digest.
    [[nodiscard]] doca_buf *take_request(std::size_t size);
    [[nodiscard]] doca_buf *take_response(std::size_t size);

private:
    std::string ibdev_;
    bool is_hardware_ = false;
    std::vector<std::byte> message_;
    std::vector<std::byte> digest_;
    DeviceHandle dev_;
    Handle<doca_sha, doca_sha_destroy> sha_;
    Handle<doca_workq, doca_workq_destroy> workq_;
    Handle<doca_mmap, doca_mmap_destroy> map_;
    Handle<doca_mmap, doca_mmap_destroy> digest_map_;
    Handle<doca_buf_inventory, doca_buf_inventory_destroy> inventory_;
};

/// Hashes by jobs, one at a time.
class ShaJobLoop final : public Variant {
public:
    ShaJobLoop(ShaSession &session, const ShaAlgorithm &algorithm, std::size_t size);
    ~ShaJobLoop() override;
    void run(std::size_t count) override;
    /// Of the last one.
    [[nodiscard]] std::vector<std::byte> digest() const;

private:
    doca_workq *workq_;
    doca_buf *request_;
    doca_buf *response_;
    doca_sha_job job_{};
};

/// The same by OpenSSL's functions.
class EvpLoop final : public Variant {
public:
    EvpLoop(const ShaAlgorithm &algorithm, std::span<const std::byte> message);
    void run(std::size_t count) override;
    [[nodiscard]] std::vector<std::byte> digest() const;

private:
    struct Free {
        void operator()(EVP_MD_CTX *digest) const noexcept { EVP_MD_CTX_free(digest); }
    };

    std::span<const std::byte> message_;
    std::unique_ptr<EVP_MD_CTX, Free> state_;
    std::vector<std::byte> digest_;
};

} // namespace opendoca::tools
