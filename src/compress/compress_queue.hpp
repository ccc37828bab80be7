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
#include "../core/engine/sliced_queue.hpp"
#include "../core/objects/buf.hpp"
#include "codec.hpp"
#include "deflate.hpp"
#include "lz4.hpp"
#include "scratch.hpp"
#include "worker_thread.hpp"

namespace opendoca {

/// Returns whether this build and @p can support tasks of @p kind.
[[nodiscard]] bool can_compress(const Capabilities &can, CompressKind kind) noexcept;

/// One task. The pointers may be null, and are rejected then.
struct CompressRequest {
    CompressKind kind;
    Lz4StreamFlags lz4;    ///< of decompress_lz4_stream
    ChecksumSet checksums; ///< those to compute
    const doca_buf *source;
    doca_buf *destination;
};

/// Compresses and decompresses on the CPU. A short operation is carried out within its submission, on the completion
/// queue's thread. A long one is carried out by a worker thread, as a whole, since the codecs have no function that can
/// be interrupted; meanwhile the others wait. Owned by a context, one for each of its completion queues; used by that
/// queue's thread only.
///
/// The codecs work on one contiguous source and one contiguous destination. Lists whose elements are adjacent in memory
/// are used in place, but for the source of a compression. All others, and imported memory, are copied through scratch
/// memory: that costs less than the streaming interfaces that codecs have for pieces, and keeps a single code path.
class CompressQueue final : public SlicedQueue {
public:
    /// Limits of source and destination.
    struct Limits {
        std::uint32_t list_elements; ///< buffers in a list
        std::uint64_t size;          ///< bytes
    };

    /// Throws std::bad_alloc. @p completions and @p device must outlive the object.
    CompressQueue(CompletionQueue &completions, const Device &device, const Limits &limits)
        : SlicedQueue(completions, device.function().order_of_late("compression")),
          device_(device),
          limits_(limits)
    {
    }

    /// Allocates what every kind of task needs, and starts the thread for long ones. Must precede all other calls.
    /// NO_MEMORY or an error of the device.
    [[nodiscard]] doca_error_t open(Device &device);
    /// Allocates what tasks of @p kind need. Must precede run() with that kind. Throws std::bad_alloc.
    void prepare(CompressKind kind);

    /// Starts @p request, whose completion has the status. It is copied; the buffers must stay as they are until the
    /// completion is retrieved. On success the destination's data has then grown by the result, and the checksums are
    /// stored at @p checksums: for ChecksumSet::of_format a Checksums, for crc_and_adler a std::uint64_t with the
    /// Adler-32 in its upper half. Returns an error of check(), or NO_MEMORY without a credit; nothing has then
    /// changed.
    [[nodiscard]] doca_error_t run(Tag tag, const CompressRequest &request, void *checksums) noexcept;
    /// Returns INVALID_VALUE or NOT_PERMITTED, after a log line, if @p request cannot be carried out.
    [[nodiscard]] doca_error_t check(const CompressRequest &request) const noexcept;

    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override { worker_.disarm(); }

private:
    /// An operation that waits or is in progress.
    struct Waiting {
        CompressRequest request;
        void *checksums; ///< as run() takes it
    };
    /// The data of a source or the free space of a destination.
    struct Section {
        std::byte *start = nullptr; ///< valid if is_in_place
        std::size_t length = 0;     ///< bytes; of a destination, limited to Limits::size
        bool is_in_place = true;    ///< contiguous memory of this process
    };

    [[nodiscard]] doca_error_t check(const CompressRequest &request, Section &source,
                                     Section &destination) const noexcept;
    [[nodiscard]] doca_error_t check_list(const doca_buf &list, bool is_destination, Section &section) const noexcept;
    [[nodiscard]] doca_error_t check_element(const doca_buf &buf, bool is_destination) const noexcept;

    /// A request on its way, and its result. While the worker thread carries it out, the other thread does not use it.
    struct Job {
        CompressRequest request{};
        void *checksums = nullptr; ///< where they are stored on success
        Section source{};
        Section destination{};
        std::size_t max_result = 0; ///< bytes, at most those of the destination

        doca_error_t status = DOCA_SUCCESS; ///< of the copies; the rest is valid if this is SUCCESS
        CodecResult result = CodecResult::success;
        std::size_t length = 0; ///< bytes of the result
        Checksums computed{};
    };

    // Of SlicedQueue.
    [[nodiscard]] doca_error_t begin(Operation &operation) noexcept override;
    [[nodiscard]] doca_error_t advance() noexcept override;
    [[nodiscard]] bool cancel() noexcept override;
    void wait_and_discard() noexcept override;

    /// Returns whether @p job can be tried within a submission. Its result is then limited to a slice.
    [[nodiscard]] static bool may_be_short(const Job &job) noexcept;
    /// Carries out job_ if it is short. Returns IN_PROGRESS, and has changed nothing outside of the destination's free
    /// space, if it is not: its source or its result is longer than a slice.
    [[nodiscard]] doca_error_t try_short() noexcept;
    /// Carries out job_ as far as another thread may: does not use the completion queue, nor write to buffers' lengths.
    void carry_out() noexcept;
    /// Does the rest of a job_ that was carried out, and returns its status.
    [[nodiscard]] doca_error_t conclude() noexcept;
    void store_checksums() noexcept;
    void log_failure() noexcept;
    [[nodiscard]] doca_error_t run_codec_and_copy(Job &job) noexcept;
    /// Copies the data of @p source to the scratch memory.
    [[nodiscard]] doca_error_t gather(const doca_buf &source) noexcept;
    /// Copies @p result to the free space of @p destination.
    [[nodiscard]] doca_error_t scatter(doca_buf &destination, std::span<std::byte> result) noexcept;
    [[nodiscard]] CodecResult run_codec(const CompressRequest &request, std::span<const std::byte> in,
                                        std::span<std::byte> out, std::size_t &length) noexcept;

    const Device &device_;
    const Limits limits_;
    std::unique_ptr<MemoryCopier> copier_; ///< null if the device has none: imported memory is then refused
    std::optional<DeflateCompressor> compressor_;
    std::optional<DeflateDecompressor> decompressor_;
    Scratch source_scratch_;
    Scratch result_scratch_;
    Job job_{};
    bool is_known_as_long_ = false; ///< run() has tried the operation that it is about to begin
    bool has_logged_bad_data_ = false;
    bool has_logged_no_room_ = false;
    /// Carries out job_. Destroyed first, so that nothing that it uses is destroyed while it does so.
    WorkerThread worker_{completions_, [](void *self) noexcept { static_cast<CompressQueue *>(self)->carry_out(); },
                         this};
};

} // namespace opendoca
