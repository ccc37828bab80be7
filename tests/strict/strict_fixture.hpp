// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The software device, without and with strict mode.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "../conformance/support/environment.hpp"
#include "../conformance/support/log_capture.hpp"
#include "../conformance/v3/dma_tasks.hpp"
#include "../conformance/v3/objects.hpp"

namespace doca_test {

/// The first software device. The parameter states whether it is strict: each test expects that a program passes
/// without strict mode and fails with it.
class StrictTest : public testing::TestWithParam<bool> {
protected:
    [[nodiscard]] static bool is_strict() { return GetParam(); }

    void run_until(const std::function<bool()> &is_done) const
    {
        while (!is_done()) {
            if (doca_pe_progress(pe) == 0)
                std::this_thread::yield();
        }
    }
    /// Expects that @p rule is in the log in strict mode, and no rule otherwise.
    void expect_rule(const std::string &rule) const
    {
        if (is_strict())
            EXPECT_LOGGED(log, "strict: " + rule);
        else
            EXPECT_FALSE(log.has("strict: ")) << log.text();
    }

    const Environment strict{"DOCA_SOFT_STRICT", is_strict() ? "1" : nullptr}; ///< read when devices are listed
    const LogCapture log;
    DevHandle dev = open_device("soft_p0");
    PeHandle pe = [] {
        PeHandle created;
        must(doca_pe_create(created.out()));
        return created;
    }();
};

} // namespace doca_test

/// Runs a suite of StrictTest without and with strict mode.
#define INSTANTIATE_STRICT(suite)                                                                                      \
    INSTANTIATE_TEST_SUITE_P(mode, suite, testing::Bool(),                                                             \
                             [](const auto &test) { return std::string(test.param ? "strict" : "lenient"); })
