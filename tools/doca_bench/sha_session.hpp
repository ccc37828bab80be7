// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The two sides of the SHA benchmark: a device, and a loop of OpenSSL's functions over the same bytes. The code that
// hashes on the device is in v2/ (jobs on a work queue) and v3/ (tasks on a progress engine).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <openssl/evp.h>

#include "doca_memory.hpp"
#include "measure.hpp"

namespace opendoca::tools {

/// An algorithm under the names of OpenSSL and of the API.
struct ShaAlgorithm {
    const char *name; ///< OpenSSL's name, also used by --algorithms
    api::ShaId id;
    std::size_t digest_size; ///< bytes
};

/// Returns the algorithms that are measured.
[[nodiscard]] std::span<const ShaAlgorithm> sha_algorithms();

/// A way to hash a message: run(count) hashes the same message @p count times.
class ShaLoop : public Variant {
public:
    /// Returns the digest of the last message.
    [[nodiscard]] virtual std::vector<std::byte> digest() const = 0;
};

/// A device that supports SHA, mapped memory, and a running SHA context. Owned by the benchmark and used by its only
/// thread. The derived class adds the generation's context and queue. Loops refer to the session and must be destroyed
/// before it.
class ShaSession {
public:
    ShaSession(const ShaSession &) = delete;
    ShaSession &operator=(const ShaSession &) = delete;
    virtual ~ShaSession();

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    /// Returns whether the device hashes by an engine, not by the CPU.
    [[nodiscard]] bool is_hardware() const noexcept { return is_hardware_; }
    /// Returns the message, which is as long as the largest size.
    [[nodiscard]] std::span<const std::byte> message() const noexcept { return message_; }

    /// Returns a loop that hashes the message's first @p size bytes on the device. One loop at a time.
    [[nodiscard]] virtual std::unique_ptr<ShaLoop> make_loop(const ShaAlgorithm &algorithm, std::size_t size) = 0;

protected:
    /// @p ibdev names the device; if empty, the first suitable one is used.
    ShaSession(const std::string &ibdev, std::size_t largest);

    [[nodiscard]] doca_dev *dev() const noexcept { return dev_.get(); }
    friend class ShaBufs; // takes buffers from the session's maps

private:
    std::string ibdev_;
    bool is_hardware_ = false;
    std::vector<std::byte> message_;
    std::vector<std::byte> digest_;
    DeviceHandle dev_;
    MmapHandle map_;
    MmapHandle digest_map_;
    InventoryHandle inventory_;
};

/// Creates a session of the generation that this program was built for. @p largest is the longest message in bytes.
[[nodiscard]] std::unique_ptr<ShaSession> make_sha_session(const std::string &ibdev, std::size_t largest);

/// The two buffers of a loop: the message, full, and a destination for its digest, which loops reset before each job.
/// Owned by a loop; the destructor returns them to the session's inventory.
class ShaBufs {
public:
    ShaBufs(const ShaSession &session, std::size_t size, std::size_t digest_size);
    ShaBufs(const ShaBufs &) = delete;
    ShaBufs &operator=(const ShaBufs &) = delete;
    ~ShaBufs();

    [[nodiscard]] doca_buf *message() const noexcept { return message_; }
    [[nodiscard]] doca_buf *room() const noexcept { return room_; }
    [[nodiscard]] std::vector<std::byte> digest() const;

private:
    doca_buf *message_ = nullptr;
    doca_buf *room_ = nullptr;
};

/// The baseline: hashes the same bytes with OpenSSL's EVP functions on the calling thread.
class EvpLoop final : public ShaLoop {
public:
    EvpLoop(const ShaAlgorithm &algorithm, std::span<const std::byte> message);
    void run(std::size_t count) override;
    [[nodiscard]] std::vector<std::byte> digest() const override { return digest_; }

private:
    /// Deleter of OpenSSL's state.
    struct Free {
        void operator()(EVP_MD_CTX *digest) const noexcept { EVP_MD_CTX_free(digest); }
    };

    std::span<const std::byte> message_;
    std::unique_ptr<EVP_MD_CTX, Free> state_;
    std::vector<std::byte> digest_;
};

} // namespace opendoca::tools
