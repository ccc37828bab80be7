// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The program whose queue pairs fuzz_packets.py attacks: real queue pairs and memory regions on a card made of
// software, connected to a peer that only the fuzzer plays. It uses verbs alone. All memory that the peer must neither
// read nor change is filled with one byte, `secret`, and is compared at each "check".
//
//   fuzzed_program PEER_OF_mlx5_0 PEER_OF_mlx5_1      the addresses of the peers; mlx5_1 is used if there are two
//
// It reads commands, one a line, and answers each with a line of JSON:
//   connect SEED   connects all queue pairs that are broken anew, and posts receive requests
//   post SEED      posts a request to some queue pairs that can send
//   revoke         destroys the region "revoked", and makes its memory secret
//   restore        registers it again
//   check          takes completions; counts them, and lists what is wrong with the memory
//   quit
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>

namespace {

constexpr std::uint8_t secret = 0xd7;     // is in no packet that the fuzzer sends, behind the first 12 bytes
constexpr std::uint8_t secret_low = 0x5a; // of the read-only region: the peer may read it, but not change it
constexpr std::size_t guard_bytes = 192, region_bytes = 6000, slot_bytes = 1500, slots_of_queue = 4;
constexpr std::uint32_t datagram_key = 0x11223344;
constexpr int gid_index = 3;

void expect(bool condition, const std::string &what)
{
    if (!condition)
        throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// A part of an Arena, between guards.
struct Area {
    std::uint8_t *data = nullptr;
    std::size_t size = 0;

    [[nodiscard]] std::span<std::uint8_t> bytes() const { return {data, size}; }
    void fill(std::uint8_t value) const { std::ranges::fill(bytes(), value); }
    [[nodiscard]] bool has_only(std::uint8_t value) const
    {
        return size == 0 || (data[0] == value && std::memcmp(data, data + 1, size - 1) == 0);
    }
};

/// The memory of one device: areas with guards of secret bytes before and behind each, in the same pages. Its address
/// has no secret byte, as packets carry it.
class Arena {
public:
    explicit Arena(unsigned number)
        : all_(static_cast<std::uint8_t *>(
              mmap(reinterpret_cast<void *>(0x100000000000 + (std::uint64_t{number} << 32)), size,
                   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)))
    {
        expect(all_ != MAP_FAILED, "mmap()");
        std::fill_n(all_, size, secret);
    }

    Area take(std::size_t bytes)
    {
        const std::size_t at = next_ + guard_bytes;
        expect(at + bytes + guard_bytes <= size, "the arena is too small");
        guards_.push_back({all_ + end_, at - end_});
        end_ = at + bytes;
        next_ = (end_ + 7) / 8 * 8;
        return {all_ + at, bytes};
    }

    /// Returns the offset of a guard that was changed, or -1.
    [[nodiscard]] long changed_guard() const
    {
        for (const Area &guard : guards_) {
            if (!guard.has_only(secret))
                return static_cast<long>(guard.data - all_);
        }
        return Area{all_ + end_, size - end_}.has_only(secret) ? -1 : static_cast<long>(end_);
    }

private:
    static constexpr std::size_t size = std::size_t{3} << 20;

    std::uint8_t *all_;
    std::size_t next_ = 0, end_ = 0; ///< of the last area, the former a multiple of 8
    std::vector<Area> guards_;       ///< between areas
};

/// A registered area, and what the peer may do with it.
struct Region {
    std::string name;
    Area area;
    int access;
    ibv_mr *key = nullptr;
    std::uint8_t unchanged = 0; ///< all bytes have to stay this; 0: the peer may change it
};

/// Memory of one receive request, or of the result of one read or atomic. What may not be written at the time, all of
/// it without a request, is secret.
struct Slot {
    Area area;
    bool is_posted = false;
    std::size_t open = 0; ///< bytes at its beginning that may be written

    void post(std::size_t length)
    {
        std::ranges::fill(area.bytes().first(length), std::uint8_t{0});
        is_posted = true;
        open = length;
    }
    void end()
    {
        area.fill(secret);
        is_posted = false;
        open = 0;
    }
    [[nodiscard]] bool is_right() const { return Area{area.data + open, area.size - open}.has_only(secret); }
};

struct Queue {
    std::string kind;
    ibv_qp *qp = nullptr;
    ibv_qp_type type{};
    bool has_srq = false;
    int access = 0;
    unsigned reads = 0; ///< max_dest_rd_atomic
    ibv_mtu mtu{};
    std::uint32_t receive_psn = 0, send_psn = 0, peer = 0;
    bool is_broken = true;
    std::array<Slot, slots_of_queue> receives, results;
};

constexpr std::uint64_t is_receive = 1 << 20, is_shared = 1 << 21, is_bind = 1 << 22; // bits of wr_id

/// One device with all that the fuzzer attacks. Ends with the process.
class Target {
public:
    Target(ibv_context *context, unsigned number, const std::string &peer) : arena_(number), context_(context)
    {
        expect(inet_pton(AF_INET6, peer.c_str(), peer_.raw) == 1, "the address " + peer);
        pd_ = ibv_alloc_pd(context_);
        other_pd_ = ibv_alloc_pd(context_);
        cq_ = ibv_create_cq(context_, 4096, nullptr, nullptr, 0);
        ibv_srq_init_attr shared{nullptr, {slots_of_queue * 2, 1, 0}};
        srq_ = ibv_create_srq(pd_, &shared);
        expect(pd_ != nullptr && other_pd_ != nullptr && cq_ != nullptr && srq_ != nullptr, "objects of verbs");
        fcntl(context_->async_fd, F_SETFL, fcntl(context_->async_fd, F_GETFL) | O_NONBLOCK);
        constexpr int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        add_region("all", all, 0, 0x33);
        add_region("read", IBV_ACCESS_REMOTE_READ, secret_low, secret_low);
        add_region("write", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, 0, secret);
        add_region("atomic", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, 0, 0x11);
        add_region("local", IBV_ACCESS_LOCAL_WRITE, secret, secret);
        add_region("none", 0, secret, secret);
        add_region("other", all | IBV_ACCESS_REMOTE_ATOMIC, secret, secret);
        add_region("window", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, secret, secret);
        add_region("revoked", all, 0, 0x44, std::size_t{1} << 20); // its reads take long
        window_ = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
        expect(window_ != nullptr, "ibv_alloc_mw()");
        source_ = arena_.take(8192);
        source_.fill(0x77);
        source_key_ = ibv_reg_mr(pd_, source_.data, source_.size, 0);
        for (Slot &slot : shared_)
            slot.area = arena_.take(slot_bytes);
        constexpr int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        for (unsigned i = 0; i < 10; ++i)
            add_queue("rc", IBV_QPT_RC, i >= 8, remote, i % 3 == 0 ? 1 : 8, i % 2 == 0 ? IBV_MTU_256 : IBV_MTU_1024);
        add_queue("rc", IBV_QPT_RC, false, IBV_ACCESS_REMOTE_WRITE, 4, IBV_MTU_512);
        add_queue("rc", IBV_QPT_RC, false, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC, 0, IBV_MTU_256);
        for (unsigned i = 0; i < 3; ++i)
            add_queue("uc", IBV_QPT_UC, false, i == 0 ? 0 : IBV_ACCESS_REMOTE_WRITE, 0,
                      i == 1 ? IBV_MTU_256 : IBV_MTU_1024);
        for (unsigned i = 0; i < 2; ++i)
            add_queue("ud", IBV_QPT_UD, false, 0, 0, IBV_MTU_1024);
        // Receive requests and results are inside one key, so that only the request itself names the slot.
        slots_key_ =
            ibv_reg_mr(pd_, shared_[0].area.data, static_cast<std::size_t>(arena_.take(8).data - shared_[0].area.data),
                       IBV_ACCESS_LOCAL_WRITE);
        ibv_ah_attr path{};
        set_path(path);
        ah_ = ibv_create_ah(pd_, &path);
        expect(slots_key_ != nullptr && source_key_ != nullptr && ah_ != nullptr, "keys of the slots");
        for (Slot &slot : shared_)
            slot.area.fill(secret);
    }

    void describe(std::ostream &out) const
    {
        out << "{\"regions\":[";
        for (const Region &region : regions_)
            out << (&region == &regions_.front() ? "" : ",") << "{\"name\":\"" << region.name
                << "\",\"address\":" << reinterpret_cast<std::uintptr_t>(region.area.data)
                << ",\"size\":" << region.area.size << ",\"key\":" << (region.key != nullptr ? region.key->rkey : 0)
                << "}";
        out << "],\"window\":" << window_key_ << ",\"qkey\":" << datagram_key << ",\"slots_key\":" << slots_key_->rkey
            << ",\"queues\":[";
        for (const auto &queue : queues_)
            out << (queue == queues_.front() ? "" : ",") << "{\"kind\":\"" << queue->kind
                << "\",\"number\":" << queue->qp->qp_num << ",\"mtu\":" << (128 << queue->mtu)
                << ",\"access\":" << queue->access << ",\"reads\":" << queue->reads
                << ",\"expected\":" << queue->receive_psn << ",\"first\":" << queue->send_psn
                << ",\"peer\":" << queue->peer << "}";
        out << "]}";
    }

    /// Connects what is broken. Returns the number of queue pairs that were connected anew.
    unsigned connect(std::mt19937 &random)
    {
        unsigned count = 0;
        for (const auto &queue : queues_) {
            ibv_qp_attr state{};
            ibv_qp_init_attr init{};
            expect(ibv_query_qp(queue->qp, &state, IBV_QP_STATE, &init) == 0, "ibv_query_qp()");
            if (queue->is_broken || state.qp_state == IBV_QPS_ERR || state.qp_state == IBV_QPS_SQE) {
                ++count;
                reconnect(*queue, random);
            } else if (queue != queues_.front() && random() % 8 == 0 &&
                       (state.qp_state == IBV_QPS_RTS || state.qp_state == IBV_QPS_SQD)) {
                // It stops to send, and continues another time. A failure means that it has broken meanwhile.
                state.qp_state = state.qp_state == IBV_QPS_RTS ? IBV_QPS_SQD : IBV_QPS_RTS;
                (void)ibv_modify_qp(queue->qp, &state, IBV_QP_STATE);
            }
            post_receives(*queue);
        }
        bind_window();
        return count;
    }

    void post(std::mt19937 &random)
    {
        for (std::size_t i = 1; i < queues_.size(); ++i) { // the first one is for the window
            if (random() % 2 == 0)
                post(*queues_[i], i, random);
        }
    }

    void revoke()
    {
        Region &region = regions_.back();
        if (region.key == nullptr)
            return;
        expect(ibv_dereg_mr(region.key) == 0, "ibv_dereg_mr()");
        region.key = nullptr;
        region.area.fill(secret);
        region.unchanged = secret;
    }

    void restore()
    {
        Region &region = regions_.back();
        if (region.key != nullptr)
            return;
        region.area.fill(0x44);
        region.unchanged = 0;
        register_region(region);
    }

    void take_completions()
    {
        std::array<ibv_wc, 64> all;
        for (int count; (count = ibv_poll_cq(cq_, static_cast<int>(all.size()), all.data())) != 0;) {
            expect(count > 0, "ibv_poll_cq()");
            for (const ibv_wc &completion : std::span(all).first(static_cast<std::size_t>(count)))
                take(completion);
        }
        for (ibv_async_event event; ibv_get_async_event(context_, &event) == 0;) {
            ++events;
            if (event.event_type == IBV_EVENT_CQ_ERR)
                wrong.push_back("the completion queue has overflowed");
            ibv_ack_async_event(&event);
        }
    }

    void check()
    {
        if (const long at = arena_.changed_guard(); at >= 0)
            wrong.push_back("the guard at offset " + std::to_string(at) + " has changed");
        for (const Region &region : regions_) {
            if (region.unchanged != 0 && !region.area.has_only(region.unchanged))
                wrong.push_back("the region '" + region.name + "' has changed");
        }
        if (!source_.has_only(0x77))
            wrong.push_back("the source of the program's own requests has changed");
        const auto look = [&](const Slot &slot) {
            if (!slot.is_right())
                wrong.push_back("a slot has changed where no request of the program writes");
        };
        std::ranges::for_each(shared_, look);
        for (const auto &queue : queues_) {
            std::ranges::for_each(queue->receives, look);
            std::ranges::for_each(queue->results, look);
        }
        // What the peer may change is as it was before, so that the next change is seen.
        for (const auto &[name, value] :
             {std::pair("all", 0x33), std::pair("write", int{secret}), std::pair("atomic", 0x11)}) {
            Region &region = find(name);
            changed += !region.area.has_only(static_cast<std::uint8_t>(value));
            region.area.fill(static_cast<std::uint8_t>(value));
        }
    }

    std::vector<std::string> wrong;
    unsigned long received = 0, sent = 0, failed = 0, changed = 0, events = 0, results = 0, invalidated = 0;

private:
    Region &find(const std::string &name) { return *std::ranges::find(regions_, name, &Region::name); }

    void register_region(Region &region)
    {
        // Not with a key in which the secret byte is.
        std::vector<ibv_mr *> unused;
        for (;;) {
            region.key =
                ibv_reg_mr(region.name == "other" ? other_pd_ : pd_, region.area.data, region.area.size, region.access);
            expect(region.key != nullptr, "ibv_reg_mr()");
            bool has_secret = false;
            for (unsigned shift = 0; shift < 32; shift += 8)
                has_secret = has_secret || (region.key->rkey >> shift & 0xff) == secret;
            if (!has_secret)
                break;
            unused.push_back(region.key);
        }
        std::ranges::for_each(unused, ibv_dereg_mr);
    }

    void add_region(const std::string &name, int access, std::uint8_t unchanged, std::uint8_t content,
                    std::size_t bytes = region_bytes)
    {
        Region &region = regions_.emplace_back(Region{name, arena_.take(bytes), access, nullptr, unchanged});
        region.area.fill(content);
        register_region(region);
    }

    /// Binds the window, by which the peer may read and write a region, unless it is bound: until the peer invalidates
    /// it. The region's own key has no right for the peer.
    void bind_window()
    {
        if (is_window_bound_)
            return;
        Region &region = find("window");
        region.area.fill(0x55);
        region.unchanged = 0;
        window_key_ = ibv_inc_rkey(window_->rkey);
        if ((window_key_ & 0xff) == secret)
            window_key_ = ibv_inc_rkey(window_key_);
        ibv_send_wr request{}, *bad = nullptr;
        request.wr_id = is_bind;
        request.opcode = IBV_WR_BIND_MW;
        request.send_flags = IBV_SEND_SIGNALED;
        request.bind_mw.mw = window_;
        request.bind_mw.rkey = window_key_;
        request.bind_mw.bind_info = {region.key, reinterpret_cast<std::uintptr_t>(region.area.data), region.area.size,
                                     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
        is_binding_ = true;
        expect(ibv_post_send(queues_.front()->qp, &request, &bad) == 0, "ibv_post_send() of a bind");
        while (is_binding_)
            take_completions();
    }

    void end_window()
    {
        Region &region = find("window");
        region.area.fill(secret);
        region.unchanged = secret;
        is_window_bound_ = false;
    }

    void add_queue(const char *kind, ibv_qp_type type, bool has_srq, int access, unsigned reads, ibv_mtu mtu)
    {
        auto queue = std::make_unique<Queue>();
        queue->kind = kind;
        queue->type = type;
        queue->has_srq = has_srq;
        queue->access = access;
        queue->reads = reads;
        queue->mtu = mtu;
        queue->peer = 0x400 + static_cast<std::uint32_t>(queues_.size());
        create(*queue);
        for (auto *slots : {&queue->receives, &queue->results}) {
            for (Slot &slot : *slots) {
                slot.area = arena_.take(slot_bytes);
                slot.area.fill(secret);
            }
        }
        queues_.push_back(std::move(queue));
    }

    void create(Queue &queue)
    {
        ibv_qp_init_attr init{};
        init.send_cq = init.recv_cq = cq_;
        init.srq = queue.has_srq ? srq_ : nullptr;
        init.qp_type = queue.type;
        init.cap = {32, queue.has_srq ? 0 : 16U, 2, queue.has_srq ? 0 : 2U, 0};
        queue.qp = ibv_create_qp(pd_, &init);
        expect(queue.qp != nullptr, "ibv_create_qp()");
    }

    void set_path(ibv_ah_attr &path) const
    {
        path.is_global = 1;
        path.grh.dgid = peer_;
        path.grh.sgid_index = gid_index;
        path.grh.hop_limit = 64;
        path.port_num = 1;
    }

    void reconnect(Queue &queue, std::mt19937 &random)
    {
        ibv_qp_attr attributes{};
        // By way of the error state, in which a shared receive request that was taken comes back.
        attributes.qp_state = IBV_QPS_ERR;
        (void)ibv_modify_qp(queue.qp, &attributes, IBV_QP_STATE);
        take_completions();
        attributes.qp_state = IBV_QPS_RESET;
        const bool has_window = &queue == queues_.front().get();
        if (!has_window && random() % 6 == 0) {
            expect(ibv_destroy_qp(queue.qp) == 0, "ibv_destroy_qp()");
            create(queue);
        } else {
            expect(ibv_modify_qp(queue.qp, &attributes, IBV_QP_STATE) == 0, "to RESET");
        }
        for (auto *slots : {&queue.receives, &queue.results})
            std::ranges::for_each(*slots, &Slot::end);
        attributes = {};
        attributes.qp_state = IBV_QPS_INIT;
        attributes.port_num = 1;
        attributes.qp_access_flags = static_cast<unsigned>(queue.access);
        attributes.qkey = datagram_key;
        expect(ibv_modify_qp(queue.qp, &attributes,
                             IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                 (queue.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0,
               "to INIT");
        // Often near to the end, so that the numbers wrap around.
        queue.receive_psn = (random() % 2 == 0 ? random() : 0xffff00 + random() % 256) & 0xffffff;
        queue.send_psn = (random() % 2 == 0 ? random() : 0xffff00 + random() % 256) & 0xffffff;
        attributes.qp_state = IBV_QPS_RTR;
        attributes.path_mtu = queue.mtu;
        attributes.dest_qp_num = queue.peer;
        attributes.rq_psn = queue.receive_psn;
        attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(queue.reads);
        attributes.min_rnr_timer = 1;
        set_path(attributes.ah_attr);
        int mask = IBV_QP_STATE;
        if (queue.type != IBV_QPT_UD)
            mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
        if (queue.type == IBV_QPT_RC)
            mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        expect(ibv_modify_qp(queue.qp, &attributes, mask) == 0, "to RTR");
        queue.is_broken = false;
        if (!has_window && random() % 16 == 0)
            return; // it cannot send
        attributes.qp_state = IBV_QPS_RTS;
        attributes.sq_psn = queue.send_psn;
        attributes.timeout = 12; // 17 ms
        attributes.retry_cnt = static_cast<std::uint8_t>(random() % 8);
        attributes.rnr_retry = static_cast<std::uint8_t>(random() % 7);
        attributes.max_rd_atomic = 4;
        mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
        if (queue.type == IBV_QPT_RC)
            mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
        // A packet that was on its way may have broken it already: then it is connected the next time.
        queue.is_broken = ibv_modify_qp(queue.qp, &attributes, mask) != 0;
    }

    void post_receives(Queue &queue)
    {
        std::span<Slot> slots = queue.has_srq ? std::span<Slot>(shared_) : std::span<Slot>(queue.receives);
        // Some have few, so that their peer has to wait.
        const std::size_t count = !queue.has_srq && number_of(queue) % 4 == 3 ? 1 : slots.size();
        for (std::size_t i = 0; i < count; ++i) {
            Slot &slot = slots[i];
            if (slot.is_posted)
                continue;
            const auto address = reinterpret_cast<std::uintptr_t>(slot.area.data);
            // In two parts, of which the first is short; a shared one as a whole.
            std::array<ibv_sge, 2> parts{
                {{address, 100, slots_key_->lkey},
                 {address + 100, static_cast<std::uint32_t>(slot_bytes) - 100, slots_key_->lkey}}};
            if (queue.has_srq)
                parts[0].length = slot_bytes;
            const std::uint64_t who = queue.has_srq ? is_shared : number_of(queue) << 8;
            ibv_recv_wr request{who | is_receive | i, nullptr, parts.data(), queue.has_srq ? 1 : 2}, *bad = nullptr;
            slot.post(slot_bytes);
            const int error =
                queue.has_srq ? ibv_post_srq_recv(srq_, &request, &bad) : ibv_post_recv(queue.qp, &request, &bad);
            if (error != 0)
                slot.end();
        }
    }

    std::uint64_t number_of(const Queue &queue) const
    {
        return static_cast<std::uint64_t>(
            std::ranges::find(queues_, &queue, [](const auto &each) { return each.get(); }) - queues_.begin());
    }

    void post(Queue &queue, std::size_t number, std::mt19937 &random)
    {
        const auto slot = std::ranges::find(queue.results, false, &Slot::is_posted);
        if (queue.is_broken || slot == queue.results.end())
            return;
        static constexpr std::array rc = {
            IBV_WR_RDMA_READ, IBV_WR_RDMA_READ,     IBV_WR_RDMA_WRITE,           IBV_WR_RDMA_WRITE_WITH_IMM,
            IBV_WR_SEND,      IBV_WR_SEND_WITH_IMM, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP};
        static constexpr std::array uc = {IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM};
        ibv_send_wr request{}, *bad = nullptr;
        ibv_sge part{reinterpret_cast<std::uintptr_t>(source_.data), static_cast<std::uint32_t>(random() % 3000),
                     source_key_->lkey};
        request.opcode = queue.type == IBV_QPT_RC   ? rc[random() % rc.size()]
                         : queue.type == IBV_QPT_UC ? uc[random() % 3]
                                                    : IBV_WR_SEND;
        request.wr.rdma.remote_addr = 0x2000 + random() % 8 * 8; // of atomics, too
        request.wr.rdma.rkey = 0x1234;
        const bool is_atomic =
            request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
        if (is_atomic)
            request.wr.atomic.compare_add = 1, request.wr.atomic.swap = 2, request.wr.atomic.rkey = 0x1234;
        if (queue.type == IBV_QPT_UD) {
            part.length = static_cast<std::uint32_t>(random() % 900);
            request.wr.ud.ah = ah_, request.wr.ud.remote_qpn = queue.peer, request.wr.ud.remote_qkey = datagram_key;
        }
        if (is_atomic || request.opcode == IBV_WR_RDMA_READ)
            part = {reinterpret_cast<std::uintptr_t>(slot->area.data),
                    is_atomic ? 8 : static_cast<std::uint32_t>(random() % (slot_bytes + 1)), slots_key_->lkey};
        request.wr_id = number << 8 | static_cast<std::uint64_t>(slot - queue.results.begin());
        request.sg_list = &part;
        request.num_sge = 1;
        request.send_flags = IBV_SEND_SIGNALED;
        slot->post(is_atomic || request.opcode == IBV_WR_RDMA_READ ? part.length : 0);
        if (ibv_post_send(queue.qp, &request, &bad) != 0)
            slot->end();
    }

    void take(const ibv_wc &completion)
    {
        const std::size_t index = completion.wr_id & 0xff, number = completion.wr_id >> 8 & 0xff;
        const bool is_good = completion.status == IBV_WC_SUCCESS;
        failed += !is_good;
        if (completion.wr_id == is_bind) {
            is_binding_ = false;
            is_window_bound_ = is_good;
            if (is_good)
                window_->rkey = window_key_;
            else
                end_window();
            // A packet that was on its way may have broken the queue pair before. It must not fail otherwise.
            if (!is_good && completion.status != IBV_WC_WR_FLUSH_ERR)
                wrong.push_back(std::string("the window cannot be bound: ") + ibv_wc_status_str(completion.status));
            return;
        }
        if (is_good && (completion.wc_flags & IBV_WC_WITH_INV) != 0 && completion.invalidated_rkey == window_key_) {
            ++invalidated;
            end_window();
        }
        if ((completion.wr_id & is_receive) != 0) {
            received += is_good;
            Slot &slot = (completion.wr_id & is_shared) != 0 ? shared_[index] : queues_[number]->receives[index];
            slot.end();
            return;
        }
        Slot &slot = queues_[number]->results[index];
        sent += is_good;
        results += is_good && slot.open != 0;
        if (!slot.is_right())
            wrong.push_back("a request has written more than its " + std::to_string(slot.open) + " bytes");
        slot.end();
    }

    Arena arena_;
    ibv_context *context_;
    ibv_gid peer_{};
    ibv_pd *pd_, *other_pd_;
    ibv_cq *cq_;
    ibv_srq *srq_;
    ibv_ah *ah_ = nullptr;
    Area source_;
    ibv_mr *source_key_ = nullptr, *slots_key_ = nullptr;
    ibv_mw *window_ = nullptr;
    std::uint32_t window_key_ = 0;
    bool is_window_bound_ = false, is_binding_ = false;
    std::vector<Region> regions_;
    std::array<Slot, slots_of_queue * 2> shared_;
    std::vector<std::unique_ptr<Queue>> queues_;
};

} // namespace

int main(int argc, char **argv)
try {
    const std::span<char *> words(argv, static_cast<std::size_t>(argc));
    expect(argc == 2 || argc == 3, "usage: fuzzed_program PEER_OF_mlx5_0 [PEER_OF_mlx5_1]");
    int count = 0;
    ibv_device **list = ibv_get_device_list(&count);
    std::vector<std::unique_ptr<Target>> targets;
    for (std::size_t number = 0; number + 1 < words.size(); ++number) {
        const std::string name = "mlx5_" + std::to_string(number);
        for (int i = 0; i < count; ++i) {
            if (ibv_get_device_name(list[i]) == name)
                targets.push_back(std::make_unique<Target>(ibv_open_device(list[i]), static_cast<unsigned>(number),
                                                           words[number + 1]));
        }
    }
    expect(targets.size() + 1 == words.size(), "devices");
    for (std::string line; std::getline(std::cin, line) && line != "quit";) {
        std::istringstream given(line);
        std::string command;
        unsigned seed = 0, connected = 0;
        given >> command >> seed;
        std::mt19937 random(seed);
        std::ostringstream out;
        for (auto &target : targets) {
            target->take_completions();
            if (command == "connect")
                connected += target->connect(random);
            else if (command == "post")
                target->post(random);
            else if (command == "revoke")
                target->revoke();
            else if (command == "restore")
                target->restore();
            else if (command == "check")
                target->check();
        }
        out << "{\"connected\":" << connected << ",\"targets\":[";
        for (auto &target : targets) {
            out << (target == targets.front() ? "" : ",") << "{\"received\":" << target->received
                << ",\"sent\":" << target->sent << ",\"failed\":" << target->failed
                << ",\"changed\":" << target->changed << ",\"events\":" << target->events
                << ",\"results\":" << target->results << ",\"invalidated\":" << target->invalidated << ",\"wrong\":[";
            for (const std::string &what : target->wrong)
                out << (&what == &target->wrong.front() ? "" : ",") << '"' << what << '"';
            out << "],\"state\":";
            target->describe(out);
            out << "}";
        }
        std::printf("%s]}\n", out.str().c_str());
        std::fflush(stdout);
    }
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "fuzzed_program: %s\n", error.what());
    return 1;
}
