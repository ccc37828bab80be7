// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstdio>

#include <gtest/gtest.h>

#include "child_process.hpp"
#include "log_capture.hpp"

namespace {

/// Shows the library's log of a test that failed, and keeps that of all others off the terminal.
class LogOfFailures final : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo &) override { log_ = doca_test::LogCapture(); }
    void OnTestEnd(const testing::TestInfo &test) override
    {
        if (test.result()->Failed())
            std::printf("The log of %s.%s:\n%s", test.test_suite_name(), test.name(), log_.text().c_str());
    }

    doca_test::LogCapture log_;
};

} // namespace

int main(int argc, char **argv)
{
    doca_test::ChildProgram::run_if_child(argc, argv);
    const doca_test::LogCapture from_the_beginning;
    testing::InitGoogleTest(&argc, argv);
    testing::UnitTest::GetInstance()->listeners().Append(new LogOfFailures);
    return RUN_ALL_TESTS();
}
