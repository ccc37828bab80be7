// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "../../device.hpp"
#include "../../own_memory.hpp"
#include "export_page.hpp"

namespace opendoca::soft {

/// The exporting side of this process: its page and what is published there. Thread-safe.
class Exporter {
public:
    /// The one of this process, made at the first export; a forked child gets its own.
    [[nodiscard]] static doca_error_t instance(std::shared_ptr<Exporter> &exporter);
    ~Exporter();

    [[nodiscard]] ExportPage &page() const noexcept { return *page_; }
    [[nodiscard]] int page_fd() const noexcept { return fd_.get(); }

    struct Memory {
        MemoryRange range;
        std::uint32_t access;
        ExportKind kind;
        const DeviceFunction &function;
    };

    /// One export; its end revokes it, and returns when no importer touches the memory any more.
    class Ticket {
    public:
        Ticket(std::shared_ptr<Exporter> exporter, std::uint32_t entry, SharedObject object) noexcept
            : exporter_(std::move(exporter)), entry_(entry), object_(std::move(object))
        {
        }
        Ticket(const Ticket &) = delete;
        Ticket &operator=(const Ticket &) = delete;
        ~Ticket() { exporter_->revoke(entry_); }

    private:
        std::shared_ptr<Exporter> exporter_;
        std::uint32_t entry_;
        SharedObject object_; ///< kept open, for importers to come
    };

    [[nodiscard]] static doca_error_t publish(const Memory &memory, std::vector<std::byte> &descriptor,
                                              std::unique_ptr<Ticket> &ticket);

private:
    Exporter() = default;

    [[nodiscard]] doca_error_t create_page();
    [[nodiscard]] bool take_entry(std::uint32_t &entry);
    void keep_alive_mark() noexcept;
    void allow_access_under_yama() noexcept;
    void revoke(std::uint32_t entry) noexcept;
    void wait_for_readers(std::uint32_t entry) noexcept;

    std::mutex lock_;
    UniqueFd fd_;
    ExportPage *page_ = nullptr;
    std::uint32_t pid_ = 0;
    std::uint64_t start_time_ = 0;
    bool has_membarrier_ = false;
    bool has_allowed_access_ = false;
    std::uint32_t num_entries_ = 0; ///< ever used
    std::vector<std::uint32_t> free_entries_;
};

} // namespace opendoca::soft
