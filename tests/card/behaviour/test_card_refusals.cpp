// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a real card and its driver refuse: the table of docs/card.md, "What is refused". Each refusal leaves the object
// as it was.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs.hpp"

namespace card_test {
namespace {

using namespace std::chrono_literals;

/// A queue pair of any type, and the attributes of its next change of state.
class QueuePair {
public:
    QueuePair(Device &device, ibv_qp_type type) : device_(device), type_(type)
    {
        ibv_qp_init_attr made{};
        made.send_cq = made.recv_cq = device.cq.get();
        made.cap = {4, 4, 1, 1, 0};
        made.qp_type = type;
        made.sq_sig_all = 1;
        qp_.reset(ibv_create_qp(device.pd.get(), &made));
        ibv_query_port(device.context.get(), 1, &port_);
    }

    [[nodiscard]] ibv_qp *get() const { return qp_.get(); }
    [[nodiscard]] ibv_qp_state state() const
    {
        ibv_qp_attr now{};
        ibv_qp_init_attr made{};
        return ibv_query_qp(qp_.get(), &now, IBV_QP_STATE, &made) == 0 ? now.qp_state : IBV_QPS_UNKNOWN;
    }
    /// Sets valid attributes for the change to `to`: the mask.
    int prepare(ibv_qp_state to, ibv_qp_attr &attributes) const
    {
        attributes = {};
        attributes.qp_state = to;
        attributes.port_num = attributes.ah_attr.port_num = 1;
        switch (to) {
        case IBV_QPS_INIT:
            return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                   (type_ == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
        case IBV_QPS_RTR:
            attributes.path_mtu = IBV_MTU_1024;
            attributes.dest_qp_num = qp_->qp_num;
            attributes.max_dest_rd_atomic = 4;
            attributes.min_rnr_timer = 12;
            attributes.ah_attr.dlid = port_.lid;
            if (is_ethernet()) {
                attributes.ah_attr.is_global = 1;
                attributes.ah_attr.grh.sgid_index = 3;
                ibv_query_gid(device_.context.get(), 1, 3, &attributes.ah_attr.grh.dgid);
            }
            if (type_ == IBV_QPT_UD)
                return IBV_QP_STATE;
            return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                   (type_ == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
        case IBV_QPS_RTS:
            attributes.timeout = 8;
            attributes.max_rd_atomic = 4;
            return IBV_QP_STATE | IBV_QP_SQ_PSN |
                   (type_ == IBV_QPT_RC ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
                                        : 0);
        default:
            return IBV_QP_STATE;
        }
    }
    void go_to(ibv_qp_state last) const
    {
        for (const ibv_qp_state next : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
            ibv_qp_attr attributes;
            const int mask = prepare(next, attributes);
            if (next <= last) {
                ASSERT_EQ(ibv_modify_qp(qp_.get(), &attributes, mask), 0) << "to state " << next;
            }
        }
        if (last == IBV_QPS_ERR) {
            ibv_qp_attr attributes{};
            attributes.qp_state = last;
            ASSERT_EQ(ibv_modify_qp(qp_.get(), &attributes, IBV_QP_STATE), 0);
        }
    }
    [[nodiscard]] bool is_ethernet() const { return port_.link_layer == IBV_LINK_LAYER_ETHERNET; }

private:
    struct Destroy {
        void operator()(ibv_qp *qp) const { ibv_destroy_qp(qp); }
    };
    Device &device_;
    ibv_qp_type type_;
    ibv_port_attr port_{};
    std::unique_ptr<ibv_qp, Destroy> qp_;
};

struct Change {
    const char *name;
    ibv_qp_type type;
    ibv_qp_state from, to;
    int added, removed; ///< of the mask that the change needs
    void (*spoil)(ibv_qp_attr &attributes);
    int error;
    enum { on_all, on_ethernet, on_infiniband } where = on_all;
};

void nothing(ibv_qp_attr & /*attributes*/) {}

class ModifyQp : public testing::TestWithParam<Change> {};

TEST_P(ModifyQp, IsRefusedAndChangesNothing)
{
    const Change &change = GetParam();
    Device device("mlx5_0");
    const QueuePair qp(device, change.type);
    ASSERT_NE(qp.get(), nullptr);
    if (change.where == (qp.is_ethernet() ? Change::on_infiniband : Change::on_ethernet))
        GTEST_SKIP() << "not of this link layer";
    qp.go_to(change.from);
    ibv_qp_attr attributes;
    const int mask = qp.prepare(change.to, attributes);
    change.spoil(attributes);
    EXPECT_EQ(ibv_modify_qp(qp.get(), &attributes, (mask | change.added) & ~change.removed), change.error);
    EXPECT_EQ(qp.state(), change.from);
}

constexpr ibv_qp_type rc = IBV_QPT_RC, uc = IBV_QPT_UC, ud = IBV_QPT_UD;
constexpr ibv_qp_state reset = IBV_QPS_RESET, init = IBV_QPS_INIT, rtr = IBV_QPS_RTR, rts = IBV_QPS_RTS,
                       sqd = IBV_QPS_SQD, sqe = IBV_QPS_SQE, err = IBV_QPS_ERR;
constexpr Change changes[] = {
    // Changes of state that there are not.
    {"ResetToRtr", rc, reset, rtr, 0, 0, nothing, EINVAL},
    {"ResetToRts", rc, reset, rts, 0, 0, nothing, EINVAL},
    {"ResetToError", rc, reset, err, 0, 0, nothing, EINVAL},
    {"InitToRts", rc, init, rts, 0, 0, nothing, EINVAL},
    {"RtrToInit", rc, rtr, init, 0, 0, nothing, EINVAL},
    {"RtsToInit", rc, rts, init, 0, 0, nothing, EINVAL},
    {"RtsToRtr", rc, rts, rtr, 0, 0, nothing, EINVAL},
    {"RtsToSqe", rc, rts, sqe, 0, 0, nothing, EINVAL},
    {"RtrToSqd", rc, rtr, sqd, 0, 0, nothing, EINVAL},
    {"ErrorToInit", rc, err, init, 0, 0, nothing, EINVAL},
    {"StateOutOfRange", rc, reset, IBV_QPS_UNKNOWN, 0, 0, nothing, EINVAL},
    {"OtherCurrentState", rc, rtr, rts, IBV_QP_CUR_STATE, 0,
     [](ibv_qp_attr &to) { to.cur_qp_state = IBV_QPS_RTS; }, EINVAL},
    // Attributes that are missing.
    {"InitWithoutPort", rc, reset, init, 0, IBV_QP_PORT, nothing, EINVAL},
    {"InitWithoutPkey", rc, reset, init, 0, IBV_QP_PKEY_INDEX, nothing, EINVAL},
    {"InitWithoutAccess", rc, reset, init, 0, IBV_QP_ACCESS_FLAGS, nothing, EINVAL},
    {"InitOfUcWithoutAccess", uc, reset, init, 0, IBV_QP_ACCESS_FLAGS, nothing, EINVAL},
    {"InitOfUdWithoutQkey", ud, reset, init, 0, IBV_QP_QKEY, nothing, EINVAL},
    {"RtrWithoutPath", rc, init, rtr, 0, IBV_QP_AV, nothing, EINVAL},
    {"RtrWithoutMtu", rc, init, rtr, 0, IBV_QP_PATH_MTU, nothing, EINVAL},
    {"RtrWithoutDestination", rc, init, rtr, 0, IBV_QP_DEST_QPN, nothing, EINVAL},
    {"RtrWithoutPsn", rc, init, rtr, 0, IBV_QP_RQ_PSN, nothing, EINVAL},
    {"RtrWithoutResponderDepth", rc, init, rtr, 0, IBV_QP_MAX_DEST_RD_ATOMIC, nothing, EINVAL},
    {"RtrWithoutRnrTimer", rc, init, rtr, 0, IBV_QP_MIN_RNR_TIMER, nothing, EINVAL},
    {"RtrOfUcWithoutMtu", uc, init, rtr, 0, IBV_QP_PATH_MTU, nothing, EINVAL},
    {"RtsWithoutTimeout", rc, rtr, rts, 0, IBV_QP_TIMEOUT, nothing, EINVAL},
    {"RtsWithoutRetries", rc, rtr, rts, 0, IBV_QP_RETRY_CNT, nothing, EINVAL},
    {"RtsWithoutRnrRetries", rc, rtr, rts, 0, IBV_QP_RNR_RETRY, nothing, EINVAL},
    {"RtsWithoutPsn", rc, rtr, rts, 0, IBV_QP_SQ_PSN, nothing, EINVAL},
    {"RtsWithoutInitiatorDepth", rc, rtr, rts, 0, IBV_QP_MAX_QP_RD_ATOMIC, nothing, EINVAL},
    {"RtsOfUdWithoutPsn", ud, rtr, rts, 0, IBV_QP_SQ_PSN, nothing, EINVAL},
    // Attributes that the change does not take.
    {"InitWithQkey", rc, reset, init, IBV_QP_QKEY, 0, nothing, EINVAL},
    {"InitOfUdWithAccess", ud, reset, init, IBV_QP_ACCESS_FLAGS, 0, nothing, EINVAL},
    {"RtrWithPort", rc, init, rtr, IBV_QP_PORT, 0, nothing, EINVAL},
    {"RtrWithTimeout", rc, init, rtr, IBV_QP_TIMEOUT, 0, nothing, EINVAL},
    {"RtrOfUcWithRnrTimer", uc, init, rtr, IBV_QP_MIN_RNR_TIMER, 0, nothing, EINVAL},
    {"RtrOfUdWithPath", ud, init, rtr, IBV_QP_AV, 0, nothing, EINVAL},
    {"RtsWithPath", rc, rtr, rts, IBV_QP_AV, 0, nothing, EINVAL},
    {"RtsOfUcWithTimeout", uc, rtr, rts, IBV_QP_TIMEOUT, 0, nothing, EINVAL},
    {"RtsToRtsWithTimeout", rc, rts, rts, IBV_QP_TIMEOUT, IBV_QP_SQ_PSN, nothing, EINVAL},
    {"ErrorWithAccess", rc, rts, err, IBV_QP_ACCESS_FLAGS, 0, nothing, EINVAL},
    {"ResetWithAccess", rc, rts, reset, IBV_QP_ACCESS_FLAGS, 0, nothing, EINVAL},
    {"RateLimit", rc, rtr, rts, IBV_QP_RATE_LIMIT, 0, nothing, EINVAL},
    {"UnknownAttribute", rc, reset, init, 1 << 22, 0, nothing, EOPNOTSUPP},
    // Values.
    {"PortZero", rc, reset, init, 0, 0, [](ibv_qp_attr &to) { to.port_num = 0; }, EINVAL},
    {"PortTwo", rc, reset, init, 0, 0, [](ibv_qp_attr &to) { to.port_num = 2; }, EINVAL},
    {"PkeyIndexBeyondTheTable", rc, reset, init, 0, 0, [](ibv_qp_attr &to) { to.pkey_index = 128; }, EINVAL},
    {"PkeyIndexOnEthernet", rc, reset, init, 0, 0, [](ibv_qp_attr &to) { to.pkey_index = 1; }, EINVAL,
     Change::on_ethernet},
    {"PathWithPortZero", rc, init, rtr, 0, 0, [](ibv_qp_attr &to) { to.ah_attr.port_num = 0; }, EINVAL},
    {"PathWithPortTwo", rc, init, rtr, 0, 0, [](ibv_qp_attr &to) { to.ah_attr.port_num = 2; }, EINVAL},
    {"PathWithoutGid", rc, init, rtr, 0, 0, [](ibv_qp_attr &to) { to.ah_attr.is_global = 0; }, EINVAL,
     Change::on_ethernet},
    {"SourceGidBeyondTheTable", rc, init, rtr, 0, 0,
     [](ibv_qp_attr &to) {
         to.ah_attr.is_global = 1;
         to.ah_attr.grh.sgid_index = 255;
     },
     EINVAL},
    {"RateOfNoLink", rc, init, rtr, 0, 0, [](ibv_qp_attr &to) { to.ah_attr.static_rate = 1; }, EINVAL},
    {"RateBeyondAll", rc, init, rtr, 0, 0, [](ibv_qp_attr &to) { to.ah_attr.static_rate = 24; }, EINVAL},
    {"MtuZero", rc, init, rtr, 0, 0, [](ibv_qp_attr &to) { to.path_mtu = static_cast<ibv_mtu>(0); }, EINVAL},
    {"MtuBeyond4096", rc, init, rtr, 0, 0, [](ibv_qp_attr &to) { to.path_mtu = static_cast<ibv_mtu>(6); }, EINVAL},
    {"ResponderDepthBeyond16", rc, init, rtr, 0, 0, [](ibv_qp_attr &to) { to.max_dest_rd_atomic = 17; }, EINVAL},
    {"InitiatorDepthBeyond16", rc, rtr, rts, 0, 0, [](ibv_qp_attr &to) { to.max_rd_atomic = 17; }, EINVAL},
    {"AlternatePathOnEthernet", rc, init, rtr, IBV_QP_ALT_PATH, 0,
     [](ibv_qp_attr &to) {
         to.alt_ah_attr = to.ah_attr;
         to.alt_port_num = 1;
     },
     EINVAL, Change::on_ethernet},
    {"AlternatePathOfPortTwo", rc, init, rtr, IBV_QP_ALT_PATH, 0,
     [](ibv_qp_attr &to) {
         to.alt_ah_attr = to.ah_attr;
         to.alt_port_num = 2;
     },
     EINVAL},
};
INSTANTIATE_TEST_SUITE_P(Card, ModifyQp, testing::ValuesIn(changes),
                         [](const auto &change) { return change.param.name; });

TEST(ModifyQpValues, BeyondTheDevicesFieldLoseTheirUpperBits)
{
    Device device("mlx5_0");
    const QueuePair qp(device, IBV_QPT_RC);
    qp.go_to(IBV_QPS_INIT);
    ibv_qp_attr attributes;
    int mask = qp.prepare(IBV_QPS_RTR, attributes);
    attributes.rq_psn = 0x5000001;
    attributes.min_rnr_timer = 33;
    ASSERT_EQ(ibv_modify_qp(qp.get(), &attributes, mask), 0);
    mask = qp.prepare(IBV_QPS_RTS, attributes);
    attributes.sq_psn = 0x7000002;
    attributes.timeout = 34;
    attributes.retry_cnt = 11;
    attributes.rnr_retry = 12;
    ASSERT_EQ(ibv_modify_qp(qp.get(), &attributes, mask), 0);
    ibv_qp_init_attr made{};
    ASSERT_EQ(ibv_query_qp(qp.get(), &attributes, IBV_QP_STATE, &made), 0);
    EXPECT_EQ(attributes.rq_psn, 1u);
    EXPECT_EQ(attributes.min_rnr_timer, 1);
    EXPECT_EQ(attributes.sq_psn, 2u);
    EXPECT_EQ(attributes.timeout, 2);
    EXPECT_EQ(attributes.retry_cnt, 3);
    EXPECT_EQ(attributes.rnr_retry, 4);
}

TEST(ModifyQpValues, PrivilegedQkeysNeedTheCapability)
{
    const auto take_qkey = [] {
        Device device("mlx5_0");
        const QueuePair qp(device, IBV_QPT_UD);
        ibv_qp_attr attributes;
        const int mask = qp.prepare(IBV_QPS_INIT, attributes);
        attributes.qkey = 0x80000001;
        return ibv_modify_qp(qp.get(), &attributes, mask);
    };
    if (geteuid() == 0) {
        EXPECT_EQ(take_qkey(), 0);
    }
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
        _exit(drop_capability(CAP_NET_RAW) ? take_qkey() : 255);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EPERM) << status;
}

class Refused : public testing::Test {
protected:
    Device device{"mlx5_0"};
    Buffer local{device, 8192, all_rights, 'l'}, remote{device, 8192, all_rights, 'r'};

