// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sha_session.hpp"

#include <stdexcept>

// Internal headers of the library: the public API does not report the provider.
#include "../../src/core/objects/dev.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t longest_digest = 64; ///< bytes

constexpr ShaAlgorithm algorithms[] = {
    {"sha1", api::sha1, 20},
    {"sha256", api::sha256, 32},
    {"sha512", api::sha512, longest_digest},
};

/// Returns the named device, or the first one that supports SHA. Throws if there is none.
doca_devinfo &choose(const DeviceList &devices, const std::string &ibdev)
{
    std::string known;
    for (doca_devinfo *const info : devices.infos()) {
        if (!api::can_hash(*info))
            continue;
        if (ibdev.empty() || ibdev_of(*info) == ibdev)
            return *info;
        known += ' ' + ibdev_of(*info);
    }
    throw std::runtime_error(known.empty() ? "no device here can do SHA"
                                           : "no device '" + ibdev + "' can do SHA here; these can:" + known);
}

} // namespace

std::span<const ShaAlgorithm> sha_algorithms()
{
    return algorithms;
}

ShaSession::ShaSession(const std::string &ibdev, std::size_t largest) : message_(largest), digest_(longest_digest)
{
    // Any bytes will do: SHA's speed does not depend on them.
    for (std::size_t i = 0; i < largest; ++i)
        message_[i] = static_cast<std::byte>((i * 131 + (i >> 8) * 29) & 0xff);
    {
        const DeviceList devices;
        doca_devinfo &info = choose(devices, ibdev);
        ibdev_ = ibdev_of(info);
        // Software devices report this capability, but the CPU hashes.
        is_hardware_ = info.function->can.sha_hardware && info.function->provider != "soft";
        std::uint64_t limit = 0;
        must(api::max_hash_size(&info, &limit), "a device's limits");
        if (largest > limit)
            throw std::runtime_error(ibdev_ + " hashes at most " + std::to_string(limit) + " bytes at once");
        dev_ = open_device(info);
    }
    map_ = start_map(dev_.get(), message_, api::local_rights);
    digest_map_ = start_map(dev_.get(), digest_, api::local_rights);
    inventory_ = start_inventory(2);
}

ShaSession::~ShaSession() = default;

ShaBufs::ShaBufs(const ShaSession &session, std::size_t size, std::size_t digest_size)
{
    // The API has no maps of constant memory. Jobs only read the message.
    doca_buf_inventory *const inventory = session.inventory_.get();
    void *const message = const_cast<std::byte *>(session.message_.data());
    void *const room = const_cast<std::byte *>(session.digest_.data());
    must(api::take_buf(inventory, session.map_.get(), message, size, size, &message_), "taking a buffer");
    must(api::take_buf(inventory, session.digest_map_.get(), room, digest_size, 0, &room_), "taking a buffer");
}

ShaBufs::~ShaBufs()
{
    (void)api::drop_buf(message_, nullptr);
    (void)api::drop_buf(room_, nullptr);
}

std::vector<std::byte> ShaBufs::digest() const
{
    void *data = nullptr;
    std::size_t len = 0;
    must(doca_buf_get_data(room_, &data), "the digest");
    must(doca_buf_get_data_len(room_, &len), "the digest");
    const auto *const bytes = static_cast<const std::byte *>(data);
    return {bytes, bytes + len};
}

EvpLoop::EvpLoop(const ShaAlgorithm &algorithm, std::span<const std::byte> message)
    : message_(message),
      state_(EVP_MD_CTX_new()),
      digest_(algorithm.digest_size)
{
    // Fetched once: looking up an algorithm by name is slow, and no part of hashing.
    EVP_MD *const type = EVP_MD_fetch(nullptr, algorithm.name, nullptr);
    const bool works = type != nullptr && state_ != nullptr && EVP_DigestInit_ex2(state_.get(), type, nullptr) == 1;
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

} // namespace opendoca::tools
