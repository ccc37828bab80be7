// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include <doca_mmap.h>

#include "device/device.hpp"
#include "dmabuf.hpp"
#include "memory_range.hpp"

namespace opendoca {

/// What the data path needs of a started map's first device; most maps have just one.
struct FirstKey {
    const Device *device = nullptr;
    MemoryKey *key = nullptr;
    std::uint64_t number = 0;
    // The key's uses on either side of a copy, in bits that are the same on both: where a bit is set in both, the
    // copy can be made in that way.
    std::uint32_t as_source = 0;
    std::uint32_t as_destination = 0;

    static constexpr std::uint32_t by_dma = 1;
    static constexpr std::uint32_t here = 2; ///< by the CPU
    static constexpr std::uint32_t local = 4; ///< side of RDMA
    static constexpr std::uint32_t remote = 8;
};

} // namespace opendoca

/// A memory range and the devices that may use it. Configured, then started, then read by any thread.
struct doca_mmap {
    explicit doca_mmap(doca_data data) noexcept : user_data(data) {}
    doca_mmap(const doca_mmap &) = delete;
    doca_mmap &operator=(const doca_mmap &) = delete;
    ~doca_mmap();

    [[nodiscard]] static doca_error_t create_from_export(doca_data data,
                                                         std::span<const std::byte> descriptor, doca_dev &dev,
                                                         doca_mmap *&mmap);

    [[nodiscard]] doca_error_t set_memrange(std::byte *addr, std::size_t len) noexcept;
    [[nodiscard]] doca_error_t set_dmabuf_memrange(int fd, std::size_t offset, std::size_t len);
    [[nodiscard]] doca_error_t set_permissions(std::uint32_t access) noexcept;
    [[nodiscard]] doca_error_t set_free_cb(doca_mmap_memrange_free_cb_t *callback, void *cookie) noexcept;
    [[nodiscard]] doca_error_t set_max_num_devices(std::uint32_t count) noexcept;
    [[nodiscard]] doca_error_t dev_add(doca_dev &dev);
    [[nodiscard]] doca_error_t dev_rm(doca_dev &dev) noexcept;
    [[nodiscard]] doca_error_t start();
    [[nodiscard]] doca_error_t stop() noexcept;
    [[nodiscard]] doca_error_t export_to(opendoca::ExportKind kind, const doca_dev &dev,
                                         std::span<const std::byte> &descriptor);

    /// Started, or imported and not stopped: buffers may be made of it.
    [[nodiscard]] bool is_usable() const noexcept { return state_ == State::started; }
    [[nodiscard]] bool is_imported() const noexcept { return is_imported_; }
    [[nodiscard]] bool is_exported() const noexcept { return !exports_.empty(); }
    [[nodiscard]] bool has_range() const noexcept { return range_.addr != nullptr; }
    [[nodiscard]] const opendoca::MemoryRange &range() const noexcept { return range_; }
    [[nodiscard]] std::uint32_t max_num_devices() const noexcept { return max_num_devices_; }
    [[nodiscard]] std::uint32_t num_bufs() const noexcept
    {
        return num_bufs_.load(std::memory_order_acquire);
    }

    // The count of buffers is no property of the memory: those who only use a map change it too.
    void buf_created() const noexcept { num_bufs_.fetch_add(1, std::memory_order_relaxed); }
    /// Released, so that who sees no buffers also sees the end of what was done with them.
    void buf_released() const noexcept { num_bufs_.fetch_sub(1, std::memory_order_release); }

    /// The key of this memory for @p device, or null when it was not added.
    [[nodiscard]] OPENDOCA_INTERNAL opendoca::MemoryKey *key_for(const opendoca::Device &device) const noexcept;
    [[nodiscard]] const opendoca::FirstKey &first() const noexcept { return first_; }

    const doca_data user_data;

private:
    enum class State : std::uint8_t { configurable, started, revoked };

    struct Member {
        doca_dev *dev;
        std::unique_ptr<opendoca::MemoryKey> key; ///< while started
    };

    struct Export {
        opendoca::ExportKind kind;
        const doca_dev *dev;
        std::vector<std::byte> descriptor;
    };

    void remember_first_key() noexcept;
    [[nodiscard]] doca_error_t check_rangeless() const noexcept;
    [[nodiscard]] doca_error_t check_configurable(const char *what, doca_error_t when_started) const noexcept;

    opendoca::FirstKey first_;
    std::vector<Member> members_;
    opendoca::MemoryRange range_;
    std::unique_ptr<opendoca::Dmabuf> dmabuf_; ///< that the range is of, or null
    mutable std::atomic<std::uint32_t> num_bufs_{0};
    std::uint32_t access_ = DOCA_ACCESS_LOCAL_READ_WRITE;
    std::uint32_t max_num_devices_ = 64;
    State state_ = State::configurable;
    bool is_imported_ = false;
    bool was_started_ = false;
    bool free_cb_is_due_ = false; ///< the callback was there at a start and is still the same
    doca_mmap_memrange_free_cb_t *free_cb_ = nullptr;
    void *free_cb_cookie_ = nullptr;
    std::vector<Export> exports_;
};
