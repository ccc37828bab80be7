// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_queue.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string_view>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <doca_dma.h>
#include <doca_log.h>

#include "../../mmap.hpp"
#include "../../workq.hpp"
#include "copy.hpp"
#include "process_copy.hpp"

DOCA_LOG_REGISTER(DOCA_SOFT_COPY);

namespace opendoca::soft {

namespace {

/// Between two looks at whether the memory was revoked: keeps an exporter's stop short.
constexpr std::size_t chunk_size = std::size_t{8} << 20;
constexpr std::size_t bounce_size = std::size_t{64} << 10;
constexpr std::size_t expected_exporters = 16;

/// Announces in the exporter's page that its memory is about to be touched, for as long as it lives: a hazard pointer.
/// Does nothing for memory of this process. A slot has one writer, so that two of them can share it.
class Hazard {
public:
    enum class Side : std::uint32_t { src = 0, dst = 16 };

    Hazard(const RemoteMemory *memory, ReaderSlot *slot, Side side) noexcept
        : memory_(memory), slot_(slot), shift_(static_cast<std::uint32_t>(side))
    {
        if (memory_ == nullptr)
            return;
        const std::uint32_t marks = slot_->in_use.load(std::memory_order_relaxed) | (memory_->entry() + 1) << shift_;
        // Ordered before the look at the generation by nothing but the compiler, because Exporter::revoke makes a
        // barrier for both; by the exchange where it can't.
        if (memory_->process()->needs_barrier()) [[unlikely]] {
            slot_->in_use.exchange(marks, std::memory_order_seq_cst);
        } else {
            slot_->in_use.store(marks, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
    }
    Hazard(const Hazard &) = delete;
    Hazard &operator=(const Hazard &) = delete;

    ~Hazard()
    {
        if (memory_ == nullptr)
            return;
        // Release: what was done to the memory happened before.
        const std::uint32_t marks = slot_->in_use.load(std::memory_order_relaxed) & ~(0xffffU << shift_);
        slot_->in_use.store(marks, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (!memory_->is_live()) [[unlikely]] // someone may be waiting in Exporter::revoke
            syscall(SYS_futex, &slot_->in_use, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }

    /// NOT_PERMITTED when the memory was revoked, CONNECTION_RESET when its process has ended.
    [[nodiscard]] doca_error_t status() const noexcept
    {
        if (memory_ == nullptr || (memory_->is_live() && !memory_->process()->is_gone())) [[likely]]
            return DOCA_SUCCESS;
        return explain();
    }

private:
    [[gnu::cold]] [[nodiscard]] doca_error_t explain() const noexcept
    {
        const int pid = memory_->process()->pid();
        if (memory_->process()->is_gone()) {
            DOCA_LOG_ERR("process %d, whose memory is copied, has ended", pid);
            return DOCA_ERROR_CONNECTION_RESET;
        }
        DOCA_LOG_ERR("process %d has stopped the export of [%p, +%zu)", pid,
                     static_cast<void *>(memory_->range().addr), memory_->range().len);
        return DOCA_ERROR_NOT_PERMITTED;
    }

    const RemoteMemory *memory_;
    ReaderSlot *slot_;
    std::uint32_t shift_;
};

/// Walks the data sections of a source list, or the room of a destination list.
class Cursor {
public:
    static Cursor over_data(const doca_buf &list) noexcept { return Cursor(&list, false, false); }
    static Cursor over_room(const doca_buf &list, bool overwrites) noexcept { return Cursor(&list, true, overwrites); }

    [[nodiscard]] const doca_buf &buf() const noexcept { return *buf_; }
    [[nodiscard]] std::byte *addr() const noexcept { return addr_; }
    [[nodiscard]] std::size_t left() const noexcept { return left_; }

    void skip_empty() noexcept
    {
        while (left_ == 0)
            enter(buf_->next);
    }
    void advance(std::size_t length) noexcept
    {
        addr_ += length;
        left_ -= length;
    }

private:
    Cursor(const doca_buf *list, bool in_room, bool overwrites) noexcept : in_room_(in_room), overwrites_(overwrites)
    {
        enter(list);
    }

    void enter(const doca_buf *buf) noexcept
    {
        buf_ = buf;
        addr_ = buf->data + (in_room_ && !overwrites_ ? buf->data_len : 0);
        left_ = in_room_ && !overwrites_ ? buf->tailroom() : buf->data_len;
    }

    const doca_buf *buf_ = nullptr;
    std::byte *addr_ = nullptr;
    std::size_t left_ = 0;
    bool in_room_;
    bool overwrites_;
};

/// DOCA_SOFT_DEFER=1 in the environment.
bool is_deferring()
{
    const char *const text = std::getenv("DOCA_SOFT_DEFER");
    return text != nullptr && std::string_view(text) == "1";
}

} // namespace

SoftCopyQueue::SoftCopyQueue(doca_workq &workq, const doca_dev &dev, JobQueue &owner)
    : workq_(workq),
      dev_(dev),
      owner_(owner),
      bounce_(std::make_unique_for_overwrite<std::byte[]>(bounce_size)),
      is_deferring_(is_deferring()),
      deferred_(is_deferring_ ? workq.depth() : 0)
{
    readers_.reserve(expected_exporters);
}

SoftCopyQueue::~SoftCopyQueue()
{
    for (const Reader &reader : readers_)
        ExporterProcess::give_back(*reader.slot);
}

const SoftKey &SoftCopyQueue::key_of(const doca_buf &buf) const noexcept
{
    return static_cast<const SoftKey &>(*buf.mmap->key_for(&dev_));
}

doca_error_t SoftCopyQueue::copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst, MemoryKey &src) noexcept
{
    const auto &dst_key = static_cast<SoftKey &>(dst);
    const auto &src_key = static_cast<SoftKey &>(src);
    if (plan.is_list || dst_key.remote() != nullptr || src_key.remote() != nullptr || is_deferring_ ||
        workq_.is_full() || workq_.is_armed())
        return copy_any(job, plan, dst_key, src_key);
    // Between two buffers of this process nothing can go wrong any more: recording the end first leaves nothing to be
    // done after the copy. Only this thread could see the difference.
    doca_buf &to = *job.dst_buff;
    const std::size_t before = plan.overwrites ? 0 : to.data_len;
    to.data_len = before + plan.length;
    workq_.complete_unarmed(job.base, owner_, DOCA_SUCCESS);
    return copy_bytes(to.data + before, job.src_buff->data, plan.length, plan.length);
}

doca_error_t SoftCopyQueue::copy_any(const doca_dma_job_memcpy &job, CopyPlan plan, const SoftKey &dst,
                                     const SoftKey &src) noexcept
{
    const CopyPayload copy = {job.dst_buff, job.src_buff, plan};
    if (!is_deferring_) {
        if (workq_.is_full())
            return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
        workq_.complete_at_once(job.base, owner_, execute(copy, dst, src));
        return DOCA_SUCCESS;
    }
    JobSlot *const slot = workq_.take_slot(job.base, owner_);
    if (slot == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    slot->copy = copy;
    deferred_[(first_deferred_ + num_deferred_++) % deferred_.size()] = slot;
    if (workq_.is_armed())
        workq_.wake(); // retrieving is what carries it out
    return DOCA_SUCCESS;
}

/// One job a call, so that each waits for the retrieve that gives it out.
void SoftCopyQueue::progress() noexcept
{
    if (num_deferred_ == 0)
        return;
    JobSlot &job = *deferred_[first_deferred_];
    first_deferred_ = (first_deferred_ + 1) % deferred_.size();
    --num_deferred_;
    workq_.complete(job, execute(job.copy, key_of(*job.copy.dst), key_of(*job.copy.src)));
}

doca_error_t SoftCopyQueue::execute(const CopyPayload &copy, const SoftKey &dst_key, const SoftKey &src_key) noexcept
{
    if (copy.plan.is_list)
        return execute_list(copy);
    doca_buf &dst = *copy.dst;
    const std::size_t before = copy.plan.overwrites ? 0 : dst.data_len;
    const doca_error_t status =
        copy_segment(dst_key, dst.data + before, src_key, copy.src->data, copy.plan.length, copy.plan.length);
    if (status == DOCA_SUCCESS)
        dst.data_len = before + copy.plan.length;
    return status;
}

doca_error_t SoftCopyQueue::execute_list(const CopyPayload &copy) noexcept
{
    Cursor src = Cursor::over_data(*copy.src);
    Cursor dst = Cursor::over_room(*copy.dst, copy.plan.overwrites);
    for (std::size_t left = copy.plan.length; left != 0;) {
        src.skip_empty();
        dst.skip_empty();
        const std::size_t length = std::min({left, src.left(), dst.left()});
        const doca_error_t status = copy_segment(key_of(dst.buf()), dst.addr(), key_of(src.buf()), src.addr(), length,
                                                 copy.plan.length);
        if (status != DOCA_SUCCESS)
            return status;
        src.advance(length);
        dst.advance(length);
        left -= length;
    }
    std::size_t left = copy.plan.length;
    for (doca_buf *buf = copy.dst; buf != nullptr; buf = buf->next) {
        const std::size_t length = std::min(left, copy.plan.overwrites ? buf->data_len : buf->tailroom());
        buf->data_len = copy.plan.overwrites ? length : buf->data_len + length;
        left -= length;
    }
    return DOCA_SUCCESS;
}

doca_error_t SoftCopyQueue::copy_segment(const SoftKey &dst_key, std::byte *dst, const SoftKey &src_key, std::byte *src,
                                         std::size_t length, std::size_t total) noexcept
{
    const RemoteMemory *const dst_memory = dst_key.remote();
    const RemoteMemory *const src_memory = src_key.remote();
    if (dst_memory == nullptr && src_memory == nullptr)
        return copy_bytes(dst, src, length, total);
    while (length > chunk_size) {
        const doca_error_t status = copy_guarded(dst_memory, dst, src_memory, src, chunk_size, total);
        if (status != DOCA_SUCCESS)
            return status;
        dst += chunk_size;
        src += chunk_size;
        length -= chunk_size;
    }
    return copy_guarded(dst_memory, dst, src_memory, src, length, total);
}

inline ReaderSlot *SoftCopyQueue::reader_for(const RemoteMemory &memory) noexcept
{
    for (const Reader &reader : readers_) {
        if (reader.process == memory.process())
            return reader.slot;
    }
    return add_reader(memory);
}

doca_error_t SoftCopyQueue::copy_guarded(const RemoteMemory *dst_memory, std::byte *dst,
                                         const RemoteMemory *src_memory, std::byte *src, std::size_t length,
                                         std::size_t total) noexcept
{
    ReaderSlot *const dst_slot = dst_memory == nullptr ? nullptr : reader_for(*dst_memory);
    ReaderSlot *const src_slot = src_memory == nullptr ? nullptr : reader_for(*src_memory);
    if ((dst_memory != nullptr && dst_slot == nullptr) || (src_memory != nullptr && src_slot == nullptr)) [[unlikely]]
        return DOCA_ERROR_NO_MEMORY;
    const Hazard dst_hazard(dst_memory, dst_slot, Hazard::Side::dst);
    const Hazard src_hazard(src_memory, src_slot, Hazard::Side::src);
    if (const doca_error_t status = dst_hazard.status(); status != DOCA_SUCCESS) [[unlikely]]
        return status;
    if (const doca_error_t status = src_hazard.status(); status != DOCA_SUCCESS) [[unlikely]]
        return status;

    // What is mapped here is memory like our own; what is left of the remote ones, the kernel must copy.
    const auto resolve = [](const RemoteMemory *&memory, std::byte *&addr) {
        if (memory != nullptr && memory->reach() == RemoteMemory::Reach::mapped) {
            addr = memory->here(addr);
            memory = nullptr;
        }
    };
    resolve(dst_memory, dst);
    resolve(src_memory, src);
    doca_error_t status = dst_memory == nullptr && src_memory == nullptr
                              ? copy_bytes(dst, src, length, total)
                              : copy_by_kernel(dst_memory, dst, src_memory, src, length);
    // A process that has ended in the middle may have left half of it.
    if (status == DOCA_SUCCESS)
        status = dst_hazard.status();
    return status == DOCA_SUCCESS ? src_hazard.status() : status;
}

/// Null stands for memory that can be copied here.
doca_error_t SoftCopyQueue::copy_by_kernel(const RemoteMemory *dst_memory, std::byte *dst,
                                           const RemoteMemory *src_memory, std::byte *src,
                                           std::size_t length) noexcept
{
    if (dst_memory == nullptr)
        return read_process(*src_memory->process(), dst, src, length);
    if (src_memory == nullptr)
        return write_process(*dst_memory->process(), dst, src, length);
    for (std::size_t done = 0; done != length;) {
        const std::size_t step = std::min(length - done, bounce_size);
        doca_error_t status = read_process(*src_memory->process(), bounce_.get(), src + done, step);
        if (status == DOCA_SUCCESS)
            status = write_process(*dst_memory->process(), dst + done, bounce_.get(), step);
        if (status != DOCA_SUCCESS)
            return status;
        done += step;
    }
    return DOCA_SUCCESS;
}

/// First contact with a process; those that nothing is imported from any more make room.
ReaderSlot *SoftCopyQueue::add_reader(const RemoteMemory &memory) noexcept
{
    std::erase_if(readers_, [](const Reader &reader) {
        const bool is_unused = reader.process.use_count() == 1;
        if (is_unused)
            ExporterProcess::give_back(*reader.slot);
        return is_unused;
    });
    ReaderSlot *const slot = memory.process()->take_slot();
    if (slot == nullptr)
        return nullptr;
    try {
        readers_.push_back({memory.process(), slot});
    } catch (...) {
        ExporterProcess::give_back(*slot);
        return nullptr;
    }
    return slot;
}

} // namespace opendoca::soft
