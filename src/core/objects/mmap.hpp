// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <doca_types.h>

#include "../base/memory_range.hpp"
#include "../base/public_values.hpp"
#include "../base/reason.hpp"
#include "../base/shareable.hpp"
#include "../device/device.hpp"
#include "../process/fork.hpp"
#include "dev.hpp"
#include "dmabuf.hpp"

namespace opendoca {

/// The key of a memory map for its first device, which is usually its only one, laid out for the data path: one
/// comparison finds out whether it is the wanted key. Without a device while the map is not started.
struct FirstKey {
    const Device *device = nullptr;
    MemoryKey *key = nullptr;
    std::uint64_t number = 0;                  ///< MemoryKey::number
    std::uint32_t uses = KeyUse::by_fast_path; ///< MemoryKey::uses and this bit, as in doca_buf::fast_path_uses
    // Equal to `device` if its DMA may read from, or write to, the memory with a copy by the CPU, and the whole range
    // is not longer than one operation may be; otherwise null.
    const Device *copied_from = nullptr;
    const Device *copied_to = nullptr;
};

/// The number of buffers of a memory map that one inventory has handed out. Written by the inventory's thread only, and
/// read by any thread.
struct alignas(64) BufCount {
    std::atomic<std::uint32_t> value{0};

    void increase() noexcept { value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
    /// Release: pairs with the acquire load in doca_mmap::num_bufs(). A thread that finds no buffers also sees the
    /// effects of all operations with them.
    void decrease() noexcept { value.store(value.load(std::memory_order_relaxed) - 1, std::memory_order_release); }
};

/// The program's callback after the destruction of a map: nothing accesses the memory any more, so it may be freed.
using FreeCallback = void(void *addr, std::size_t len, void *cookie);

} // namespace opendoca

/// A memory range and the devices that may use it. Created and destroyed by the program; buffers, pools and libraries
/// may share it. Configured by one thread at a time, then started, then read by any thread. Invariant: while it is
/// started, each member has a key if there is a range, and neither changes as long as buffers exist.
///
/// Virtual functions are overridden by maps of several ranges, which programs up to DOCA 2.0.2 can create.
struct OPENDOCA_INTERNAL doca_mmap : opendoca::Shareable<doca_mmap> {
    /// When devices can be added to a map. With `any_time`, also while it is started; no other thread may use the map
    /// during the change.
    enum class Devices : std::uint8_t { before_start, any_time };

    explicit doca_mmap(doca_data data, Devices devices = Devices::before_start) noexcept
        : devices_(devices),
          user_data_(data)
    {
    }
    doca_mmap(const doca_mmap &) = delete;
    doca_mmap &operator=(const doca_mmap &) = delete;
    virtual ~doca_mmap();

    [[nodiscard]] static doca_error_t create_from_export(doca_data data, std::span<const std::byte> descriptor,
                                                         doca_dev &dev, doca_mmap *&mmap);
    /// Creates a started map of the memory that @p descriptor names, for @p dev only. The descriptor is not trusted.
    /// INVALID_VALUE and others of Device::import_memory().
    /// Revokes all exports, releases the devices and calls the program's free callback. NOT_PERMITTED while buffers
    /// exist.
    [[nodiscard]] virtual doca_error_t destroy() noexcept;

    // Settings. While the map is started, they return BAD_STATE or NOT_PERMITTED and change nothing.

    [[nodiscard]] doca_error_t set_memrange(std::byte *addr, std::size_t len) noexcept;
    /// Sets the range to a part of the dmabuf @p fd, which the program has mapped at @p addr. If @p addr is null, maps
    /// it anywhere.
    [[nodiscard]] doca_error_t set_dmabuf_memrange(int fd, std::byte *addr, std::size_t offset, std::size_t len);
    [[nodiscard]] doca_error_t set_user_data(doca_data data) noexcept;
    /// Allows several threads to create and release buffers of the map at once. The map then does not count them: the
    /// program must not stop or destroy it while buffers are in use.
    [[nodiscard]] doca_error_t enable_thread_safety() noexcept;
    [[nodiscard]] doca_error_t set_permissions(std::uint32_t access) noexcept;
    [[nodiscard]] doca_error_t set_free_cb(opendoca::FreeCallback *callback, void *cookie) noexcept;
    [[nodiscard]] doca_error_t set_max_num_devices(std::uint32_t count) noexcept;
    [[nodiscard]] virtual opendoca::Status dev_add(doca_dev &dev);
    [[nodiscard]] virtual opendoca::Status dev_rm(doca_dev &dev) noexcept;
    [[nodiscard]] virtual doca_error_t start();
    [[nodiscard]] virtual doca_error_t stop() noexcept;
    /// Returns a descriptor by which others can import the memory. It belongs to the map, and is valid until stop().
    /// NOT_SUPPORTED if the device cannot export; NOT_PERMITTED if the map is not started or its rights allow no
    /// access.
    [[nodiscard]] virtual opendoca::Status export_to(opendoca::ExportKind kind, const doca_dev &dev,
                                                     const void *&descriptor, std::size_t &size);
    [[nodiscard]] doca_error_t get_range(void *&addr, std::size_t &len) const noexcept;
    /// Returns BAD_STATE, with a message, if there is no memory range.
    [[nodiscard]] doca_error_t check_range() const noexcept;