    /// Errno of a call that gives an object, which has to be none.
    template <typename T>
    static int error_of(T *object)
    {
        return object == nullptr ? errno : 0;
    }
    /// A completion with this status, and with what the firmware adds.
    void expect_completion(ibv_wc_status status, std::uint32_t vendor_error)
    {
        const ibv_wc completion = next_completion(*device.cq);
        EXPECT_EQ(completion.status, status) << ibv_wc_status_str(completion.status);
        EXPECT_EQ(completion.vendor_err, vendor_error);
    }
};

TEST_F(Refused, CompletionQueues)
{
    ibv_context *context = device.context.get();
    ibv_device_attr limits{};
    ASSERT_EQ(ibv_query_device(context, &limits), 0);
    EXPECT_EQ(error_of(ibv_create_cq(context, limits.max_cqe + 1, nullptr, nullptr, 0)), EINVAL);
    EXPECT_EQ(error_of(ibv_create_cq(context, 0, nullptr, nullptr, 0)), EINVAL);
    EXPECT_EQ(error_of(ibv_create_cq(context, 1, nullptr, nullptr, context->num_comp_vectors)), EINVAL);
}

TEST_F(Refused, SharedReceiveQueues)
{
    ibv_device_attr limits{};
    ASSERT_EQ(ibv_query_device(device.context.get(), &limits), 0);
    ibv_srq_init_attr wanted{};
    wanted.attr = {static_cast<std::uint32_t>(limits.max_srq_wr) + 1, 1, 0};
    EXPECT_EQ(error_of(ibv_create_srq(device.pd.get(), &wanted)), EINVAL);
    wanted.attr = {16, static_cast<std::uint32_t>(limits.max_srq_sge) + 1, 0};
    EXPECT_EQ(error_of(ibv_create_srq(device.pd.get(), &wanted)), EINVAL);
    wanted.attr = {15, 1, 0};
    ibv_srq *srq = ibv_create_srq(device.pd.get(), &wanted);
    ASSERT_NE(srq, nullptr);
    ibv_srq_attr change{};
    ASSERT_EQ(ibv_query_srq(srq, &change), 0);
    change.srq_limit = change.max_wr + 1;
    EXPECT_EQ(ibv_modify_srq(srq, &change, IBV_SRQ_LIMIT), EINVAL);
    change.max_wr = 64;
    EXPECT_EQ(ibv_modify_srq(srq, &change, IBV_SRQ_MAX_WR), EINVAL);
    EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(Refused, QueuePairs)
{
    ibv_device_attr limits{};
    ASSERT_EQ(ibv_query_device(device.context.get(), &limits), 0);
    const auto create = [&](const ibv_qp_cap &capacity) {
        ibv_qp_init_attr wanted{};
        wanted.send_cq = wanted.recv_cq = device.cq.get();
        wanted.cap = capacity;
        wanted.qp_type = IBV_QPT_RC;
        return error_of(ibv_create_qp(device.pd.get(), &wanted));
    };
    const auto most = static_cast<std::uint32_t>(limits.max_qp_wr);
    EXPECT_NE(create({most + 1, 1, 1, 1, 0}), 0);
    EXPECT_NE(create({1, most + 1, 1, 1, 0}), 0);
    EXPECT_NE(create({1, 1, 64, 1, 0}), 0);
    EXPECT_NE(create({1, 1, 1, 64, 0}), 0);
    EXPECT_NE(create({1, 1, 1, 1, 4096}), 0);
}

TEST_F(Refused, AddressHandles)
{
    ibv_port_attr port{};
    ASSERT_EQ(ibv_query_port(device.context.get(), 1, &port), 0);
    if (port.link_layer != IBV_LINK_LAYER_ETHERNET)
        GTEST_SKIP() << "libmlx5 makes those of InfiniBand by itself";
    const auto create = [&](std::uint8_t number, std::uint8_t is_global, std::uint8_t gid) {
        ibv_ah_attr attributes{};
        attributes.port_num = number;
        attributes.is_global = is_global;
        attributes.grh.sgid_index = gid;
        ibv_query_gid(device.context.get(), 1, 0, &attributes.grh.dgid);
        ibv_ah *handle = ibv_create_ah(device.pd.get(), &attributes);
        const int error = error_of(handle);
        if (handle != nullptr)
            ibv_destroy_ah(handle);
        return error;
    };
    EXPECT_EQ(create(1, 1, 0), 0);
    EXPECT_NE(create(1, 1, 255), 0);
    EXPECT_NE(create(0, 1, 0), 0);
    EXPECT_NE(create(1, 0, 0), 0) << "a GID is needed on Ethernet";
}

TEST_F(Refused, ProtectionDomainsInUse)
{
    EXPECT_EQ(ibv_dealloc_pd(device.pd.get()), EBUSY);
    const Connection connection(device);
    EXPECT_EQ(ibv_destroy_cq(device.cq.get()), EBUSY);
}

TEST_F(Refused, ReadsAndAtomicsOfAnInitiatorWithoutDepth)
{
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
        Connection first(device), second(device);
        ASSERT_EQ(first.connect_to(second.address(), {}, all_rights, {.initiator = 0, .responder = 4}), 0);
        ASSERT_EQ(second.connect_to(first.address()), 0);
        first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 8);
        EXPECT_EQ(next_completion(*device.cq).status, IBV_WC_SUCCESS);
        first.post(opcode, *local.mr, remote.address(), remote.mr->rkey, 8);
        expect_completion(IBV_WC_LOC_QP_OP_ERR, 0x68);
        EXPECT_EQ(first.state(), IBV_QPS_ERR);
        EXPECT_EQ(second.state(), IBV_QPS_RTS);
    }
}

TEST_F(Refused, ReadsAndAtomicsToAResponderWithoutDepth)
{
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
        Connection first(device), second(device);
        ASSERT_EQ(first.connect_to(second.address()), 0);
        ASSERT_EQ(second.connect_to(first.address(), {}, all_rights, {.initiator = 4, .responder = 0}), 0);
        first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 8);
        EXPECT_EQ(next_completion(*device.cq).status, IBV_WC_SUCCESS);
        first.post(opcode, *local.mr, remote.address(), remote.mr->rkey, 8);
        expect_completion(IBV_WC_REM_INV_REQ_ERR, 0x8a);
        EXPECT_EQ(next_event(*device.context), IBV_EVENT_QP_REQ_ERR);
        EXPECT_EQ(second.state(), IBV_QPS_ERR);
    }
    EXPECT_EQ(remote.bytes[8], 'r');
}

