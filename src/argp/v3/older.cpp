// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The flag for gRPC of programs of DOCA 2.5 to 2.8: the private symbols that opendoca/older/argp.h binds its names to.
// They stay part of the ABI.
#include <doca_compat.h>

#include "../api.hpp"

using opendoca::guarded;
using namespace opendoca::argp;

extern "C" {

DOCA_EXPERIMENTAL void opendoca_argp_set_grpc_program_2_5(void);
DOCA_EXPERIMENTAL doca_error_t opendoca_argp_get_grpc_addr_2_5(const char **address);

} // extern "C"

void opendoca_argp_set_grpc_program_2_5(void)
{
    (void)guarded([] {
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_BAD_STATE);
        parser->set_grpc_program();
        return DOCA_SUCCESS;
    });
}

doca_error_t opendoca_argp_get_grpc_addr_2_5(const char **address)
{
    return with_parser(address, "address", DOCA_ERROR_BAD_STATE, [&](Parser &own) { *address = own.grpc_address(); });
}
