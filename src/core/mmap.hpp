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

#include "dev.hpp"
#include "device/device.hpp"
#include "dmabuf.hpp"
#include "fork.hpp"
#include "memory_range.hpp"
#include "public_values.hpp"
#include "reason.hpp"
#include "shareable.hpp"

namespace opendoca {

/// The key of a memory map for its first device, and mostly its only one, as the data path wants it: by one
/// comparison. Of no device while the map is not started.
struct FirstKey {
    const Device *device = nullptr;
    MemoryKey *key = nullptr;
    std::uint64_t number = 0;                  ///< of the key
    std::uint32_t uses = KeyUse::by_fast_path; ///< and those of the key: as doca_buf::fast_path_uses
    // The device again, where its DMA may read, or write, the memory by a copy of the CPU, and all of it with one.
    const Device *copied_from = nullptr;
    const Device *copied_to = nullptr;
};

/// How many buffers of a memory map are out of one inventory: written by the inventory's thread alone, read
/// by any.
struct alignas(64) BufCount {
    std::atomic<std::uint32_t> value{0};

    void increase() noexcept { value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
    /// Release: a reader that finds no buffers also sees the effects of what was done with them:
    /// doca_mmap::num_bufs().
    void decrease() noexcept { value.store(value.load(std::memory_order_relaxed) - 1, std::memory_order_release); }
};

/// The callback for a destroyed map, when its memory belongs to the program again.
using FreeCallback = void(void *addr, std::size_t len, void *cookie);

} // namespace opendoca

/// A memory range and the devices that may use it. Configured, then started, then read by any thread.
/// What is virtual is so for maps of several ranges, which programs up to DOCA 2.0.2 can make.
struct OPENDOCA_INTERNAL doca_mmap : opendoca::Shareable<doca_mmap> {
    /// When a map can be given devices: of those whose devices also come and go while it is started, no other thread
    /// uses the map meanwhile.
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
    /// Ends every import, gives the devices up and calls the program's free callback.
    [[nodiscard]] virtual doca_error_t destroy() noexcept;

    [[nodiscard]] doca_error_t set_memrange(std::byte *addr, std::size_t len) noexcept;
    /// At @p addr, where the program has mapped it, or null: anywhere.
    [[nodiscard]] doca_error_t set_dmabuf_memrange(int fd, std::byte *addr, std::size_t offset, std::size_t len);
    [[nodiscard]] doca_error_t set_user_data(doca_data data) noexcept;
    /// Buffers may come and go in several threads at once, and the map does not look for them when it is stopped or
    /// destroyed.
    [[nodiscard]] doca_error_t enable_thread_safety() noexcept;
    [[nodiscard]] doca_error_t set_permissions(std::uint32_t access) noexcept;
    [[nodiscard]] doca_error_t set_free_cb(opendoca::FreeCallback *callback, void *cookie) noexcept;
    [[nodiscard]] doca_error_t set_max_num_devices(std::uint32_t count) noexcept;
    [[nodiscard]] virtual opendoca::Status dev_add(doca_dev &dev);
    [[nodiscard]] virtual opendoca::Status dev_rm(doca_dev &dev) noexcept;
    [[nodiscard]] virtual doca_error_t start();
    [[nodiscard]] virtual doca_error_t stop() noexcept;
    /// The descriptor is the map's own, and is there until it is stopped.
    [[nodiscard]] virtual opendoca::Status export_to(opendoca::ExportKind kind, const doca_dev &dev,
                                                     const void *&descriptor, std::size_t &size);
    [[nodiscard]] doca_error_t get_range(void *&addr, std::size_t &len) const noexcept;
    /// BAD_STATE while there is none.
    [[nodiscard]] doca_error_t check_range() const noexcept;

