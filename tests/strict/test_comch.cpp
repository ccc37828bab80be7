// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: where clients of Comch run.
#include <cstdint>
#include <string>

#include <doca_comch.h>

#include "strict_fixture.hpp"

namespace doca_test {
namespace {

using ClientHandle = Handle<doca_comch_client, doca_comch_client_destroy>;

class StrictComch : public StrictTest {};
INSTANTIATE_STRICT(StrictComch);

void sent(doca_comch_task_send *, doca_data, doca_data) {}
void received(doca_comch_event_msg_recv *, std::uint8_t *, std::uint32_t, doca_comch_connection *) {}

/// Without strict mode the port acts as a PF of the host, and looks for the server.
TEST_P(StrictComch, a_port_of_the_dpu_is_no_client)
{
    EXPECT_EQ(doca_comch_cap_client_is_supported(doca_dev_as_devinfo(dev)),
              is_strict() ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS);
    ClientHandle client;
    must(doca_comch_client_create(dev, "no such server", client.out()));
    must(doca_comch_client_task_send_set_conf(client, sent, sent, 1));
    must(doca_comch_client_event_msg_recv_register(client, received));
    doca_ctx *const ctx = doca_comch_client_as_ctx(client);
    must(doca_pe_connect_ctx(pe, ctx));
    EXPECT_EQ(doca_ctx_start(ctx), is_strict() ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_IN_PROGRESS);
    (void)doca_ctx_stop(ctx);
    run_until([&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE; });
    expect_rule("dpu-port-is-no-host");
}

/// A function of the host is one in either mode.
TEST_P(StrictComch, a_function_of_the_host_is_a_client)
{
    EXPECT_EQ(doca_comch_cap_client_is_supported(doca_dev_as_devinfo(open_device("soft_pf0"))), DOCA_SUCCESS);
}

} // namespace
} // namespace doca_test
