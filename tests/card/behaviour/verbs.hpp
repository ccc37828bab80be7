// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Objects of the real libibverbs, for tests of the card under it.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

namespace card_test {

struct Close {
    void operator()(ibv_context *object) const { ibv_close_device(object); }
    void operator()(ibv_pd *object) const { ibv_dealloc_pd(object); }
    void operator()(ibv_cq *object) const { ibv_destroy_cq(object); }
    void operator()(ibv_qp *object) const { ibv_destroy_qp(object); }
    void operator()(ibv_srq *object) const { ibv_destroy_srq(object); }
    void operator()(ibv_xrcd *object) const { ibv_close_xrcd(object); }
    void operator()(ibv_mr *object) const { ibv_dereg_mr(object); }
    void operator()(ibv_ah *object) const { ibv_destroy_ah(object); }
    void operator()(ibv_comp_channel *object) const { ibv_destroy_comp_channel(object); }
    void operator()(mlx5dv_devx_obj *object) const { mlx5dv_devx_obj_destroy(object); }
    void operator()(mlx5dv_devx_umem *object) const { mlx5dv_devx_umem_dereg(object); }
};
template <typename T>
using Owned = std::unique_ptr<T, Close>;

/// Null, with errno, where there is no such device or it cannot be opened.
Owned<ibv_context> open_device(std::string_view name);

/// A device with one of each: a protection domain, a completion queue, a channel.
struct Device {
    explicit Device(std::string_view name);

    Owned<ibv_context> context;
    Owned<ibv_pd> pd;
    Owned<ibv_comp_channel> channel;
    Owned<ibv_cq> cq;
};

/// Where to reach a queue pair.
struct Address {
    std::uint32_t number;
    ibv_gid gid;
    std::uint16_t lid;
};

struct Timers {
    std::uint8_t timeout = 10; ///< of 4.096 us << this
    std::uint8_t retries = 1;
    std::uint8_t rnr_retries = 1;
    std::uint8_t rnr_timer = 12;
};

/// How many reads and atomics a connection has in flight, and answers at a time.
struct Depths {
    std::uint8_t initiator = 4, responder = 4;
};

constexpr int all_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// A reliable connection.
class Connection {
public:
    explicit Connection(Device &device, Owned<ibv_pd> other_pd = nullptr);
    /// Of a queue pair that there is.
    Connection(Device &device, Owned<ibv_qp> qp);
    [[nodiscard]] Address address() const;
    /// To ready-to-send: an errno, or 0.
    int connect_to(const Address &peer, Timers timers = {}, int rights = all_rights, Depths depths = {});
    int set_state(ibv_qp_state state);
    [[nodiscard]] ibv_qp_state state() const;

    void post(ibv_wr_opcode opcode, ibv_mr &local, std::uint64_t remote, std::uint32_t key, std::uint32_t bytes);
    void post_receive(ibv_mr &local, std::uint32_t bytes);
    [[nodiscard]] ibv_qp *get() const { return qp_.get(); }

private:
    Device &device_;
    Owned<ibv_pd> pd_;
    Owned<ibv_qp> qp_;
};

/// Two connections that are connected to each other.
struct Pair {
    Pair(Device &first_device, Device &second_device, Timers timers = {}, int rights_of_second = all_rights);
    Connection first, second;
};

/// Registered memory.
struct Buffer {
    Buffer(Device &device, std::size_t size, int rights = all_rights, std::uint8_t fill = 0);
    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
    std::vector<std::uint8_t> bytes;
    Owned<ibv_mr> mr;
};

/// The status that next_completion() gives where none came: the card never gives it.
constexpr ibv_wc_status no_completion = IBV_WC_RESP_TIMEOUT_ERR;
/// The next completion, which has to come in time.
ibv_wc next_completion(ibv_cq &cq, std::chrono::milliseconds limit = std::chrono::seconds(60));
bool has_completion_within(ibv_cq &cq, std::chrono::milliseconds limit);
/// The number of the next asynchronous event, or -1.
int next_event(ibv_context &context, std::chrono::milliseconds limit = std::chrono::seconds(60));

/// Takes a capability (CAP_*) out of effect for this process: false, with errno, where that fails.
bool drop_capability(unsigned number);

/// Asks the card for a fault, or its status: its answer.
std::string ask_card(std::string_view line);
/// A number of the card's status: "objects", "keys", "files".
int card_count(std::string_view what);
/// The number of descriptors that the card has open.
std::size_t card_descriptors();
/// Waits until the number is that.
bool card_count_becomes(std::string_view what, int value);

// Fields of PRM mailboxes, written once more: offsets of the tests' own, from the public layouts.
void set_bits(std::uint8_t *mailbox, unsigned bit, unsigned width, std::uint64_t value);
std::uint64_t get_bits(const std::uint8_t *mailbox, unsigned bit, unsigned width);
std::uint32_t number_of(ibv_pd &pd);
std::uint16_t vhca_id_of(ibv_context &context);

} // namespace card_test