TEST_F(Refused, UnknownKeysAreReportedAsLocalOrRemote)
{
    {
        Pair pair(device, device);
        ibv_mr wrong = *local.mr;
        wrong.lkey ^= 0xffff00;
        pair.first.post(IBV_WR_RDMA_WRITE, wrong, remote.address(), remote.mr->rkey, 8);
        expect_completion(IBV_WC_LOC_PROT_ERR, 0x51);
    }
    Pair pair(device, device);
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey ^ 0xffff00, 8);
    expect_completion(IBV_WC_REM_ACCESS_ERR, 0x88);
}

TEST_F(Refused, SpentRetriesHaveTheirVendorErrors)
{
    {
        Connection alone(device);
        Address nobody = alone.address();
        nobody.number = 0xfffff0;
        ASSERT_EQ(alone.connect_to(nobody, {.timeout = 1, .retries = 0}), 0);
        alone.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 8);
        expect_completion(IBV_WC_RETRY_EXC_ERR, 0x81);
        alone.post_receive(*local.mr, 8);
        expect_completion(IBV_WC_WR_FLUSH_ERR, 0xf9);
        alone.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 8);
        expect_completion(IBV_WC_WR_FLUSH_ERR, 0xf5);
    }
    Pair pair(device, device, {.rnr_retries = 0, .rnr_timer = 1});
    pair.first.post(IBV_WR_SEND, *local.mr, 0, 0, 8);
    expect_completion(IBV_WC_RNR_RETRY_EXC_ERR, 0x87);
}

