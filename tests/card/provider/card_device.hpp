// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What opendoca's tests on a failing card have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <poll.h>

#include "../../conformance/support/rdma_fixture.hpp"
#include "../behaviour/verbs.hpp"

namespace provider_test {

using namespace doca_test;
using card_test::ask_card;
using card_test::card_count;
using card_test::card_count_becomes;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// After which something counts as hanging. Far more than anything here takes.
constexpr auto patience = 60s;

/// A completion that is this late does not come during a test.
inline void delay_completions(std::chrono::milliseconds delay, int count = 1)
{
    const std::string line = "delay-completion " + std::to_string(delay.count()) + " count " + std::to_string(count);
    must_hold(ask_card(line) == "ok", "the card takes a fault");
}

inline bool is_readable(int fd, std::chrono::milliseconds limit)
{
    pollfd waiting = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, static_cast<int>(limit.count())) == 1;
}

/// Memory of a device, mapped, and buffers in it.
struct Area {
    explicit Area(doca_dev *dev) : map(dev, bytes, exposed) {}
    [[nodiscard]] BufHandle full(std::size_t offset, std::size_t length) const
    {
        return inventory.full(map, const_cast<std::byte *>(&bytes[offset]), length);
    }
    [[nodiscard]] BufHandle empty(std::size_t offset, std::size_t length) const
    {
        return inventory.empty(map, const_cast<std::byte *>(&bytes[offset]), length);
    }

    std::vector<std::byte> bytes = std::vector<std::byte>(1 << 16, std::byte{7});
    LocalMap map;
    Inventory inventory{256};
};

/// Copies on one work queue, from one half of an area to the other.
class Copies {
public:
    explicit Copies(doca_dev *dev, bool is_event_driven = false) : area(dev), engine(dev, 64, is_event_driven) {}

    void submit(int count)
    {
        for (int i = 0; i < count; ++i) {
            sources_.push_back(area.full(0, 4096));
            destinations_.push_back(area.empty(1 << 15, 4096));
            must(engine.submit(destinations_.back(), sources_.back()));
        }
    }
    /// The results of copies that have ended, until there are @p count, or time is up.
    std::vector<doca_error_t> results(int count)
    {
        std::vector<doca_error_t> found;
        const auto end = Clock::now() + patience;
        while (static_cast<int>(found.size()) != count && Clock::now() < end) {
            doca_event event = {};
            if (engine.retrieve(event) == DOCA_ERROR_AGAIN)
                continue;
            found.push_back(static_cast<doca_error_t>(event.result.u64));
        }
        return found;
    }
    [[nodiscard]] int handle() const
    {
        doca_event_handle_t handle = -1;
        must(doca_workq_get_event_handle(engine.workq(), &handle));
        return handle;
    }
    void arm() const { must(doca_workq_event_handle_arm(engine.workq())); }
    void clear() const { must(doca_workq_event_handle_clear(engine.workq(), handle())); }

    Area area;
    DmaEngine engine; ///< at its end doca_ctx_workq_rm() and doca_ctx_stop() have to succeed

private:
    std::vector<BufHandle> sources_, destinations_;
};

inline std::vector<doca_error_t> times(int count, doca_error_t status)
{
    return std::vector<doca_error_t>(static_cast<std::size_t>(count), status);
}

/// Two instances that are connected, on two devices.
class Connected {
public:
    Connected(doca_dev *left_dev, doca_dev *right_dev, const RdmaOptions &options = {})
        : left_area(left_dev),
          right_area(right_dev),
          left(left_dev, options),
          right(right_dev, options)
    {
        must(left.connect(right.details()));
        must(right.connect(left.details()));
    }

    Area left_area, right_area;
    RdmaEnd left, right; ///< at its end doca_ctx_workq_rm() and doca_ctx_stop() have to succeed
};

/// The result of the job that ends next; AGAIN when none does in time.
inline doca_error_t next_result(const RdmaEnd &end)
{
    const auto limit = Clock::now() + patience;
    while (Clock::now() < limit) {
        const RdmaEnded ended = end.try_retrieve();
        if (ended.status != DOCA_ERROR_AGAIN)
            return ended.result.result;
    }
    return DOCA_ERROR_AGAIN;
}

} // namespace provider_test
