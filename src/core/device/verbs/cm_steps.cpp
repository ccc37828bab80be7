// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cm_steps.hpp"

#include <cerrno>

#include "function.hpp"
#include "queue_pair.hpp"

namespace opendoca::verbs {

bool is_id_on_port(const rdma_cm_id &id, const VerbsFunction &port) noexcept
{
    return id.verbs != nullptr && port.ibdev_name == ibv_get_device_name(id.verbs->device) &&
           port.port() == id.port_num;
}

doca_error_t connect_by_id(const RdmaCmLibrary &library, rdma_cm_id &id, VerbsQueuePair &queue_pair)
{
    return queue_pair.connect_by([&](ibv_qp_attr &attributes, int &mask) {
        return library.queue_pair_attributes(&id, &attributes, &mask) == 0 ? 0 : errno;
    });
}

bool accept_client(const RdmaCmLibrary &library, rdma_cm_id &id, const VerbsQueuePair &queue_pair,
                   std::span<const std::byte> private_data) noexcept
{
    rdma_conn_param reply{};
    reply.private_data = private_data.data();
    reply.private_data_len = static_cast<std::uint8_t>(private_data.size());
    reply.responder_resources = RDMA_MAX_RESP_RES; // limited by the device and by the request
    reply.initiator_depth = RDMA_MAX_INIT_DEPTH;
    reply.flow_control = 1;
    reply.rnr_retry_count = no_cm_limit;
    reply.srq = queue_pair.uses_srq();
    reply.qp_num = queue_pair.number();
    return library.accept(&id, &reply) == 0;
}

} // namespace opendoca::verbs