TEST_F(Refused, AReceiveRequestIsFlushedHoweverLongTheQueuePairWasBroken)
{
    Pair pair(device, device);
    ASSERT_EQ(pair.first.set_state(IBV_QPS_ERR), 0);
    // Far longer than the card polls after its last work: it has gone to sleep.
    EXPECT_FALSE(has_completion_within(*device.cq, 20ms));
    pair.first.post_receive(*local.mr, 8);
    expect_completion(IBV_WC_WR_FLUSH_ERR, 0xf9);
}

TEST_F(Refused, AMessageThatIsLongerThanThePortTakes)
{
    ibv_port_attr port{};
    ASSERT_EQ(ibv_query_port(device.context.get(), 1, &port), 0);
    constexpr std::uint32_t piece = 640 << 20; // none of it is ever touched
    ASSERT_GT(2u * piece, port.max_msg_sz);
    void *pages = mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    const int rights = all_rights;
    Owned<ibv_mr> mr(ibv_reg_mr(device.pd.get(), pages, piece, rights));
    if (mr == nullptr) {
        munmap(pages, piece);
        GTEST_SKIP() << "this user may not lock so much memory";
    }
    Pair pair(device, device);
    const ibv_sge one{reinterpret_cast<std::uintptr_t>(pages), piece, mr->lkey};
    ibv_sge pieces[] = {one, one};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = pieces;
    request.num_sge = 2;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma = {remote.address(), remote.mr->rkey};
    ASSERT_EQ(ibv_post_send(pair.first.get(), &request, &bad), 0);
    expect_completion(IBV_WC_LOC_LEN_ERR, 0);
    EXPECT_EQ(pair.second.state(), IBV_QPS_RTS) << "nothing of it was sent";
    mr.reset();
    munmap(pages, piece);
}

