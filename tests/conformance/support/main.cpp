// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "child_process.hpp"
#include "log_capture.hpp"
#include "memory.hpp"
#include "peer_machine.hpp"
#include "verbs_objects.hpp"

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

/// Where this test program and its children have their files. What a child that was killed has left there goes with it.
class DirectoryOfThisRun {
public:
    DirectoryOfThisRun()
    {
        // Children of another user have files there, too.
        if (mkdtemp(path_.data()) != nullptr && chmod(path_.c_str(), 01777) == 0)
            setenv("TMPDIR", path_.c_str(), 1);
    }
    DirectoryOfThisRun(const DirectoryOfThisRun &) = delete;
    DirectoryOfThisRun &operator=(const DirectoryOfThisRun &) = delete;
    ~DirectoryOfThisRun()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

private:
    std::string path_ = doca_test::temporary_directory() + "/opendoca-test-XXXXXX";
};

/// A test must leave no objects of verbs behind. Only where nobody else uses the devices: see tests/vm.
class LeakCheck final : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo &) override { before_ = doca_test::count_verbs_objects(); }
    void OnTestEnd(const testing::TestInfo &) override
    {
        EXPECT_EQ(doca_test::describe_left(before_, doca_test::count_verbs_objects()), "");
    }

    doca_test::VerbsObjects before_;
};

} // namespace

int main(int argc, char **argv)
{
    doca_test::ChildProgram::run_if_child(argc, argv);
    doca_test::serve_if_asked(argc, argv);
    const doca_test::LogCapture from_the_beginning;
    const DirectoryOfThisRun directory;
    testing::InitGoogleTest(&argc, argv);
    testing::UnitTest::GetInstance()->listeners().Append(new LogOfFailures);
    if (std::getenv("OPENDOCA_TEST_COUNTS_VERBS_OBJECTS") != nullptr)
        testing::UnitTest::GetInstance()->listeners().Append(new LeakCheck);
    return RUN_ALL_TESTS();
}
