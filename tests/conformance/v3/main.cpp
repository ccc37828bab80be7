// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include <doca_log.h>

namespace {

std::string text;
char buffer[1 << 16];

/// Shows the libraries' log of a test that failed, and keeps that of all others off the terminal.
class LogOfFailures final : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo &) override
    {
        text.clear();
        seen_ = std::string(buffer).size();
    }
    void OnTestEnd(const testing::TestInfo &test) override
    {
        if (test.result()->Failed())
            std::printf("The log of %s.%s:\n%s", test.test_suite_name(), test.name(),
                        (text + buffer).substr(text.empty() ? seen_ : 0).c_str());
    }

    std::size_t seen_ = 0; ///< of the buffer, at the test's start
};

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    doca_log_backend *backend = nullptr;
    if (doca_log_backend_create_with_buf_sdk(
            buffer, sizeof(buffer), [](char *full) { text += full; }, &backend) != DOCA_SUCCESS)
        return 1;
    testing::UnitTest::GetInstance()->listeners().Append(new LogOfFailures);
    return RUN_ALL_TESTS();
}