TEST_F(Refused, ADatagramThatIsLongerThanTheLargestMtu)
{
    const QueuePair qp(device, IBV_QPT_UD);
    qp.go_to(IBV_QPS_RTS);
    ibv_qp_attr path;
    const QueuePair other(device, IBV_QPT_RC);
    other.prepare(IBV_QPS_RTR, path);
    ibv_ah *handle = ibv_create_ah(device.pd.get(), &path.ah_attr);
    ASSERT_NE(handle, nullptr);
    ibv_sge piece{local.address(), 4097, local.mr->lkey};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.wr.ud = {handle, qp.get()->qp_num, 0};
    ASSERT_EQ(ibv_post_send(qp.get(), &request, &bad), 0);
    expect_completion(IBV_WC_LOC_LEN_ERR, 0);
    EXPECT_EQ(ibv_destroy_ah(handle), 0);
}

TEST_F(Refused, APartitionKeyThatIsNotSetReachesNoPeer)
{
    const QueuePair qp(device, IBV_QPT_RC);
    if (qp.is_ethernet())
        GTEST_SKIP() << "there is one partition key on Ethernet";
    for (const ibv_qp_state next : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
        ibv_qp_attr attributes;
        const int mask = qp.prepare(next, attributes);
        attributes.pkey_index = 1;
        ASSERT_EQ(ibv_modify_qp(qp.get(), &attributes, mask), 0);
    }
    ibv_sge piece{local.address(), 8, local.mr->lkey};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma = {remote.address(), remote.mr->rkey};
    ASSERT_EQ(ibv_post_send(qp.get(), &request, &bad), 0);
    expect_completion(IBV_WC_RETRY_EXC_ERR, 0x81);
}

