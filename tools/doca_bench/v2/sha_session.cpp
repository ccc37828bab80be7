// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sha_session.hpp"

// The inside of the library: the provider is not in the public API.
#include "../../../src/core/dev.hpp"

namespace opendoca::tools {

namespace {

constexpr ShaAlgorithm algorithms[] = {
    {"sha1", DOCA_SHA_JOB_SHA1, DOCA_SHA1_BYTE_COUNT},
    {"sha256", DOCA_SHA_JOB_SHA256, DOCA_SHA256_BYTE_COUNT},
    {"sha512", DOCA_SHA_JOB_SHA512, DOCA_SHA512_BYTE_COUNT},
};

doca_devinfo &choose(const DeviceList &devices, const std::string &ibdev)
{
    std::string known;
    for (doca_devinfo *const info : devices.infos()) {
        if (doca_sha_job_get_supported(info, DOCA_SHA_JOB_SHA256) != DOCA_SUCCESS)
            continue;
        if (ibdev.empty() || ibdev_of(*info) == ibdev)
            return *info;
        known += ' ' + ibdev_of(*info);
    }
    throw std::runtime_error(known.empty() ? "no device here can do SHA"
                                           : "no device '" + ibdev + "' can do SHA here; these can:" + known);
}

Handle<doca_mmap, doca_mmap_destroy> map(doca_dev *dev, std::span<std::byte> memory)
{
    doca_mmap *made = nullptr;
    must(doca_mmap_create(nullptr, &made), "creating a memory map");
    Handle<doca_mmap, doca_mmap_destroy> handle(made);
    must(doca_mmap_set_memrange(made, memory.data(), memory.size()), "setting a memory range");
    must(doca_mmap_dev_add(made, dev), "adding a device");
    must(doca_mmap_start(made), "starting a memory map");
    return handle;
}

} // namespace

std::span<const ShaAlgorithm> sha_algorithms()
{
    return algorithms;
}

ShaSession::ShaSession(const std::string &ibdev, std::size_t largest)
    : message_(largest),
      digest_(DOCA_SHA512_BYTE_COUNT)
{
    for (std::size_t i = 0; i < largest; ++i)
        message_[i] = static_cast<std::byte>((i * 131 + (i >> 8) * 29) & 0xff);
    {
        const DeviceList devices;
        doca_devinfo &info = choose(devices, ibdev);
        ibdev_ = ibdev_of(info);
        // What a software device claims, it emulates.
        is_hardware_ = doca_sha_get_hardware_supported(&info) == DOCA_SUCCESS && info.function->provider != "soft";
        std::uint64_t limit = 0;
        must(doca_sha_get_max_src_buffer_size(&info, &limit), "a device's limits");
        if (largest > limit)
            throw std::runtime_error(ibdev_ + " hashes at most " + std::to_string(limit) + " bytes in a job");
        dev_ = open_device(info);
    }
    doca_sha *sha = nullptr;
    must(doca_sha_create(&sha), "creating a SHA object");
    sha_.reset(sha);
    doca_workq *workq = nullptr;
    must(doca_workq_create(1, &workq), "creating a work queue");
    workq_.reset(workq);
    must(doca_ctx_dev_add(ctx(), dev_.get()), "adding a device");
    must(doca_ctx_start(ctx()), "starting SHA");
    must(doca_ctx_workq_add(ctx(), workq), "adding a work queue");
    map_ = map(dev_.get(), message_);
    digest_map_ = map(dev_.get(), digest_);
    doca_buf_inventory *inventory = nullptr;
    must(doca_buf_inventory_create(nullptr, 2, 0, &inventory), "creating an inventory");
    inventory_.reset(inventory);
    must(doca_buf_inventory_start(inventory), "starting an inventory");
}

ShaSession::~ShaSession()
{
    (void)doca_ctx_workq_rm(ctx(), workq_.get());
    (void)doca_ctx_stop(ctx());
}

doca_buf *ShaSession::take_request(std::size_t size)
{
    doca_buf *buf = nullptr;
    must(doca_buf_inventory_buf_by_data(inventory_.get(), map_.get(), message_.data(), size, &buf),
         "taking a buffer");
    return buf;
}

doca_buf *ShaSession::take_response(std::size_t size)
{
    doca_buf *buf = nullptr;
    must(doca_buf_inventory_buf_by_addr(inventory_.get(), digest_map_.get(), digest_.data(), size, &buf),
         "taking a buffer");
    return buf;
}

ShaJobLoop::ShaJobLoop(ShaSession &session, const ShaAlgorithm &algorithm, std::size_t size)
    : workq_(session.workq()),
      request_(session.take_request(size)),
      response_(session.take_response(algorithm.digest_size))
{
    job_.base.type = algorithm.job;
    job_.base.ctx = session.ctx();
    job_.req_buf = request_;
    job_.resp_buf = response_;
}

ShaJobLoop::~ShaJobLoop()
{
    (void)doca_buf_refcount_rm(request_, nullptr);
    (void)doca_buf_refcount_rm(response_, nullptr);
}

void ShaJobLoop::run(std::size_t count)
{
    for (; count != 0; --count) {
        must(doca_buf_reset_data_len(response_), "resetting the response");
        must(doca_workq_submit(workq_, &job_.base), "submitting a job");
        doca_event event;
        doca_error_t status = DOCA_ERROR_AGAIN;
        while ((status = doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
               DOCA_ERROR_AGAIN) {
        }
        must(status, "a job");
    }
}

std::vector<std::byte> ShaJobLoop::digest() const
{
    void *data = nullptr;
    std::size_t len = 0;
    must(doca_buf_get_data(response_, &data), "the digest");
    must(doca_buf_get_data_len(response_, &len), "the digest");
    const auto *const bytes = static_cast<const std::byte *>(data);
    return {bytes, bytes + len};
}

EvpLoop::EvpLoop(const ShaAlgorithm &algorithm, std::span<const std::byte> message)
    : message_(message),
      state_(EVP_MD_CTX_new()),
      digest_(algorithm.digest_size)
{
    EVP_MD *const type = EVP_MD_fetch(nullptr, algorithm.name, nullptr);
    const bool works =
        type != nullptr && state_ != nullptr && EVP_DigestInit_ex2(state_.get(), type, nullptr) == 1;
    EVP_MD_free(type);
    if (!works)
        throw std::runtime_error(std::string("OpenSSL has no ") + algorithm.name);
}

void EvpLoop::run(std::size_t count)
{
    for (; count != 0; --count) {
        if (EVP_DigestInit_ex2(state_.get(), nullptr, nullptr) != 1 ||
            EVP_DigestUpdate(state_.get(), message_.data(), message_.size()) != 1 ||
            EVP_DigestFinal_ex(state_.get(), reinterpret_cast<unsigned char *>(digest_.data()), nullptr) != 1)
            throw std::runtime_error("OpenSSL fails to hash");
    }
}

std::vector<std::byte> EvpLoop::digest() const
{
    return digest_;
}

} // namespace opendoca::tools