    /// Started, or imported and not stopped: buffers may be made of it.
    [[nodiscard]] bool is_usable() const noexcept { return state_ == State::started; }
    [[nodiscard]] bool is_imported() const noexcept { return is_imported_; }
    /// Of an imported one: the device that it was imported by, and the only one it has.
    [[nodiscard]] const opendoca::Device &importer() const noexcept;
    [[nodiscard]] virtual bool is_exported() const noexcept { return !exports_.empty(); }
    [[nodiscard]] bool has_range() const noexcept { return range_.addr != nullptr; }
    [[nodiscard]] const opendoca::MemoryRange &range() const noexcept { return range_; }
    [[nodiscard]] std::uint32_t access() const noexcept { return access_; }
    [[nodiscard]] bool is_of_dmabuf() const noexcept { return dmabuf_ != nullptr; }
    [[nodiscard]] std::uint32_t max_num_devices() const noexcept { return max_num_devices_; }

    /// Never that of another map of this process, living or not.
    [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
    /// With it, that of what is registered: another one each time that the map was started.
    [[nodiscard]] std::uint32_t num_starts() const noexcept { return num_starts_; }
    /// The sum over all inventories.
    [[nodiscard]] virtual std::uint32_t num_bufs() const noexcept;
    /// The map that buffers of [addr, addr + len) are of; this one where no range has it.
    [[nodiscard]] virtual const doca_mmap &with_range(std::byte *addr, std::size_t len) const noexcept;
    /// To be counted in num_bufs() from now on.
    void add_count(std::shared_ptr<const opendoca::BufCount> count) const;

    [[nodiscard]] const opendoca::FirstKey &first() const noexcept { return first_; }
    /// The key of this memory for @p device, or null when the device was not added.
    [[nodiscard]] OPENDOCA_INTERNAL opendoca::MemoryKey *key_for(const opendoca::Device &device) const noexcept;

    [[nodiscard]] doca_data user_data() const noexcept { return user_data_; }
    [[nodiscard]] bool counts_bufs() const noexcept { return counts_bufs_; }
    /// The key of one of its devices on @p pd, or null.
    [[nodiscard]] opendoca::MemoryKey *key_on(const ibv_pd &pd) const noexcept;

protected:
    struct Member {
        opendoca::DeviceUse dev;
        std::unique_ptr<opendoca::MemoryKey> key; ///< while started; goes before the device
    };

    [[nodiscard]] const std::vector<Member> &members() const noexcept { return members_; }
    [[nodiscard]] bool was_started() const noexcept { return was_started_; }
    [[nodiscard]] doca_error_t check_unused() const noexcept;

private:
    enum class State : std::uint8_t { configurable, started, revoked };

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
    void outlive_buffers() noexcept;
    [[nodiscard]] doca_error_t check_rangeless() const noexcept;
    [[nodiscard]] doca_error_t check_configurable(const char *what, doca_error_t when_started) const noexcept;

    static inline std::atomic<std::uint64_t> num_created_{0};

    // What the data path and inventories read is on one cache line.
    alignas(64) opendoca::FirstKey first_;
    opendoca::MemoryRange range_;
    const std::uint64_t serial_ = num_created_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::uint32_t num_starts_ = 0;
    State state_ = State::configurable;
    const Devices devices_;
    bool is_imported_ = false;
    bool was_started_ = false;
    bool counts_bufs_ = true;
    bool free_cb_is_due_ = false; ///< the callback was there at a start and is still the same

    doca_data user_data_;
    doca_mmap *next_outlived_ = nullptr; ///< see outlive_buffers()
    std::vector<Member> members_;
    std::unique_ptr<opendoca::Dmabuf> dmabuf_; ///< that the range is of, or null
    std::uint32_t access_ = opendoca::Access::local_read_write;
    std::uint32_t max_num_devices_ = 64;
    opendoca::FreeCallback *free_cb_ = nullptr;
    void *free_cb_cookie_ = nullptr;
    std::vector<Export> exports_;

    // The count of buffers is no property of the memory: mere users of a map change it too.
    mutable opendoca::ObjectMutex counts_lock_;
    mutable std::vector<std::shared_ptr<const opendoca::BufCount>> counts_;
};

namespace opendoca {

/// Memory that a library uses by itself, or of a map whose device has not what it needs: a started map of @p dev alone,
/// with the rights @p access. The program does not see it, and it goes with its last user.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t map_for_library(doca_dev &dev, const MemoryRange &range,
                                                             std::uint32_t access,
                                                             std::shared_ptr<const doca_mmap> &map);

} // namespace opendoca