    /// Returns whether buffers may be created: the map is started, or imported and not stopped.
    [[nodiscard]] bool is_usable() const noexcept { return state_ == State::started; }
    [[nodiscard]] bool is_imported() const noexcept { return is_imported_; }
    /// Returns the device of an imported map, which is its only one.
    [[nodiscard]] const opendoca::Device &importer() const noexcept;
    [[nodiscard]] virtual bool is_exported() const noexcept { return !exports_.empty(); }
    [[nodiscard]] bool has_range() const noexcept { return range_.addr != nullptr; }
    [[nodiscard]] const opendoca::MemoryRange &range() const noexcept { return range_; }
    [[nodiscard]] std::uint32_t access() const noexcept { return access_; }
    /// Returns whether a peer or the other side of the PCIe may write the memory.
    [[nodiscard]] bool is_writable_by_others() const noexcept
    {
        using opendoca::Access;
        return (access_ & (Access::rdma_write | Access::rdma_atomic | Access::dpu_read_write)) != 0;
    }
    [[nodiscard]] bool is_of_dmabuf() const noexcept { return dmabuf_ != nullptr; }
    [[nodiscard]] std::uint32_t max_num_devices() const noexcept { return max_num_devices_; }

    /// Returns a number that no other map of this process ever has, not even after the destruction of this one.
    [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
    /// Returns how often the map was started. Together with serial() it identifies the map's keys, for caches of them.
    [[nodiscard]] std::uint32_t num_starts() const noexcept { return num_starts_; }
    /// Returns the number of buffers in use, of all inventories. Thread-safe.
    [[nodiscard]] virtual std::uint32_t num_bufs() const noexcept;
    /// Returns the map to which buffers of [addr, addr + len) belong: one with a single range. This one if none
    /// contains it.
    [[nodiscard]] virtual const doca_mmap &with_range(std::byte *addr, std::size_t len) const noexcept;
    /// Includes @p count in num_bufs() from now on. Thread-safe. Throws std::bad_alloc.
    void add_count(std::shared_ptr<const opendoca::BufCount> count) const;

    [[nodiscard]] const opendoca::FirstKey &first() const noexcept { return first_; }
    /// Returns the key of this memory for @p device, or null if the device was not added.
    [[nodiscard]] OPENDOCA_INTERNAL opendoca::MemoryKey *key_for(const opendoca::Device &device) const noexcept;

    [[nodiscard]] doca_data user_data() const noexcept { return user_data_; }
    [[nodiscard]] bool counts_bufs() const noexcept { return counts_bufs_; }
    /// Returns the key of a device of this map that uses @p pd, or null.
    [[nodiscard]] opendoca::MemoryKey *key_on(const ibv_pd &pd) const noexcept;

protected:
    /// A device that was added.
    struct Member {
        opendoca::DeviceUse dev;
        std::unique_ptr<opendoca::MemoryKey> key; ///< set while started; destroyed before the device is released
    };

    [[nodiscard]] const std::vector<Member> &members() const noexcept { return members_; }
    [[nodiscard]] bool was_started() const noexcept { return was_started_; }
    [[nodiscard]] doca_error_t check_unused() const noexcept;

private:
    enum class State : std::uint8_t { configurable, started, revoked /**< an imported map that was stopped */ };

    /// A descriptor that was handed to the program.
    struct Export {
        opendoca::ExportKind kind;
        const doca_dev *dev;
        std::vector<std::byte> descriptor;
    };

    [[nodiscard]] std::vector<Member>::iterator find(const doca_dev &dev) noexcept;
    [[nodiscard]] doca_error_t check_devices_changeable() const noexcept;
    [[nodiscard]] doca_error_t register_with(Member &member);
    [[nodiscard]] doca_error_t register_members();
    void started() noexcept;
    void free_after_buffers() noexcept;
    [[nodiscard]] doca_error_t check_rangeless() const noexcept;
    [[nodiscard]] doca_error_t check_configurable(const char *what, doca_error_t when_started) const noexcept;

    static inline std::atomic<std::uint64_t> num_created_{0}; ///< in this process; the last serial number

    // The members that the data path and inventories read start a cache line of their own.
    alignas(64) opendoca::FirstKey first_;
    opendoca::MemoryRange range_;
    const std::uint64_t serial_ = num_created_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::uint32_t num_starts_ = 0;
    State state_ = State::configurable;
    const Devices devices_;
    bool is_imported_ = false;
    bool was_started_ = false;
    bool counts_bufs_ = true;
    bool free_cb_is_due_ = false; ///< the callback was set at a start and was not changed since

    doca_data user_data_;
    doca_mmap *next_retired_ = nullptr; ///< list link; see free_after_buffers()
    std::vector<Member> members_;
    std::unique_ptr<opendoca::Dmabuf> dmabuf_;                  ///< the dmabuf that contains the range, or null
    std::uint32_t access_ = opendoca::Access::local_read_write; ///< bits of Access
    std::uint32_t max_num_devices_ = 64;
    opendoca::FreeCallback *free_cb_ = nullptr;
    void *free_cb_cookie_ = nullptr;
    std::vector<Export> exports_;

    // Mutable, because inventories count buffers of a map that they may not change otherwise.
    mutable opendoca::ObjectMutex counts_lock_;
    mutable std::vector<std::shared_ptr<const opendoca::BufCount>> counts_;
};

namespace opendoca {

/// Creates a started map of @p range for a library's own use: for @p dev only, with the rights @p access. The program
/// has no reference to it, so it is destroyed with the library's last one.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t map_for_library(doca_dev &dev, const MemoryRange &range,
                                                             std::uint32_t access,
                                                             std::shared_ptr<const doca_mmap> &map);

} // namespace opendoca
