// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "send_queue.hpp"

#include "../../../objects/buf.hpp"
#include "../../../objects/mmap.hpp"

namespace opendoca::soft {

namespace {

/// A copy of a queued request, which is the payload of its Operation. Smaller than a Request: the opcode is in
/// Operation::kind, and the remote key is found again by the buffer.
class PendingRequest {
public:
    PendingRequest() noexcept = default;
    explicit PendingRequest(const Request &request) noexcept;
    /// Returns the request with @p opcode, which was stored for @p device.
    [[nodiscard]] Request request(Opcode opcode, const Device &device) const noexcept;

private:
    struct Transfer {
        TransferPlan plan;
        std::uint32_t immediate;
    };
    struct Atomic {
        std::uint64_t operand;
        std::uint64_t compare;
    };

    doca_buf *local_;
    doca_buf *remote_;
    union {
        Transfer transfer_;
        Atomic atomic_;
    };
};

PendingRequest::PendingRequest(const Request &request) noexcept : local_(request.local), remote_(request.remote)
{
    // Only one member of the union is set: an atomic has operands and no plan, other requests a plan and no operands.
    if (is_atomic(request.opcode))
        atomic_ = {request.operand, request.compare};
    else
        transfer_ = {request.plan, request.immediate};
}

Request PendingRequest::request(Opcode opcode, const Device &device) const noexcept
{
    Request request{};
    request.opcode = opcode;
    request.local = local_;
    request.remote = remote_;
    // A transfer of no bytes does not touch its remote buffer, which the program may have freed.
    if (remote_ != nullptr && (is_atomic(opcode) || transfer_.plan.length != 0))
        request.remote_key = remote_->mmap->key_for(device);
    if (is_atomic(opcode)) {
        request.operand = atomic_.operand;
        request.compare = atomic_.compare;
    } else {
        request.plan = transfer_.plan;
        request.immediate = transfer_.immediate;
    }
    return request;
}

} // namespace

SendQueue::SendQueue(std::uint32_t size) : size_(size), ring_(std::make_unique_for_overwrite<Operation *[]>(size)) {}

void SendQueue::push(Operation &operation, const Request &request) noexcept
{
    operation.kind = static_cast<std::uint32_t>(request.opcode);
    operation.payload<PendingRequest>() = PendingRequest(request);
    at(first_ + num_++) = &operation;
}

Request SendQueue::first_request(const Device &device) const noexcept
{
    return first().payload<PendingRequest>().request(first_opcode(), device);
}

} // namespace opendoca::soft
