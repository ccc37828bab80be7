// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs become work requests: plain ones in one function each from submit to libibverbs, all others by way of
// QueuePair::submit(), which checks them and says what is wrong with them.
#include <algorithm>
#include <iterator>

#include <doca_log.h>

#include "../cursor.hpp"
#include "queue_pair.hpp"

DOCA_LOG_REGISTER(DOCA_VERBS_JOBS);

namespace opendoca::verbs {

namespace {

constexpr std::uint32_t word_size = 8; ///< bytes that an atomic moves

std::uint64_t address(const std::byte *data) noexcept
{
    return reinterpret_cast<std::uintptr_t>(data);
}

/// Of a buffer whose memory has the device as its first one.
std::uint32_t first_key_of(const doca_buf &buf) noexcept
{
    return verbs_key(buf.mmap->first_key_number());
}

std::uint32_t key_of(const doca_buf &buf, const doca_dev &dev) noexcept
{
    return verbs_key(buf.mmap->key_for(&dev)->number);
}

std::uint32_t key_of(const MemoryKey *remote) noexcept
{
    return remote == nullptr ? 0 : verbs_key(remote->number);
}

// What a request takes its data from.

constexpr auto set_inline_data = [](ibv_qp_ex *sender, const doca_buf &src) {
    ibv_wr_set_inline_data(sender, src.data, src.data_len);
};
constexpr auto set_segment = [](ibv_qp_ex *sender, const doca_buf &src) {
    ibv_wr_set_sge(sender, first_key_of(src), address(src.data), static_cast<std::uint32_t>(src.data_len));
};

} // namespace

doca_error_t VerbsQueuePair::submit(const doca_job &job) noexcept
{
    // By a table, because a switch costs more, and with the functions in it, a stack for all of them.
    using Function = doca_error_t (*)(VerbsQueuePair &, const doca_job &) noexcept;
    static constexpr Function functions[] = {receive_plain, send_plain<false>,  send_plain<true>,
                                             read_plain,    write_plain<false>, write_plain<true>};
    static_assert(
        DOCA_RDMA_JOB_SEND == DOCA_RDMA_JOB_RECV + 1 && DOCA_RDMA_JOB_SEND_IMM == DOCA_RDMA_JOB_RECV + 2 &&
        DOCA_RDMA_JOB_READ == DOCA_RDMA_JOB_RECV + 3 && DOCA_RDMA_JOB_WRITE == DOCA_RDMA_JOB_RECV + 4 &&
        DOCA_RDMA_JOB_WRITE_IMM == DOCA_RDMA_JOB_RECV + 5);
    const auto index = static_cast<unsigned>(job.type) - DOCA_RDMA_JOB_RECV;
    return index < std::size(functions) ? functions[index](*this, job) : QueuePair::submit(job);
}

[[gnu::always_inline]] inline JobSlot &VerbsQueuePair::take_plain(const doca_job &job, Stage stage,
                                                                  std::uint32_t reported, doca_buf *dst,
                                                                  std::uint32_t growth) noexcept
{
    JobSlot &slot = workq_->take_free_slot(job, *this);
    Work &work = slot.payload<Work>();
    work.stage = stage;
    work.outcome.length = reported;
    work.dst = dst;
    work.growth = growth;
    return slot;
}

/// Null when there is no room.
JobSlot *VerbsQueuePair::take_special(const doca_job &job, std::uint32_t &room, std::uint32_t reported,
                                      doca_buf *dst, TransferPlan plan) noexcept
{
    open();
    if (room == 0 || workq_->is_full())
        return nullptr;
    --room;
    JobSlot &slot = workq_->take_free_slot(job, *this);
    slot.write_result = write_outcome;
    slot.payload<Work>() = {.stage = Stage::special,
                            .outcome = {.length = reported, .immediate = 0, .opcode = 0},
                            .dst = plan.length == 0 ? nullptr : dst,
                            .growth = plan.length,
                            .is_list = plan.is_list,
                            .overwrites = plan.overwrites};
    return &slot;
}

/// The instance is connected.
void VerbsQueuePair::open() noexcept
{
    if (room_ != 0) [[likely]]
        return;
    send_room_ = settings_.send_queue_size;
    receive_room_ = settings_.recv_queue_size;
    room_ = send_room_ + receive_room_;
}

doca_error_t VerbsQueuePair::refuse(JobSlot &slot, int error) noexcept
{
    auto &self = static_cast<VerbsQueuePair &>(*static_cast<JobQueue *>(slot.owner));
    DOCA_LOG_ERR("posting a job of type %d: errno %d", slot.type, error);
    ++(slot.type == DOCA_RDMA_JOB_RECV ? self.receive_room_ : self.send_room_);
    self.workq_->release(slot);
    return DOCA_ERROR_DRIVER;
}

/// A request for the data of @p src, of which @p make says what to do with it; @p dst grows by it, or is
/// null.
template <bool is_read, typename Make>
[[gnu::always_inline]] inline doca_error_t VerbsQueuePair::post_plain(const doca_job &job, unsigned flags,
                                                                      const doca_buf &src, doca_buf *dst,
                                                                      Make make) noexcept
{
    ibv_qp_ex *const sender = sender_;
    --send_room_;
    const auto length = static_cast<std::uint32_t>(src.data_len);
    JobSlot &slot = take_plain(job, Stage::plain_send, is_read ? length : 0, dst, length);
    ibv_wr_start(sender);
    sender->wr_id = id_of(slot);
    sender->wr_flags = IBV_SEND_SIGNALED | flags;
    make(sender);
    if (const int error = ibv_wr_complete(sender); error != 0) [[unlikely]]
        return refuse(slot, error);
    return DOCA_SUCCESS;
}

[[gnu::always_inline]] inline doca_error_t VerbsQueuePair::post_receive(JobSlot &slot, ibv_sge *segments,
                                                                        int num_segments) noexcept
{
    ibv_recv_wr request;
    request.wr_id = id_of(slot);
    request.next = nullptr;
    request.sg_list = segments;
    request.num_sge = num_segments;
    ibv_recv_wr *bad = nullptr;
    if (const int error = ibv_post_recv(queue_pair_, &request, &bad); error != 0) [[unlikely]]
        return refuse(slot_of(request.wr_id), error);
    return DOCA_SUCCESS;
}

doca_error_t VerbsQueuePair::receive_plain(VerbsQueuePair &self, const doca_job &base) noexcept
{
    const auto &job = reinterpret_cast<const doca_rdma_job_recv &>(base);
    doca_buf *const dst = job.dst_buff;
    if (dst == nullptr || !self.is_plain_local(*dst) || self.receive_room_ == 0 || self.workq_->is_full())
        [[unlikely]]
        return self.QueuePair::submit(base);
    const std::size_t room = dst->tailroom();
    if (room - 1 >= self.max_message_size()) [[unlikely]]
        return self.QueuePair::submit(base);
    --self.receive_room_;
    ibv_sge segment = {address(dst->data) + dst->data_len, static_cast<std::uint32_t>(room),
                       first_key_of(*dst)};
    return self.post_receive(self.take_plain(base, Stage::plain_receive, 0, dst, 0), &segment, 1);
}

template <bool has_immediate>
doca_error_t VerbsQueuePair::send_plain(VerbsQueuePair &self, const doca_job &base) noexcept
{
    const auto &job = reinterpret_cast<const doca_rdma_job_send &>(base);
    const doca_buf *const src = job.src_buff;
    if (src == nullptr || !self.is_plain_local(*src) || self.send_room_ == 0 || self.workq_->is_full())
        [[unlikely]]
        return self.QueuePair::submit(base);
    const auto post = [&](unsigned flags, auto set_data) {
        return self.post_plain<false>(base, flags, *src, nullptr, [&](ibv_qp_ex *sender) {
            if constexpr (has_immediate)
                ibv_wr_send_imm(sender, job.immediate_data);
            else
                ibv_wr_send(sender);
            set_data(sender, *src);
        });
    };
    if (src->data_len - 1 < self.max_inline_)
        return post(IBV_SEND_INLINE, set_inline_data); // rdma_rxe wants the flag when the request is started
    if (src->data_len - 1 < self.max_message_size())
        return post(0, set_segment);
    return self.QueuePair::submit(base);
}

doca_error_t VerbsQueuePair::read_plain(VerbsQueuePair &self, const doca_job &base) noexcept
{
    const auto &job = reinterpret_cast<const doca_rdma_job_read_write &>(base);
    const doca_buf *const src = job.src_buff;
    doca_buf *const dst = job.dst_buff;
    if (src == nullptr || dst == nullptr || !self.is_plain_remote(*src) || !self.is_plain_local(*dst) ||
        src->data_len - 1 >= self.max_message_size() || src->data_len > dst->tailroom() ||
        self.send_room_ == 0 || self.workq_->is_full()) [[unlikely]]
        return self.QueuePair::submit(base);
    return self.post_plain<true>(base, 0, *src, dst, [&](ibv_qp_ex *sender) {
        ibv_wr_rdma_read(sender, first_key_of(*src), address(src->data));
        ibv_wr_set_sge(sender, first_key_of(*dst), address(dst->data) + dst->data_len,
                       static_cast<std::uint32_t>(src->data_len));
    });
}

template <bool has_immediate>
doca_error_t VerbsQueuePair::write_plain(VerbsQueuePair &self, const doca_job &base) noexcept
{
    const auto &job = reinterpret_cast<const doca_rdma_job_read_write &>(base);
    const doca_buf *const src = job.src_buff;
    doca_buf *const dst = job.dst_buff;
    if (src == nullptr || dst == nullptr || !self.is_plain_local(*src) || !self.is_plain_remote(*dst) ||
        src->data_len > dst->tailroom() || self.send_room_ == 0 || self.workq_->is_full()) [[unlikely]]
        return self.QueuePair::submit(base);
    const auto post = [&](unsigned flags, auto set_data) {
        return self.post_plain<false>(base, flags, *src, dst, [&](ibv_qp_ex *sender) {
            const std::uint64_t to = address(dst->data) + dst->data_len;
            if constexpr (has_immediate)
                ibv_wr_rdma_write_imm(sender, first_key_of(*dst), to, job.immediate_data);
            else
                ibv_wr_rdma_write(sender, first_key_of(*dst), to);
            set_data(sender, *src);
        });
    };
    if (src->data_len - 1 < self.max_inline_)
        return post(IBV_SEND_INLINE, set_inline_data);
    if (src->data_len - 1 < self.max_message_size())
        return post(0, set_segment);
    return self.QueuePair::submit(base);
}

/// The segments of a source's data, or of a destination's room, as far as @p plan goes. Gives their number.
int VerbsQueuePair::gather(const doca_buf *list, TransferPlan plan, bool is_source) noexcept
{
    if (plan.length == 0)
        return 0;
    Cursor cursor = is_source ? Cursor::over_data(*list) : Cursor::over_room(*list, plan.overwrites);
    int count = 0;
    for (std::size_t left = plan.length; left != 0; ++count) {
        cursor.skip_empty();
        const std::size_t length = std::min(left, cursor.left());
        segments_[static_cast<std::size_t>(count)] = {.addr = address(cursor.addr()),
                                                      .length = static_cast<std::uint32_t>(length),
                                                      .lkey = key_of(cursor.buf(), dev())};
        cursor.advance(length);
        left -= length;
    }
    return count;
}

/// With the segments that were gathered. By ibv_post_send(), because of rdma_rxe (rdma-core 44), where
/// ibv_wr_set_sge_list() takes all segments to be as long as the first.
doca_error_t VerbsQueuePair::post_special(const doca_job &job, ibv_send_wr &request, std::uint32_t reported,
                                          doca_buf *dst, TransferPlan plan) noexcept
{
    JobSlot *const slot = take_special(job, send_room_, reported, dst, plan);
    if (slot == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    request.wr_id = id_of(*slot);
    request.send_flags = IBV_SEND_SIGNALED;
    request.sg_list = segments_.data();
    ibv_send_wr *bad = nullptr;
    if (const int error = ibv_post_send(queue_pair_, &request, &bad); error != 0)
        return refuse(*slot, error);
    return DOCA_SUCCESS;
}

doca_error_t VerbsQueuePair::receive(const doca_rdma_job_recv &job, TransferPlan plan) noexcept
{
    JobSlot *const slot = take_special(job.base, receive_room_, 0, job.dst_buff, plan);
    if (slot == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    const int num_segments = gather(job.dst_buff, plan, false);
    return post_receive(*slot, segments_.data(), num_segments);
}

doca_error_t VerbsQueuePair::send(const doca_rdma_job_send &job, TransferPlan plan) noexcept
{
    ibv_send_wr request{};
    request.opcode = job.base.type == DOCA_RDMA_JOB_SEND_IMM ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    request.imm_data = job.immediate_data;
    request.num_sge = gather(job.src_buff, plan, true);
    return post_special(job.base, request, 0, nullptr, plan);
}

doca_error_t VerbsQueuePair::read(const doca_rdma_job_read_write &job, TransferPlan plan,
                                  MemoryKey *remote) noexcept
{
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_READ;
    request.wr.rdma = {plan.length == 0 ? 0 : address(job.src_buff->data), key_of(remote)};
    request.num_sge = gather(job.dst_buff, plan, false);
    return post_special(job.base, request, plan.length, job.dst_buff, plan);
}

doca_error_t VerbsQueuePair::write(const doca_rdma_job_read_write &job, TransferPlan plan,
                                   MemoryKey *remote) noexcept
{
    ibv_send_wr request{};
    request.opcode =
        job.base.type == DOCA_RDMA_JOB_WRITE_IMM ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    request.imm_data = job.immediate_data;
    const std::uint64_t to =
        plan.length == 0 ? 0 : address(job.dst_buff->data) + (plan.overwrites ? 0 : job.dst_buff->data_len);
    request.wr.rdma = {to, key_of(remote)};
    request.num_sge = gather(job.src_buff, plan, true);
    // Of the remote side one buffer grows, however many the local side has.
    return post_special(job.base, request, 0, job.dst_buff, {plan.length, false, plan.overwrites});
}

doca_error_t VerbsQueuePair::update(const doca_rdma_job_atomic &job, MemoryKey &remote) noexcept
{
    ibv_send_wr request{};
    request.opcode = job.base.type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD ? IBV_WR_ATOMIC_FETCH_AND_ADD
                                                                     : IBV_WR_ATOMIC_CMP_AND_SWP;
    const bool is_add = request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    request.wr.atomic = {.remote_addr = address(job.cmp_or_add_dest_buff->data),
                         .compare_add = is_add ? job.swap_or_add_data : job.cmp_data,
                         .swap = job.swap_or_add_data,
                         .rkey = verbs_key(remote.number)};
    segments_[0] = {address(job.result_buff->data), word_size, key_of(*job.result_buff, dev())};
    request.num_sge = 1;
    return post_special(job.base, request, 0, nullptr, {});
}

} // namespace opendoca::verbs