TEST_F(Refused, OpcodesOfOtherTypes)
{
    const QueuePair qp(device, IBV_QPT_UC);
    qp.go_to(IBV_QPS_RTS);
    ibv_sge piece{local.address(), 8, local.mr->lkey};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_READ;
    request.wr.rdma = {remote.address(), remote.mr->rkey};
    ASSERT_EQ(ibv_post_send(qp.get(), &request, &bad), 0);
    expect_completion(IBV_WC_LOC_QP_OP_ERR, 0x68);
}

TEST_F(Refused, ACompletionQueueThatOverflowsBreaksItsConnections)
{
    Device other("mlx5_0");
    const Buffer theirs(other, 8192, all_rights, 'r');
    device.cq.reset(ibv_create_cq(device.context.get(), 15, nullptr, nullptr, 0));
    ASSERT_NE(device.cq, nullptr);
    const int places = device.cq->cqe + 1;
    ASSERT_LT(places, 32);
    Pair pair(device, other);
    for (int i = 0; i < 32; ++i)
        pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, theirs.address(), theirs.mr->rkey, 8);
    EXPECT_EQ(next_event(*device.context), IBV_EVENT_CQ_ERR);
    EXPECT_EQ(next_event(*device.context), IBV_EVENT_QP_FATAL);
    EXPECT_EQ(pair.first.state(), IBV_QPS_ERR);
    for (int i = 0; i < places; ++i)
        EXPECT_EQ(next_completion(*device.cq).status, IBV_WC_SUCCESS) << "what was there before";
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, theirs.address() + 4096, theirs.mr->rkey, 8);
    EXPECT_FALSE(has_completion_within(*device.cq, 50ms)) << "not even a flushed one";
    EXPECT_EQ(theirs.bytes[4096], 'r');
    EXPECT_EQ(ibv_resize_cq(device.cq.get(), 255), EINVAL);
    EXPECT_EQ(next_event(*device.context, 20ms), -1);
}

} // namespace
} // namespace card_test
