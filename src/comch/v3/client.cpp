// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include <sys/timerfd.h>
#include <unistd.h>

#include "../../comm_channel/tcp.hpp"
#include "../../core/log/log.hpp"
#include "control.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_CLIENT);

using namespace opendoca::comm_channel;
using Link = doca_comch_connection::Link;

namespace {

/// How long a client waits for a server that is started later.
constexpr auto search_timeout = std::chrono::seconds(10);
/// Interval at which a blocked client searches for its server.
constexpr auto retry_interval = std::chrono::milliseconds(10);

} // namespace

doca_error_t doca_comch_client::on_start()
{
    const auto &identity = device()->function().behind_port;
    if (!identity) {
        LOG_ERR("device %s is a port of the DPU, where servers are, and acts for no function of the host%s",
                device()->description().c_str(),
                device()->function().strict_suffix(opendoca::StrictRule::dpu_port_is_no_host));
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    key_ = make_service_key(identity->name, identity->pci_address, name_);
    if (const doca_error_t status = open(); status != DOCA_SUCCESS)
        return status;
    deadline_ = std::chrono::steady_clock::now() + search_timeout;
    wait_for_server_.reset();
    search_.restart();
    const doca_error_t status = connect_to_server();
    return status == DOCA_SUCCESS || status == DOCA_ERROR_NOT_FOUND ? DOCA_ERROR_IN_PROGRESS : status;
}

doca_error_t doca_comch_client::connect_to_server()
{
    opendoca::UniqueFd socket;
    const std::string &at = device()->function().services_at;
    doca_error_t status =
        at.empty() ? search_.connect(key_, name_.c_str(), socket) : connect_at(at, key_, name_.c_str(), socket);
    if (status != DOCA_SUCCESS)
        return status;
    auto made = std::make_unique<doca_comch_connection>(*this, Link::Side::client, std::move(socket));
    // Watches the socket for the server's answer.
    if (!watches_.add(*made)) {
        LOG_ERR("client '%s' cannot watch its connection: %s", name_.c_str(), std::strerror(errno));
        return DOCA_ERROR_INITIALIZATION;
    }
    status = made->link.send_hello(key_, limits());
    if (status == DOCA_SUCCESS)
        server_ = std::move(made);
    return status;
}

doca_error_t doca_comch_client::on_stop() noexcept
{
    if (server_ != nullptr) {
        // A server that has accepted this client in the meantime receives a disconnect notice.
        if (server_->link.state() == Link::State::connecting)
            (void)opendoca::guarded([&] { return server_->link.receive_welcome(limits()); });
        leave(*server_);
        end(*server_, DOCA_ERROR_SHUTDOWN);
    }
    return DOCA_SUCCESS;
}

void doca_comch_client::on_idle() noexcept
{
    if (server_ != nullptr)
        leave(*server_);
    server_.reset();
    drop_timer();
    close();
}

bool doca_comch_client::set_timer() noexcept
{
    if (!timer_.is_open()) {
        timer_ = opendoca::UniqueFd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
        if (!timer_.is_open() || !watches_.add(timer_.get())) {
            timer_ = {};
            return false;
        }
    }
    // While the socket is connected it reports the server's answer, so the timer is for the deadline only.
    const auto at = server_ != nullptr ? deadline_ : std::chrono::steady_clock::now() + retry_interval;
    const std::chrono::nanoseconds since_boot = at.time_since_epoch();
    itimerspec time{};
    time.it_value.tv_sec = since_boot / std::chrono::seconds(1);
    time.it_value.tv_nsec = (since_boot % std::chrono::seconds(1)).count();
    return timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &time, nullptr) == 0;
}

void doca_comch_client::drop_timer() noexcept
{
    if (timer_.is_open())
        watches_.remove(timer_.get());
    timer_ = {};
}

/// Returns true if the state of the context has changed.
bool doca_comch_client::continue_connecting() noexcept
{
    if (std::uint64_t count = 0; timer_.is_open())
        (void)!read(timer_.get(), &count, sizeof(count)); // the timer must not wake the program again
    doca_error_t status = DOCA_ERROR_NOT_FOUND;
    // A first step that succeeds is followed by the second at once: the server may have answered already.
    if (server_ == nullptr)
        status = opendoca::guarded([&] { return connect_to_server(); });
    if (server_ != nullptr)
        status = opendoca::guarded([&] { return server_->link.receive_welcome(limits()); });
    if (status == DOCA_SUCCESS && watches_.add_space(*server_)) {
        server_->is_reported = true;
        drop_timer();
        completions().wake_if_waiting(); // no doorbells were requested for the connection
        started();
        return true;
    }
    const opendoca::DeviceFunction &function = device()->function();
    const char *const at = function.services_at.empty() ? "this machine" : function.services_at.c_str();
    const bool may_come = status == DOCA_ERROR_NOT_FOUND || status == DOCA_ERROR_CONNECTION_INPROGRESS;
    if (may_come && std::chrono::steady_clock::now() < deadline_) {
        if (wait_for_server_.is_due())
            LOG_WARN("client '%s' waits for a server of that name on the representor of %s (%s), at %s", name_.c_str(),
                     function.behind_port->name.c_str(), function.behind_port->pci_address.c_str(), at);
        if (completions().is_armed() && !set_timer()) // the timer's event was read above
            completions().wake();
        return false;
    }
    LOG_ERR("client '%s' has found no server of that name on the representor of %s (%s), at %s, that accepts it",
            name_.c_str(), function.behind_port->name.c_str(), function.behind_port->pci_address.c_str(), at);
    start_failed();
    return true;
}

bool doca_comch_client::on_progress() noexcept
{
    if (state() == DOCA_CTX_STATE_STARTING)
        return is_socket_check_due() && continue_connecting();
    if (!is_running())
        return false;
    // Consumers of the peer are reported as expired first, one per call, and then the client stops.
    if (!server_->fast->has_ended()) {
        if (serve(*server_))
            return true;
        if (is_socket_check_due())
            check_sockets(*server_);
        if (!has_nothing_more(*server_))
            return false;
    }
    if (!end_of_peer(*server_))
        fail();
    return true;
}

bool doca_comch_client::can_wait() const noexcept
{
    return server_ != nullptr && !server_->fast->has_ended() && server_->link.state() == Link::State::connected &&
           server_->link.is_end_shown();
}

bool doca_comch_client::can_progress() noexcept
{
    if (state() == DOCA_CTX_STATE_STARTING)
        return !set_timer(); // no other event reports a new server
    if (!is_running())
        return false; // remaining work does not concern the connection
    if (server_->link.state() != Link::State::connected)
        return true;
    request_doorbells(*server_);
    return has_something(*server_);
}
