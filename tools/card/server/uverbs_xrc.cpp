// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about domains of XRC. Their queue pairs and shared receive queues are made by create_qp() and create_srq().
#include <cerrno>
#include <cstdint>
#include <memory>

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>

#include "command.hpp"

namespace opendoca::card {

int open_xrcd(Command &command)
{
    constexpr std::uint32_t no_file = 0xffffffff; // the domain of this program alone
    ib_uverbs_open_xrcd request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    std::shared_ptr<const XrcIdentity> identity;
    if (request.fd == no_file)
        identity = std::make_shared<const XrcIdentity>();
    else if (const int error = command.file.function.xrc_files.open(*command.process, static_cast<int>(request.fd),
                                                                    (request.oflags & O_CREAT) != 0,
                                                                    (request.oflags & O_EXCL) != 0, identity))
        return error;
    auto *domain = command.file.card.objects.create<XrcDomain>(command.file);
    if (domain == nullptr)
        return ENOMEM;
    domain->identity = std::move(identity);
    ib_uverbs_open_xrcd_resp response{};
    response.xrcd_handle = domain->handle;
    const int error = command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (error != 0)
        command.file.card.objects.destroy(*domain);
    return error;
}

int close_xrcd(Command &command)
{
    auto *domain = command.object<XrcDomain>(UVERBS_ATTR_DESTROY_XRCD_HANDLE);
    if (domain == nullptr)
        return EINVAL;
    if (domain->users != 0)
        return EBUSY;
    command.file.card.objects.destroy(*domain);
    return 0;
}

} // namespace opendoca::card
