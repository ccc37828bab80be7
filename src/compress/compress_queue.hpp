// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "../core/device/device.hpp"
#include "../core/device/memory_copier.hpp"
#include "../core/engine/completion_queue.hpp"
#include "../core/objects/buf.hpp"
#include "codec.hpp"
#include "deflate.hpp"
#include "lz4.hpp"
#include "scratch.hpp"

namespace opendoca {

/// Returns whether this build and @p can support tasks of @p kind.
[[nodiscard]] bool can_compress(const Capabilities &can, CompressKind kind) noexcept;

/// One task. The pointers may be null, and are rejected then.
struct CompressRequest {
    CompressKind kind;
    Lz4StreamFlags lz4; ///< of decompress_lz4_stream
    const doca_buf *source;
    doca_buf *destination;
    ChecksumSet checksums;
};

/// Compresses and decompresses on the CPU of the completion queue's thread: each operation completes within its submit.
/// Owned by a context, one for each of its completion queues; used by that queue's thread only. Never has an operation
/// that waits, so it needs no polling.
///
/// The codecs work on one contiguous source and one contiguous destination. Lists whose elements are adjacent in memory
/// are used in place. All others, and imported memory, are copied through scratch memory: that costs less than the
/// streaming interfaces that codecs have for pieces, and keeps a single code path.
class CompressQueue final : public Source {
public:
    /// Limits of source and destination.
    struct Limits {
        std::uint32_t list_elements; ///< buffers in a list
        std::uint64_t size;          ///< bytes
    };

    /// @p completions and @p device must outlive the object.
    CompressQueue(CompletionQueue &completions, const Device &device, const Limits &limits) noexcept
        : completions_(completions),
          device_(device),
          limits_(limits)
    {
    }

    /// Allocates what every kind of task needs. Must precede all other calls. NO_MEMORY or an error of the device.
    [[nodiscard]] doca_error_t open(Device &device);
    /// Allocates what tasks of @p kind need. Must precede run() with that kind. Throws std::bad_alloc.
    void prepare(CompressKind kind);

    /// Carries out @p request, whose completion has the status. If that is a success, the destination's data has grown
    /// by the result, and @p checksums is set. Returns an error of check(), or NO_MEMORY without a credit; nothing has
    /// then changed.
    [[nodiscard]] doca_error_t run(Tag tag, const CompressRequest &request,
                                   std::optional<Checksums> &checksums) noexcept;
    /// Returns INVALID_VALUE or NOT_PERMITTED, after a log line, if @p request cannot be carried out.
    [[nodiscard]] doca_error_t check(const CompressRequest &request) const noexcept;

private:
    /// The data of a source or the free space of a destination.
    struct Section {
        std::byte *start = nullptr; ///< valid if is_in_place
        std::size_t length = 0;     ///< bytes; of a destination, limited to Limits::size
        bool is_in_place = true;    ///< contiguous memory of this process
        bool may_change = false;    ///< the rights of the memory map let others write it meanwhile
    };

    [[nodiscard]] doca_error_t check(const CompressRequest &request, Section &source,
                                     Section &destination) const noexcept;
    [[nodiscard]] doca_error_t check_list(const doca_buf &list, bool is_destination, Section &section) const noexcept;
    [[nodiscard]] doca_error_t check_element(const doca_buf &buf, bool is_destination) const noexcept;

    [[nodiscard]] doca_error_t execute(const CompressRequest &request, const Section &source,
                                       const Section &destination, std::optional<Checksums> &checksums) noexcept;
    /// Copies the data of @p source to the scratch memory.
    [[nodiscard]] doca_error_t gather(const doca_buf &source) noexcept;
    /// Copies @p result to the free space of @p destination.
    [[nodiscard]] doca_error_t scatter(doca_buf &destination, std::span<std::byte> result) noexcept;
    [[nodiscard]] CodecResult run_codec(const CompressRequest &request, std::span<const std::byte> in,
                                        std::span<std::byte> out, std::size_t &length) noexcept;

    CompletionQueue &completions_;
    const Device &device_;
    const Limits limits_;
    std::unique_ptr<MemoryCopier> copier_; ///< null if the device has none: imported memory is then refused
    std::optional<DeflateCompressor> compressor_;
    std::optional<DeflateDecompressor> decompressor_;
    Scratch source_scratch_;
    Scratch result_scratch_;
};

} // namespace opendoca
