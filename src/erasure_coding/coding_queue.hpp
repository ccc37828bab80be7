// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../core/device/cursor.hpp"
#include "../core/device/device.hpp"
#include "../core/device/memory_copier.hpp"
#include "../core/engine/completion_queue.hpp"
#include "../core/engine/sliced_queue.hpp"
#include "../core/objects/buf.hpp"
#include "matrix.hpp"

namespace opendoca {

/// Multiplies blocks by matrices on the CPU of the completion queue's thread. Long blocks are multiplied in slices:
/// each is the same range of bytes of all blocks. Owned by a context, one for each of its completion queues; used by
/// that queue's thread only. All memory is allocated at creation.
///
/// Blocks that lie within one buffer of this process are used where they are. Others are copied, slice by slice:
/// blocks that are split, imported memory, and everything if a destination is also a source.
class CodingQueue final : public SlicedQueue {
public:
    /// Limits of both lists.
    struct Limits {
        std::uint32_t list_elements; ///< buffers in a list
        std::uint64_t block_size;    ///< bytes
    };

    /// All blocks are multiples of this number of bytes.
    static constexpr std::size_t block_unit = 64;

    /// The device must be able to access the memory of all buffers. @p completions and @p device must outlive the
    /// object.
    CodingQueue(CompletionQueue &completions, Device &device, const Limits &limits);
    /// Operations may be left in a forked child's copy only.
    ~CodingQueue() override;

    /// Appends the products of @p matrix and the blocks of @p source to @p destination. All three must stay as they are
    /// until the completion is retrieved. Returns INVALID_VALUE, NOT_PERMITTED, or IO_FAILED for lengths that do not
    /// suit the matrix, after a log line, or NO_MEMORY without a credit; nothing has then changed. A copy of imported
    /// memory may fail later: the completion then has the status of MemoryCopier, and the contents of the destination's
    /// room are undefined. Null pointers are allowed, and rejected.
    [[nodiscard]] doca_error_t multiply(Tag tag, const Matrix *matrix, const doca_buf *source,
                                        doca_buf *destination) noexcept;

    /// Returns the status that multiply() would return, but for a full queue and failures of copies.
    [[nodiscard]] doca_error_t check(const Matrix *matrix, const doca_buf *source,
                                     const doca_buf *destination) const noexcept;

private:
    /// An operation that waits or is in progress.
    struct Request {
        const Matrix *matrix;
        const doca_buf *source;
        doca_buf *destination;
    };

    /// How the blocks of a request lie in memory.
    struct Layout {
        std::size_t block = 0;  ///< bytes of a block
        bool is_shared = false; ///< a block of the destination may also be one of the source
    };

    /// Bytes of staging memory: what is multiplied by copies, with inputs and outputs, stays in the second-level cache.
    static constexpr std::size_t staging_size = std::size_t{256} << 10;
    static_assert((Matrix::max_inputs + Matrix::max_outputs) * block_unit <= staging_size);
    /// Bytes of source in a slice: some 70 us of work. Four times as much as other libraries have in a slice, which
    /// takes them as long; shorter slices cost ISA-L 4 % of its speed.
    static constexpr std::size_t source_slice = 4 * slice_size;
    /// Most multiplications of bytes in a slice, unless its blocks would be shorter than block_unit: some 300 us.
    static constexpr std::size_t max_products = std::size_t{8} << 20;

    /// Returns the bytes of a block that are multiplied in one go: of all inputs together they are a slice.
    [[nodiscard]] static std::size_t slice_of(const Matrix &matrix) noexcept;
    [[nodiscard]] doca_error_t begin(Operation &operation) noexcept override;
    [[nodiscard]] doca_error_t advance() noexcept override;
    [[nodiscard]] bool cancel() noexcept override { return true; }
    void ended(Operation &operation) noexcept override { operation.payload<Request>().matrix->end_use(); }

    /// Does the same as check(), and sets @p layout.
    [[nodiscard]] doca_error_t check(const Matrix *matrix, const doca_buf *source, const doca_buf *destination,
                                     Layout &layout) const noexcept;
    [[nodiscard]] doca_error_t check_list(const doca_buf &list, bool for_writing) const noexcept;
    /// Sets @p block to the size of a block of the source. IO_FAILED if there is none.
    [[nodiscard]] doca_error_t check_lengths(const Matrix &matrix, const doca_buf &source, const doca_buf &destination,
                                             std::size_t &block) const noexcept;

    /// Sets @p addresses to those of the blocks of a list. Returns false if a block does not lie within one buffer of
    /// memory of this process; some addresses may be set then.
    [[nodiscard]] static bool find_whole_blocks(Cursor list, std::size_t block,
                                                std::span<std::byte *> addresses) noexcept;
    /// Sets @p blocks to the beginnings of the blocks of a list.
    static void find_blocks(Cursor list, std::size_t block, std::span<Cursor> blocks) noexcept;
    /// Finds the blocks of a checked request, which is from then on the one in progress.
    void begin_request(const Request &request, const Layout &layout) noexcept;
    /// Multiplies the next @p length bytes of the blocks of the request in progress, at most a slice.
    [[nodiscard]] doca_error_t multiply_slice(std::size_t length) noexcept;
    /// Multiplies the next @p length bytes by copies of what cannot be used where it is; all of them fit into the
    /// staging memory.
    [[nodiscard]] doca_error_t multiply_copies(std::size_t length) noexcept;
    /// Copy the next @p length bytes at a cursor to staging memory, or from it, and move the cursor past them.
    [[nodiscard]] doca_error_t gather(Cursor &from, std::byte *staging, std::size_t length) noexcept;
    [[nodiscard]] doca_error_t scatter(Cursor &to, std::byte *staging, std::size_t length) noexcept;

    const Device &device_;
    const Limits limits_;
    std::unique_ptr<MemoryCopier> copier_; ///< null if the device has none: imported memory is then refused
    // The request in progress.
    Request request_{};
    std::size_t block_ = 0; ///< bytes of a block
    std::size_t done_ = 0;  ///< bytes of each block that have been multiplied
    bool is_whole_ = false; ///< each block lies within one buffer, and addresses_ has its bytes from done_ on
    bool copies_all_ = false;
    // Its inputs, then its outputs.
    std::vector<Cursor> blocks_ = std::vector<Cursor>(Matrix::max_inputs + Matrix::max_outputs);
    std::vector<std::byte *> addresses_ = std::vector<std::byte *>(Matrix::max_inputs + Matrix::max_outputs);
    struct alignas(block_unit) Line {
        std::byte bytes[block_unit];
    };
    std::unique_ptr<Line[]> staging_ = std::make_unique<Line[]>(staging_size / sizeof(Line));
};

} // namespace opendoca
