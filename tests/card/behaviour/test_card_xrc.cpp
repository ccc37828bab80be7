// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// XRC: messages reach the shared receive queue that they name, also one of another program, if it is of the receiver's
// domain, and nothing else.
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "peer.hpp"
#include "verbs.hpp"

namespace card_test {
namespace {

/// A file that is removed with the object, and a descriptor of it.
struct File {
    File() { descriptor = mkstemp(path.data()); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File()
    {
        close(descriptor);
        unlink(path.c_str());
    }

    std::string path = "/tmp/xrc-XXXXXX";
    int descriptor;
};

/// Null, with errno, if it is refused.
Owned<ibv_xrcd> open_domain(ibv_context &context, int descriptor, int flags = O_CREAT)
{
    ibv_xrcd_init_attr wanted{IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, descriptor, flags};
    errno = 0;
    return Owned<ibv_xrcd>(ibv_open_xrcd(&context, &wanted));
}

constexpr int of_one_program = -1;

/// A shared receive queue of XRC, with a completion queue of its own.
struct Queue {
    Queue(Device &device, ibv_xrcd &domain, ibv_pd *pd = nullptr)
        : cq(ibv_create_cq(device.context.get(), 16, nullptr, nullptr, 0))
    {
        ibv_srq_init_attr_ex wanted{};
        wanted.attr = {16, 1, 0};
        wanted.comp_mask =
            IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
        wanted.srq_type = IBV_SRQT_XRC;
        wanted.pd = pd != nullptr ? pd : device.pd.get();
        wanted.xrcd = &domain;
        wanted.cq = cq.get();
        srq.reset(ibv_create_srq_ex(device.context.get(), &wanted));
    }

    [[nodiscard]] std::uint32_t number() const
    {
        std::uint32_t value = 0;
        EXPECT_EQ(ibv_get_srq_num(srq.get(), &value), 0);
        return value;
    }
    void post(const Buffer &buffer, std::uint64_t id, std::uint32_t bytes = 64)
    {
        ibv_sge piece{buffer.address(), bytes, buffer.mr->lkey};
        ibv_recv_wr request{id, nullptr, &piece, 1}, *bad = nullptr;
        EXPECT_EQ(ibv_post_srq_recv(srq.get(), &request, &bad), 0);
    }

    Owned<ibv_cq> cq;
    Owned<ibv_srq> srq;
};

Owned<ibv_qp> make_sender(Device &device)
{
    ibv_qp_init_attr_ex wanted{};
    wanted.qp_type = IBV_QPT_XRC_SEND;
    wanted.send_cq = device.cq.get();
    wanted.cap = {32, 0, 2, 0, 64};
    wanted.sq_sig_all = 1;
    wanted.comp_mask = IBV_QP_INIT_ATTR_PD;
    wanted.pd = device.pd.get();
    return Owned<ibv_qp>(ibv_create_qp_ex(device.context.get(), &wanted));
}

Owned<ibv_qp> make_receiver(Device &device, ibv_xrcd &domain)
{
    ibv_qp_init_attr_ex wanted{};
    wanted.qp_type = IBV_QPT_XRC_RECV;
    wanted.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    wanted.xrcd = &domain;
    return Owned<ibv_qp>(ibv_create_qp_ex(device.context.get(), &wanted));
}

/// A sender of one device and a receiver of another one, connected.
struct XrcPair {
    XrcPair(Device &from, Device &to, ibv_xrcd &domain)
        : sender(from, make_sender(from)),
          receiver(to, make_receiver(to, domain)),
          from_(from)
    {
        EXPECT_EQ(sender.connect_to(receiver.address()), 0);
        EXPECT_EQ(receiver.connect_to(sender.address()), 0);
    }

    /// The status of a request that names this shared receive queue.
    ibv_wc_status run(ibv_wr_opcode opcode, const Buffer &local, std::uint32_t queue, std::uint64_t remote = 0,
                      std::uint32_t key = 0, std::uint32_t bytes = 64)
    {
        ibv_sge piece{local.address(), bytes, local.mr->lkey};
        ibv_send_wr request{}, *bad = nullptr;
        request.sg_list = &piece;
        request.num_sge = 1;
        request.opcode = opcode;
        request.imm_data = 0x12345678;
        request.qp_type.xrc.remote_srqn = queue;
        if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
            request.wr.atomic = {remote, 1, 0, key};
        else
            request.wr.rdma = {remote, key};
        EXPECT_EQ(ibv_post_send(sender.get(), &request, &bad), 0);
        return next_completion(*from_.cq).status;
    }

