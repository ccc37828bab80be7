// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "faulty_queue_pair.hpp"

#include "../../../log/log.hpp"
#include "../../host/peer_timeout.hpp"
#include "../connection/queue_pair_mapping.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_FAULTY_QUEUE_PAIR);

namespace opendoca::soft {

doca_error_t FaultyQueuePair::connect(std::span<const std::byte> details)
{
    if (life_.is_lost() || life_.is_port_down()) {
        LOG_ERR("device %s %s: it cannot connect", device().function().description().c_str(),
                life_.is_lost() ? "was reset after the connection was made" : "has a port that is down");
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    return SoftQueuePair::connect(details);
}

doca_error_t FaultyQueuePair::attach(CompletionQueue &completions)
{
    doca_error_t status = DeviceWatch::of(completions, watch_);
    if (status == DOCA_SUCCESS)
        status = SoftQueuePair::attach(completions);
    if (status == DOCA_SUCCESS)
        watch_->add(*this);
    else
        watch_.reset();
    return status;
}

void FaultyQueuePair::detach() noexcept
{
    if (watch_ != nullptr)
        watch_->remove(*this);
    watch_.reset();
    SoftQueuePair::detach();
}

template <typename Submit>
doca_error_t FaultyQueuePair::unless_faulty(Tag tag, Submit submit) noexcept
{
    // Checked here as well, since a job that is failed needs a credit for its completion.
    if (completions_->is_full() || life_.plan().injects(Fault::full, Jobs::rdma))
        return DOCA_ERROR_NO_MEMORY;
    if (life_.begin_job(Jobs::rdma) != DOCA_SUCCESS) {
        lose_device();
        complete_now(tag, DOCA_ERROR_IO_FAILED, 0);
        return DOCA_SUCCESS;
    }
    check_port();
    if (life_.plan().injects(Fault::peer, Jobs::rdma))
        // Completes the job with the error, and ends the connection.
        complete_now(tag, DOCA_ERROR_CONNECTION_RESET, 0);
    else if (life_.plan().injects(Fault::job, Jobs::rdma))
        complete_now(tag, DOCA_ERROR_IO_FAILED, 0);
    else
        return submit();
    return DOCA_SUCCESS;
}

doca_error_t FaultyQueuePair::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    return unless_faulty(tag, [&] { return SoftQueuePair::receive(tag, dst, plan); });
}

doca_error_t FaultyQueuePair::post(Tag tag, const Request &request) noexcept
{
    return unless_faulty(tag, [&] {
        if (late_.include(request.opcode))
            return post_late(tag, request);
        if (late_.are_possible())
            return post_after_queued(tag, request);
        return is_held() ? post_any(tag, request) : SoftQueuePair::post(tag, request);
    });
}

/// As that of a StrictQueuePair.
void FaultyQueuePair::flush() noexcept
{
    if (late_.are_possible())
        execute_queued();
    SoftQueuePair::flush();
}

void FaultyQueuePair::check_device() noexcept
{
    if (life_.is_lost())
        lose_device();
    else
        check_port();
}

/// The peer's page is not trusted: an id that no function has means that its port is taken to be up.
bool FaultyQueuePair::is_peer_port_down() noexcept
{
    if (!has_peer_function_) {
        const Topology &topology = states_.topology();
        for (std::size_t i = 0; i != topology.size(); ++i) {
            if (function_id_of(topology[i].name.c_str(), topology[i].pci_address.c_str()) == peer().function_id())
                peer_function_ = &states_.of(i);
        }
        has_peer_function_ = true;
    }
    return peer_function_ != nullptr && peer_function_->is_port_down();
}

void FaultyQueuePair::check_port() noexcept
{
    using Clock = std::chrono::steady_clock;
    const bool is_down = is_connected() && (life_.is_port_down() || is_peer_port_down());
    if (!is_down) {
        hold(false);
        waits_since_ = {};
        return;
    }
    hold(true);
    if (!has_queued_sends()) {
        waits_since_ = {};
        return;
    }
    const auto now = Clock::now();
    if (waits_since_ == Clock::time_point()) {
        waits_since_ = now;
    } else if (now - waits_since_ > std::chrono::duration<double>(peer_timeout())) {
        LOG_ERR("a port of a connection of device %s has been down for %.3g s: the connection ends",
                device().function().description().c_str(), peer_timeout());
        time_out();
    }
}

} // namespace opendoca::soft
