// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A device with SHA, what a digest takes, and the digests that OpenSSL makes of the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <openssl/evp.h>

#include <doca_sha.h>

#include "dma_fixture.hpp"

namespace doca_test {

using ShaHandle = Handle<doca_sha, doca_sha_destroy>;

/// A predicate for devices_that().
inline bool can_hash(doca_devinfo *info)
{
    return doca_sha_job_get_supported(info, DOCA_SHA_JOB_SHA256) == DOCA_SUCCESS;
}

/// One of the three digests, and its two job types.
struct ShaKind {
    const char *name; ///< OpenSSL's
    doca_sha_job_type job;
    doca_sha_job_type partial_job;
    std::size_t digest_size;
    std::size_t block_size;
};

constexpr ShaKind sha_kinds[] = {
    {"SHA1", DOCA_SHA_JOB_SHA1, DOCA_SHA_JOB_SHA1_PARTIAL, 20, 64},
    {"SHA256", DOCA_SHA_JOB_SHA256, DOCA_SHA_JOB_SHA256_PARTIAL, 32, 64},
    {"SHA512", DOCA_SHA_JOB_SHA512, DOCA_SHA_JOB_SHA512_PARTIAL, 64, 128},
};

inline std::string hex(std::span<const std::byte> bytes)
{
    std::string text;
    for (const std::byte byte : bytes) {
        text += "0123456789abcdef"[static_cast<unsigned>(byte) >> 4];
        text += "0123456789abcdef"[static_cast<unsigned>(byte) & 15];
    }
    return text;
}

/// By OpenSSL alone, in hexadecimal.
inline std::string openssl_digest(const ShaKind &kind, std::span<const std::byte> message)
{
    std::byte digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    must_hold(EVP_Digest(message.data(), message.size(), reinterpret_cast<unsigned char *>(digest), &size,
                         EVP_get_digestbyname(kind.name), nullptr) == 1,
              "OpenSSL's digest");
    return hex({digest, size});
}

inline doca_sha_job sha_job(doca_ctx *ctx, const ShaKind &kind, doca_buf *request, doca_buf *response)
{
    doca_sha_job job = {};
    job.base.type = kind.job;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = ctx;
    job.base.user_data.u64 = 0x5eed;
    job.req_buf = request;
    job.resp_buf = response;
    job.flags = DOCA_SHA_JOB_FLAGS_NONE;
    return job;
}

inline doca_sha_partial_job piece_job(doca_ctx *ctx, const ShaKind &kind, doca_buf *request, doca_buf *response,
                                      doca_sha_partial_session *session, bool is_last)
{
    doca_sha_partial_job job = {sha_job(ctx, kind, request, response), session};
    job.sha_job.base.type = kind.partial_job;
    job.sha_job.flags = is_last ? DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL : DOCA_SHA_JOB_FLAGS_NONE;
    return job;
}

/// A started SHA context with a work queue on it. Jobs are to be retrieved before its end.
class ShaEngine {
public:
    explicit ShaEngine(doca_dev *dev, std::uint32_t depth = 32, bool is_event_driven = false)
    {
        must(doca_sha_create(sha_.out()));
        ctx_ = doca_sha_as_ctx(sha_);
        must(doca_ctx_dev_add(ctx_, dev));
        must(doca_ctx_start(ctx_));
        must(doca_workq_create(depth, workq_.out()));
        if (is_event_driven)
            must(doca_workq_set_event_driven_enable(workq_, 1));
        must(doca_ctx_workq_add(ctx_, workq_));
    }
    ShaEngine(const ShaEngine &) = delete;
    ShaEngine &operator=(const ShaEngine &) = delete;
    ~ShaEngine()
    {
        EXPECT_EQ(doca_ctx_workq_rm(ctx_, workq_), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_stop(ctx_), DOCA_SUCCESS);
    }

    [[nodiscard]] doca_sha *sha() const { return sha_; }
    [[nodiscard]] doca_ctx *ctx() const { return ctx_; }
    [[nodiscard]] doca_workq *workq() const { return workq_; }

