// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_engine.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <string_view>

#include "../../../log/log.hpp"
#include "../../../objects/mmap.hpp"
#include "../../cursor.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_COPY);

namespace opendoca::soft {

namespace {

/// Returns whether the environment has DOCA_SOFT_DEFER=1.
bool is_deferring()
{
    const char *const text = std::getenv("DOCA_SOFT_DEFER");
    return text != nullptr && std::string_view(text) == "1";
}

} // namespace

SoftCopyEngine::SoftCopyEngine(const SoftDevice &device, CompletionQueue &completions, FastCopies fast_copies)
    : device_(device),
      completions_(completions),
      is_deferring_(device.is_strict() || is_deferring()),
      copies_at_once_(!is_deferring_ && fast_copies == FastCopies::enabled)
{
    if (!is_deferring_)
        return;
    if (device.is_strict()) {
        random_ = StrictRandom::of_next_engine();
        set_ordered(false);
        LOG_INFO("copies of device %s are carried out when they are retrieved (strict: late-destination), in an order "
                 "by DOCA_SOFT_STRICT_SEED=%" PRIu64 " (strict: unordered-completions)",
                 device.function().description().c_str(), StrictRandom::seed());
    }
    deferred_ = std::make_unique_for_overwrite<Operation *[]>(completions.depth());
    completions.reserve_polled();
    completions.start_polling(*this);
}

SoftCopyEngine::~SoftCopyEngine()
{
    if (!is_deferring_)
        return;
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
}

doca_error_t SoftCopyEngine::copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept
{
    if (is_deferring_)
        return defer(tag, dst, src, plan);
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    const FirstKey &from = src.mmap->first();
    const FirstKey &to = dst.mmap->first();
    if (copies_at_once_ && !plan.is_list && plan.length != 0 && from.device == &device_ && to.device == &device_)
        [[likely]] {
        const bool is_src_here = (from.uses & KeyUse::copied_here) != 0;
        const bool is_dst_here = (to.uses & KeyUse::copied_here) != 0;
        if (is_dst_here && !is_src_here)
            return copy_remote<HazardGuard::Side::src>(tag, dst, src, plan);
        if (is_src_here && !is_dst_here)
            return copy_remote<HazardGuard::Side::dst>(tag, dst, src, plan);
    }
    completions_.done(tag, *this, execute(dst, src, plan));
    return DOCA_SUCCESS;
}

/// For a copy with imported memory on one side.
template <HazardGuard::Side side>
[[gnu::always_inline]] inline doca_error_t SoftCopyEngine::copy_remote(Tag tag, doca_buf &dst, const doca_buf &src,
                                                                       CopyPlan plan) noexcept
{
    const std::size_t before = plan.overwrites ? 0 : dst.data_len;
    if (copy_by_cache<side>(dst, src, before, plan.length)) [[likely]] {
        dst.data_len = before + plan.length;
        completions_.done(tag, *this, DOCA_SUCCESS);
        return DOCA_SUCCESS;
    }
    const FirstKey &there = imported_key(side, dst, src);
    CachedRemoteKey &key = cached(side, there.number);
    const doca_error_t status = execute(dst, src, plan);
    completions_.done(tag, *this, status);
    if (status == DOCA_SUCCESS && !key.is_of(there.number))
        key = copier_.cached_key_for(there.number, *static_cast<const SoftKey *>(there.key)->remote(), side);
    return DOCA_SUCCESS;
}

const RemoteMemory *SoftCopyEngine::memory_of(const doca_buf &buf) const noexcept
{
    return static_cast<const SoftKey &>(*buf.mmap->key_for(device_)).remote();
}

doca_error_t SoftCopyEngine::defer(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept
{
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    Operation &operation = completions_.begin(tag, *this);
    operation.payload<Copy>() = {&dst, &src, plan};
    deferred_[(first_deferred_ + num_deferred_++) % completions_.depth()] = &operation;
    completions_.wake_if_waiting(); // the copy is carried out when it is retrieved
    return DOCA_SUCCESS;
}

void SoftCopyEngine::progress() noexcept
{
    if (num_deferred_ == 0)
        return;
    // The chosen one changes places with the oldest.
    if (is_shuffling_)
        std::swap(deferred_[first_deferred_],
                  deferred_[(first_deferred_ + random_.below(num_deferred_)) % completions_.depth()]);
    Operation &operation = *deferred_[first_deferred_];
    first_deferred_ = (first_deferred_ + 1) % completions_.depth();
    --num_deferred_;
    completions_.done(operation, execute_deferred(operation.payload<Copy>()));
}

void SoftCopyEngine::end_deferred(doca_error_t status) noexcept
{
    for (; num_deferred_ != 0; --num_deferred_) {
        completions_.done(*deferred_[first_deferred_], status);
        first_deferred_ = (first_deferred_ + 1) % completions_.depth();
    }
}

/// The buffers may have changed since the check: by the program, or by an earlier copy.
doca_error_t SoftCopyEngine::execute_deferred(const Copy &copy) noexcept
{
    const auto are_inside = [](const doca_buf *list) {
        for (; list != nullptr; list = list->next) {
            if (!list->has_data_inside())
                return false;
        }
        return true;
    };
    if (!are_inside(copy.src) || !are_inside(copy.dst) || data_of(*copy.src) < copy.plan.length ||
        room_of(*copy.dst, copy.plan.overwrites) < copy.plan.length) {
        LOG_ERR("a buffer of a copy of %zu bytes has changed since its submission: the source has %zu bytes, and the "
                "destination has room for %zu",
                copy.plan.length, data_of(*copy.src), room_of(*copy.dst, copy.plan.overwrites));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return execute(*copy.dst, *copy.src, copy.plan);
}

doca_error_t SoftCopyEngine::execute(doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept
{
    if (plan.is_list)
        return execute_list(dst, src, plan);
    const std::size_t before = plan.overwrites ? 0 : dst.data_len;
    const doca_error_t status =
        copier_.copy(memory_of(dst), dst.data + before, memory_of(src), src.data, plan.length, plan.length);
    if (status == DOCA_SUCCESS)
        dst.data_len = before + plan.length;
    return status;
}

doca_error_t SoftCopyEngine::execute_list(doca_buf &dst_list, const doca_buf &src_list, CopyPlan plan) noexcept
{
    Cursor src = Cursor::over_data(src_list);
    Cursor dst = Cursor::over_destination(dst_list, plan.overwrites);
    for (std::size_t left = plan.length; left != 0;) {
        src.skip_empty();
        dst.skip_empty();
        const std::size_t length = std::min({left, src.left(), dst.left()});
        const doca_error_t status =
            copier_.copy(memory_of(dst.buf()), dst.addr(), memory_of(src.buf()), src.addr(), length, plan.length);
        if (status != DOCA_SUCCESS)
            return status;
        src.advance(length);
        dst.advance(length);
        left -= length;
    }
    extend_data(dst_list, plan.length, plan.overwrites);
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
