// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "../../../fork.hpp"
#include "../../device.hpp"
#include "../../host/own_memory.hpp"
#include "../process/process.hpp"
#include "../process/sealed_page.hpp"
#include "export_page.hpp"

namespace opendoca::soft {

/// The exporting side of this process: its pages and what is published there. Thread-safe.
class Exporter {
public:
    /// The one of this process, made at the first export; a forked child gets its own.
    [[nodiscard]] static doca_error_t instance(std::shared_ptr<Exporter> &exporter);
    ~Exporter();

    [[nodiscard]] ExporterAddress address() const noexcept;

    struct Memory {
        MemoryRange range;
        std::uint32_t access;
        ExportKind kind;
        const DeviceFunction &function;
        const SealedPage *page = nullptr; ///< which the range is
    };

    /// One export; its end revokes it, and returns when no importer touches the memory any more.
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
        SharedObject object_; ///< kept open, for importers to come
        ExportDescriptor descriptor_{};
    };

    [[nodiscard]] static doca_error_t publish(const Memory &memory, std::unique_ptr<Export> &published);

private:
    Exporter() = default;

    [[nodiscard]] doca_error_t create_pages();
    [[nodiscard]] doca_error_t create_guard() noexcept;
    [[nodiscard]] bool take_entry(std::uint32_t &entry) noexcept;
    void end(std::uint32_t entry) noexcept;
    void keep_alive_mark() noexcept;
    void allow_access_under_yama() noexcept;
    [[nodiscard]] ExportPage &page() const noexcept { return *static_cast<ExportPage *>(page_->start()); }

    ObjectMutex lock_;
    std::shared_ptr<SealedPage> page_;
    std::shared_ptr<SealedPage> hazard_page_;
    void *guard_ = nullptr;
    ProcessId self_;
    bool has_allowed_access_ = false;
    std::uint32_t num_entries_ = 0;                 ///< ever used
    std::uint32_t num_free_ = 0;                    ///< of those
    std::unique_ptr<std::uint32_t[]> free_entries_; ///< the first num_free_ are
};

} // namespace opendoca::soft