    Connection sender, receiver;

private:
    Device &from_;
};

class Xrc : public testing::Test {
protected:
    Device first{"mlx5_0"}, second{"mlx5_1"};
    Buffer local{first, 4096, all_rights, 'l'};
};

TEST_F(Xrc, IsReported)
{
    ibv_device_attr_ex limits{};
    ASSERT_EQ(ibv_query_device_ex(first.context.get(), nullptr, &limits), 0);
    EXPECT_NE(limits.orig_attr.device_cap_flags & IBV_DEVICE_XRC, 0u);
    EXPECT_EQ(limits.xrc_odp_caps, limits.odp_caps.per_transport_caps.rc_odp_caps);
}

TEST_F(Xrc, MessagesReachTheQueueThatTheyName)
{
    const Owned<ibv_xrcd> domain = open_domain(*second.context, of_one_program);
    ASSERT_NE(domain, nullptr);
    Queue left(second, *domain), right(second, *domain);
    ASSERT_NE(right.srq, nullptr);
    Buffer buffer(second, 4096);
    XrcPair pair(first, second, *domain);
    left.post(buffer, 100);
    right.post(buffer, 200);
    EXPECT_EQ(pair.run(IBV_WR_SEND, local, right.number()), IBV_WC_SUCCESS);
    ibv_wc completion = next_completion(*right.cq);
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    EXPECT_EQ(completion.wr_id, 200u);
    EXPECT_EQ(completion.byte_len, 64u);
    EXPECT_EQ(completion.qp_num, pair.receiver.get()->qp_num);
    EXPECT_EQ(buffer.bytes[63], 'l');
    EXPECT_FALSE(has_completion_within(*left.cq, std::chrono::milliseconds(1)));

    EXPECT_EQ(pair.run(IBV_WR_SEND_WITH_IMM, local, left.number()), IBV_WC_SUCCESS);
    completion = next_completion(*left.cq);
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    EXPECT_EQ(completion.wr_id, 100u);
    EXPECT_EQ(completion.imm_data, 0x12345678u);
}

TEST_F(Xrc, QueuesAreOfOtherProgramsWithTheSameFile)
{
    const File file;
    Device other("mlx5_1");
    const Owned<ibv_xrcd> domain = open_domain(*second.context, file.descriptor),
                          same = open_domain(*other.context, file.descriptor, 0);
    ASSERT_NE(same, nullptr);
    Queue queue(other, *same);
    Buffer buffer(other, 4096);
    XrcPair pair(first, second, *domain);
    queue.post(buffer, 7);
    EXPECT_EQ(pair.run(IBV_WR_SEND, local, queue.number()), IBV_WC_SUCCESS);
    EXPECT_EQ(next_completion(*queue.cq).wr_id, 7u);
    EXPECT_EQ(buffer.bytes[0], 'l');
}

/// The receiver has no protection domain: that of the queue counts.
TEST_F(Xrc, MemoryIsOfTheProtectionDomainOfTheQueue)
{
    const Owned<ibv_xrcd> domain = open_domain(*second.context, of_one_program);
    const Owned<ibv_pd> other_pd(ibv_alloc_pd(second.context.get()));
    Queue queue(second, *domain), other_queue(second, *domain, other_pd.get());
    Buffer remote(second, 4096, all_rights, 'r');
    {
        XrcPair pair(first, second, *domain);
        EXPECT_EQ(pair.run(IBV_WR_RDMA_WRITE, local, queue.number(), remote.address(), remote.mr->rkey),
                  IBV_WC_SUCCESS);
        EXPECT_EQ(remote.bytes[63], 'l');
        EXPECT_EQ(
            pair.run(IBV_WR_ATOMIC_FETCH_AND_ADD, local, queue.number(), remote.address() + 8, remote.mr->rkey, 8),
            IBV_WC_SUCCESS);
        EXPECT_EQ(remote.bytes[8], 'm');
        EXPECT_EQ(pair.run(IBV_WR_RDMA_READ, local, queue.number(), remote.address() + 64, remote.mr->rkey),
                  IBV_WC_SUCCESS);
        EXPECT_EQ(local.bytes[63], 'r');
    }
    XrcPair pair(first, second, *domain);
    EXPECT_EQ(pair.run(IBV_WR_RDMA_WRITE, local, other_queue.number(), remote.address(), remote.mr->rkey),
              IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(next_event(*second.context), IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(Xrc, NumbersThatAreNotOfTheDomainAreInvalid)
{
    const Owned<ibv_xrcd> domain = open_domain(*second.context, of_one_program),
                          other_domain = open_domain(*second.context, of_one_program);
    Queue other(second, *other_domain), destroyed(second, *domain);
    ibv_srq_init_attr wanted{nullptr, {16, 1, 0}};
    const Owned<ibv_srq> ordinary(ibv_create_srq(second.pd.get(), &wanted));
    mlx5dv_srq numbered{};
    numbered.comp_mask = MLX5DV_SRQ_MASK_SRQN;
    mlx5dv_obj object{};
    object.srq = {ordinary.get(), &numbered};
    ASSERT_EQ(mlx5dv_init_obj(&object, MLX5DV_OBJ_SRQ), 0);
    const std::uint32_t old_number = destroyed.number();
    destroyed.srq.reset();
    for (const std::uint32_t number : {other.number(), old_number, numbered.srqn, 0u, 0xffffffu}) {
        for (const ibv_wr_opcode opcode : {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
            XrcPair pair(first, second, *domain);
            EXPECT_EQ(pair.run(opcode, local, number), IBV_WC_REM_INV_REQ_ERR) << number;
            EXPECT_EQ(next_event(*second.context), IBV_EVENT_QP_REQ_ERR);
            EXPECT_EQ(pair.receiver.state(), IBV_QPS_ERR);
        }
    }
}

TEST_F(Xrc, AnEmptyQueueIsNotReady)
{
    const Owned<ibv_xrcd> domain = open_domain(*second.context, of_one_program);
    Queue queue(second, *domain);
    XrcPair pair(first, second, *domain);
    EXPECT_EQ(pair.run(IBV_WR_SEND, local, queue.number()), IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST_F(Xrc, AMessageThatIsTooLongCompletesTheReceiveRequestInItsQueue)
{
    const Owned<ibv_xrcd> domain = open_domain(*second.context, of_one_program);
    Queue queue(second, *domain);
    Buffer buffer(second, 4096);
    XrcPair pair(first, second, *domain);
    queue.post(buffer, 9, 32);
    EXPECT_EQ(pair.run(IBV_WR_SEND, local, queue.number()), IBV_WC_REM_INV_REQ_ERR);
    const ibv_wc completion = next_completion(*queue.cq);
    EXPECT_EQ(completion.status, IBV_WC_LOC_LEN_ERR);
    EXPECT_EQ(completion.wr_id, 9u);
}

TEST_F(Xrc, ReceiversAreConnectedToSendersOnly)
{
    const Owned<ibv_xrcd> domain = open_domain(*second.context, of_one_program);
    Queue queue(second, *domain);
    Connection sender(first, make_sender(first)), ordinary(second);
    EXPECT_EQ(sender.connect_to(ordinary.address()), 0);
    EXPECT_EQ(ordinary.connect_to(sender.address()), 0);
    ibv_sge piece{local.address(), 64, local.mr->lkey};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.qp_type.xrc.remote_srqn = queue.number();
    EXPECT_EQ(ibv_post_send(sender.get(), &request, &bad), 0);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(Xrc, DomainsAreThoseOfTheirFiles)
{
    const File file;
    EXPECT_EQ(open_domain(*first.context, 9999), nullptr);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(open_domain(*first.context, -2), nullptr);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(open_domain(*first.context, file.descriptor, 0), nullptr);
    EXPECT_EQ(errno, EAGAIN);
    Owned<ibv_xrcd> domain = open_domain(*first.context, file.descriptor, O_CREAT | O_EXCL);
    EXPECT_NE(domain, nullptr);
    EXPECT_EQ(open_domain(*first.context, file.descriptor, O_CREAT | O_EXCL), nullptr);
    EXPECT_EQ(errno, EINVAL);
    const int again = open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_NE(open_domain(*first.context, again, 0), nullptr) << "another descriptor of the same file";
    EXPECT_EQ(open_domain(*second.context, again, 0), nullptr) << "another function";
    EXPECT_EQ(errno, EAGAIN);
    close(again);
    domain.reset();
    EXPECT_EQ(open_domain(*first.context, file.descriptor, 0), nullptr) << "the last one has closed it";
    EXPECT_EQ(errno, EAGAIN);
}

/// A pipe's end that blocks to be opened does not block the card.
TEST_F(Xrc, AFileMayBeAPipe)
{
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_NE(open_domain(*first.context, ends[1]), nullptr);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(Xrc, WhatIsInUseIsNotDestroyed)
{
    Owned<ibv_xrcd> domain = open_domain(*second.context, of_one_program);
    {
        const Queue queue(second, *domain);
        EXPECT_EQ(ibv_close_xrcd(domain.get()), EBUSY);
        EXPECT_EQ(ibv_destroy_cq(queue.cq.get()), EBUSY);
    }
    {
        const Owned<ibv_qp> receiver = make_receiver(second, *domain);
        ASSERT_NE(receiver, nullptr);
        EXPECT_EQ(ibv_close_xrcd(domain.get()), EBUSY);
    }
    EXPECT_EQ(ibv_close_xrcd(domain.release()), 0);
}

TEST_F(Xrc, AQueueOfXrcIsNotThatOfAnOrdinaryQueuePair)
{
    const Owned<ibv_xrcd> domain = open_domain(*first.context, of_one_program);
    const Queue queue(first, *domain);
    ibv_qp_init_attr wanted{};
    wanted.qp_type = IBV_QPT_RC;
    wanted.send_cq = wanted.recv_cq = first.cq.get();
    wanted.srq = queue.srq.get();
    wanted.cap = {4, 0, 1, 0, 0};
    errno = 0;
    EXPECT_EQ(ibv_create_qp(first.pd.get(), &wanted), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

/// The attributes of the half that a queue pair lacks are ignored, as by the kernel; those of its own half are needed.
TEST_F(Xrc, StatesNeedTheAttributesOfTheirHalf)
{
    const Owned<ibv_xrcd> domain = open_domain(*first.context, of_one_program);
    const Owned<ibv_qp> sender = make_sender(first), receiver = make_receiver(first, *domain);
    ASSERT_NE(receiver, nullptr);
    const Address self = Connection(first).address();
    constexpr int path = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    ibv_qp_attr attributes{};
    attributes.port_num = 1;
    attributes.path_mtu = IBV_MTU_1024;
    attributes.ah_attr.port_num = 1;
    attributes.ah_attr.dlid = self.lid;
    attributes.ah_attr.is_global = self.lid == 0;
    attributes.ah_attr.grh.dgid = self.gid;
    attributes.ah_attr.grh.sgid_index = self.lid == 0 ? 3 : 0;
    const auto change = [&](const Owned<ibv_qp> &qp, ibv_qp_state state, int mask) {
        attributes.qp_state = state;
        return ibv_modify_qp(qp.get(), &attributes, mask);
    };
    for (const auto *qp : {&sender, &receiver})
        EXPECT_EQ(change(*qp, IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
    EXPECT_EQ(change(receiver, IBV_QPS_RTR, path), EINVAL);
    EXPECT_EQ(change(receiver, IBV_QPS_RTR, path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), 0);
    EXPECT_EQ(change(sender, IBV_QPS_RTR, path & ~IBV_QP_DEST_QPN), EINVAL);
    EXPECT_EQ(change(sender, IBV_QPS_RTR, path), 0);
    EXPECT_EQ(change(sender, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN), EINVAL);
    EXPECT_EQ(change(receiver, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN), 0);
}

/// It is not modelled, and no program is left in the belief that it has the queue pair.
TEST_F(Xrc, ReceiversOfOthersCannotBeOpened)
{
    const Owned<ibv_xrcd> domain = open_domain(*first.context, of_one_program);
    const Owned<ibv_qp> receiver = make_receiver(first, *domain);
    ibv_qp_open_attr wanted{};
    wanted.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    wanted.qp_num = receiver->qp_num;
    wanted.xrcd = domain.get();
    wanted.qp_type = IBV_QPT_XRC_RECV;
    errno = 0;
    EXPECT_EQ(ibv_open_qp(first.context.get(), &wanted), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

/// Disabled, since only a card with an address has a network that could carry it.
TEST_F(Xrc, DISABLED_APeerOfAnotherCardIsRefusedWithAnAddress)
{
    const Owned<ibv_xrcd> domain = open_domain(*first.context, of_one_program);
    Connection sender(first, make_sender(first)), receiver(first, make_receiver(first, *domain)), ordinary(first);
    Address peer = sender.address();
    peer.gid.raw[15] += 1; // 127.0.0.31
    EXPECT_EQ(sender.connect_to(peer), EOPNOTSUPP);
    EXPECT_EQ(receiver.connect_to(peer), EOPNOTSUPP);
    EXPECT_EQ(ordinary.connect_to(peer), 0);
    XrcPair on_the_card(first, first, *domain);
}

/// Receives by a queue of the domain that a file names, and waits to be killed.
int be_victim()
{
    const Message order = receive_from_test();
    Device device("mlx5_1");
    const int file = open(reinterpret_cast<const char *>(order.bytes), O_RDONLY | O_CLOEXEC);
    const Owned<ibv_xrcd> domain = open_domain(*device.context, file, 0);
    if (domain == nullptr)
        return 1;
    Queue queue(device, *domain);
    Buffer buffer(device, 4096);
    queue.post(buffer, 1);
    queue.post(buffer, 2);
    const Owned<ibv_qp> receiver = make_receiver(device, *domain);
    send_to_test({{queue.number()}, {}});
    if (next_completion(*queue.cq).status != IBV_WC_SUCCESS || buffer.bytes[0] != 'l')
        return 1;
    send_to_test({});
    receive_from_test();
    return 0;
}

TEST_F(Xrc, QueuesEndWithTheirProgramAndTheDomainRemains)
{
    const File file;
    const Owned<ibv_xrcd> domain = open_domain(*second.context, file.descriptor);
    XrcPair pair(first, second, *domain);
    const int objects = card_count("objects"), keys = card_count("keys");
    Peer victim("host", "victim");
    Message order{};
    std::strncpy(reinterpret_cast<char *>(order.bytes), file.path.c_str(), sizeof(order.bytes) - 1);
    victim.send(order);
    const auto number = static_cast<std::uint32_t>(victim.receive().word[0]);
    EXPECT_EQ(pair.run(IBV_WR_SEND, local, number), IBV_WC_SUCCESS);
    static_cast<void>(victim.receive());
    victim.kill();
    EXPECT_TRUE(card_count_becomes("objects", objects));
    EXPECT_TRUE(card_count_becomes("keys", keys));
    Queue own(second, *domain);
    Buffer buffer(second, 4096);
    own.post(buffer, 3);
    EXPECT_EQ(pair.run(IBV_WR_SEND, local, own.number()), IBV_WC_SUCCESS);
    EXPECT_EQ(next_completion(*own.cq).wr_id, 3u);
    EXPECT_EQ(pair.run(IBV_WR_SEND, local, number), IBV_WC_REM_INV_REQ_ERR);
}

/// Makes a receiver for the sender it is told, and waits to be killed.
int be_receiver()
{
    const Message order = receive_from_test();
    Device device("mlx5_1");
    const Owned<ibv_xrcd> domain = open_domain(*device.context, of_one_program);
    Queue queue(device, *domain);
    Connection receiver(device, make_receiver(device, *domain));
    Address sender{static_cast<std::uint32_t>(order.word[0]), {}, static_cast<std::uint16_t>(order.word[1])};
    std::memcpy(sender.gid.raw, order.bytes, sizeof(sender.gid.raw));
    if (receiver.connect_to(sender) != 0)
        return 1;
    send_to_test({{receiver.address().number, queue.number()}, {}});
    receive_from_test();
    return 0;
}

TEST_F(Xrc, AReceiverThatDiesIsAPeerThatDoesNotAnswer)
{
    Connection sender(first, make_sender(first));
    const Address own = sender.address();
    Message order{{own.number, own.lid}, {}};
    std::memcpy(order.bytes, own.gid.raw, sizeof(own.gid.raw));
    Peer victim("host", "receiver");
    victim.send(order);
    const Message answer = victim.receive();
    Address receiver = Connection(second).address();
    receiver.number = static_cast<std::uint32_t>(answer.word[0]);
    EXPECT_EQ(sender.connect_to(receiver), 0);
    victim.kill();
    ibv_sge piece{local.address(), 64, local.mr->lkey};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.qp_type.xrc.remote_srqn = static_cast<std::uint32_t>(answer.word[1]);
    EXPECT_EQ(ibv_post_send(sender.get(), &request, &bad), 0);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_RETRY_EXC_ERR);
}

} // namespace
} // namespace card_test

int main(int argc, char **argv)
{
    const std::string role = card_test::role(argc, argv);
    if (role == "victim")
        return card_test::be_victim();
    if (role == "receiver")
        return card_test::be_receiver();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