    [[nodiscard]] doca_error_t submit(const doca_sha_job &job) const { return doca_workq_submit(workq_, &job.base); }
    [[nodiscard]] doca_error_t submit(const doca_sha_partial_job &job) const { return submit(job.sha_job); }

    /// The result of the next job, which has to be one of @p type.
    [[nodiscard]] doca_error_t result_of(int type) const
    {
        doca_event event = {};
        const doca_error_t status = wait_for(workq_, event);
        const auto result = static_cast<doca_error_t>(event.result.u64);
        EXPECT_EQ(status, result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(event.type, type);
        EXPECT_EQ(event.user_data.u64, 0x5eedu);
        return result;
    }

    /// From submit to retrieve: what submit said, or the job's own result.
    template <typename Job>
    [[nodiscard]] doca_error_t run(const Job &job) const
    {
        if (const doca_error_t status = submit(job); status != DOCA_SUCCESS)
            return status;
        return result_of(reinterpret_cast<const doca_job &>(job).type);
    }
    [[nodiscard]] doca_error_t hash(const ShaKind &kind, doca_buf *request, doca_buf *response) const
    {
        return run(sha_job(ctx_, kind, request, response));
    }

private:
    ShaHandle sha_;
    doca_ctx *ctx_ = nullptr;
    WorkqHandle workq_;
};

/// A session of an engine.
class Session {
public:
    explicit Session(const ShaEngine &engine) : engine_(engine)
    {
        must(doca_sha_partial_session_create(engine.sha(), engine.workq(), &session_));
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    ~Session() { EXPECT_EQ(doca_sha_partial_session_destroy(engine_.sha(), engine_.workq(), session_), DOCA_SUCCESS); }

    operator doca_sha_partial_session *() const { return session_; }

    [[nodiscard]] doca_sha_partial_job job(const ShaKind &kind, doca_buf *request, doca_buf *response,
                                           bool is_last) const
    {
        return piece_job(engine_.ctx(), kind, request, response, session_, is_last);
    }
    [[nodiscard]] doca_error_t run(const ShaKind &kind, doca_buf *request, doca_buf *response, bool is_last) const
    {
        return engine_.run(job(kind, request, response, is_last));
    }
    [[nodiscard]] doca_error_t copy_to(doca_sha_partial_session *other) const
    {
        return doca_sha_partial_session_copy(engine_.sha(), engine_.workq(), session_, other);
    }

private:
    const ShaEngine &engine_;
    doca_sha_partial_session *session_ = nullptr;
};

/// Memory for messages and digests of one device, mapped, with an engine and an inventory.
class ShaTest : public DeviceTest {
protected:
    static constexpr std::size_t size = std::size_t{1} << 16;

    void SetUp() override { fill(memory, 1); }

    /// The message that begins at @p offset.
    [[nodiscard]] std::span<const std::byte> message(std::size_t offset, std::size_t len) const
    {
        return std::span(memory).subspan(offset, len);
    }
    [[nodiscard]] BufHandle request(std::size_t offset, std::size_t len) const
    {
        return inventory.full(map, &memory[offset], len);
    }
    /// An empty one with room for @p len bytes.
    [[nodiscard]] BufHandle response(std::size_t len = 64) const
    {
        return inventory.empty(digest_map, digest_memory.data(), len);
    }
    /// What @p buf holds, in hexadecimal.
    [[nodiscard]] static std::string text_of(doca_buf *buf) { return hex({data_of(buf), data_len_of(buf)}); }

    mutable std::vector<std::byte> memory = std::vector<std::byte>(size);
    mutable std::vector<std::byte> digest_memory = std::vector<std::byte>(256);
    LocalMap map{dev, memory};
    LocalMap digest_map{dev, digest_memory};
    Inventory inventory{4096};
    ShaEngine engine{dev};
};

} // namespace doca_test
