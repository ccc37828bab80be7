// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "../../../process/fork.hpp"
#include "../../device.hpp"
#include "../../host/own_memory.hpp"
#include "../process/process.hpp"
#include "../process/sealed_page.hpp"
#include "export_page.hpp"

namespace opendoca::soft {

/// The exporting side of this process: its two pages and the exports that are published there. Shared by its exports.
/// Thread-safe. Invariant: each entry with an odd generation has an Export, which revokes it.
class Exporter {
public:
    /// Returns the one of this process, creating it at the first export; a forked child gets its own.
    [[nodiscard]] static doca_error_t instance(std::shared_ptr<Exporter> &exporter);
    ~Exporter();

    [[nodiscard]] ExporterAddress address() const noexcept;

    /// What to export.
    struct Memory {
        MemoryRange range;
        std::uint32_t access;
        EntryKind kind;
        const DeviceFunction &function;
        const SealedPage *page = nullptr; ///< the page that the range is, or null for other memory
    };

    /// One export. Owned by the memory key or counter that published it. The destructor revokes it, and
    /// returns when no importer accesses the memory any more: it can block for as long as one part of a copy takes.
    class Export {
    public:
        Export(const Export &) = delete;
        Export &operator=(const Export &) = delete;
        ~Export() { exporter_->end(entry_); }

        [[nodiscard]] const ExportDescriptor &descriptor() const noexcept { return descriptor_; }

    private:
        friend class Exporter;
        Export(std::shared_ptr<Exporter> exporter, std::uint32_t entry) noexcept
            : exporter_(std::move(exporter)),
              entry_(entry)
        {
        }

        std::shared_ptr<Exporter> exporter_;
        std::uint32_t entry_;
        SharedObject object_; ///< keeps the descriptor open, for later importers
        ExportDescriptor descriptor_{};
    };

    /// Publishes @p memory. Returns NO_MEMORY if max_exports exist.
    [[nodiscard]] static doca_error_t publish(const Memory &memory, std::unique_ptr<Export> &published);

private:
    Exporter() = default;

    /// Creates both pages and fills in the header of the first.
    [[nodiscard]] doca_error_t create_pages();
    /// Maps the guard byte at a random address.
    [[nodiscard]] doca_error_t create_guard() noexcept;
    /// Takes a free entry. Returns false, after a log line, if there is none.
    [[nodiscard]] bool take_entry(std::uint32_t &entry) noexcept;
    /// Revokes an export and frees its entry.
    void end(std::uint32_t entry) noexcept;
    void keep_alive_mark() noexcept;
    void allow_access_under_yama() noexcept;
    [[nodiscard]] ExportPage &page() const noexcept { return *static_cast<ExportPage *>(page_->start()); }

    ObjectMutex lock_; ///< guards the list of free entries and has_allowed_access_
    std::shared_ptr<SealedPage> page_;
    std::shared_ptr<SealedPage> hazard_page_;
    void *guard_ = nullptr; ///< page with the guard byte
    ProcessId self_;
    bool has_allowed_access_ = false;
    std::uint32_t num_entries_ = 0;                 ///< entries that were ever used; those behind were not
    std::uint32_t num_free_ = 0;                    ///< free ones among them
    std::unique_ptr<std::uint32_t[]> free_entries_; ///< the first num_free_ elements are free
};

} // namespace opendoca::soft
