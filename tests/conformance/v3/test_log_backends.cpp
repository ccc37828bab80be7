// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Where the two logs of DOCA 3.0 go, and what their upper limits keep away. Backends last as long as the process.
#include <cstdio>
#include <string>

#include <sys/mman.h>
#include <syslog.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <doca_buf_inventory.h>
#include <doca_log.h>

#include "../support/syslog_capture.hpp"

DOCA_LOG_REGISTER(TEST::LOG_BACKENDS);

using doca_test::syslog_messages;
using doca_test::syslog_name;

namespace {

/// What has been written to a file of memory, which stays open as its backend stays.
class Written {
public:
    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] std::string text() const
    {
        std::string all(static_cast<std::size_t>(lseek(fd_, 0, SEEK_END)), '\0');
        EXPECT_EQ(pread(fd_, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
        return all;
    }
    [[nodiscard]] bool has(const char *part) const { return text().find(part) != std::string::npos; }

private:
    int fd_ = memfd_create("log", MFD_CLOEXEC);
};

/// Makes a library complain: "a buffer inventory has 1 to ...".
void provoke()
{
    doca_buf_inventory *none = nullptr;
    EXPECT_EQ(doca_buf_inventory_create(0, &none), DOCA_ERROR_INVALID_VALUE);
}
constexpr const char *complaint = "a buffer inventory has 1 to";

} // namespace

TEST(LogBackendsV3, streams_and_descriptors_of_the_program)
{
    const Written stream, descriptor;
    doca_log_backend *backend = nullptr;
    std::FILE *const file = fdopen(dup(stream.fd()), "w");
    EXPECT_EQ(doca_log_backend_create_with_file(nullptr, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_create_with_fd(-1, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_create_with_fd(stream.fd(), nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(backend, nullptr);
    ASSERT_EQ(doca_log_backend_create_with_file(file, &backend), DOCA_SUCCESS);
    ASSERT_EQ(doca_log_backend_create_with_fd(descriptor.fd(), &backend), DOCA_SUCCESS);
    EXPECT_EQ(DOCA_LOG_INFO("number %d", 1), DOCA_SUCCESS);
    provoke();
    for (const Written *const written : {&stream, &descriptor}) {
        EXPECT_TRUE(written->has("] number 1\n")) << written->text();
        EXPECT_FALSE(written->has(complaint)) << "the libraries have a log of their own";
    }
}

TEST(LogBackendsV3, streams_and_descriptors_of_the_libraries)
{
    const Written stream, descriptor;
    doca_log_backend *backend = nullptr;
    std::FILE *const file = fdopen(dup(stream.fd()), "w");
    EXPECT_EQ(doca_log_backend_create_with_file_sdk(nullptr, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_create_with_fd_sdk(-1, &backend), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_log_backend_create_with_file_sdk(file, &backend), DOCA_SUCCESS);
    ASSERT_EQ(doca_log_backend_create_with_fd_sdk(descriptor.fd(), &backend), DOCA_SUCCESS);
    EXPECT_EQ(DOCA_LOG_INFO("number %d", 2), DOCA_SUCCESS);
    provoke();
    for (const Written *const written : {&stream, &descriptor}) {
        EXPECT_TRUE(written->has(complaint)) << written->text();
        EXPECT_FALSE(written->has("number 2")) << "the program has a log of its own";
    }
}

TEST(LogBackendsV3, the_systems_log_takes_both)
{
    doca_log_backend *of_program = nullptr, *of_sdk = nullptr;
    EXPECT_EQ(doca_log_backend_create_with_syslog("", &of_program), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_create_with_syslog_sdk(nullptr, &of_sdk), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_log_backend_create_with_syslog("a_program", &of_program), DOCA_SUCCESS);
    EXPECT_EQ(syslog_name, "a_program");
    ASSERT_EQ(doca_log_backend_create_with_syslog_sdk("its_libraries", &of_sdk), DOCA_SUCCESS);
    EXPECT_EQ(syslog_name, "its_libraries");
    EXPECT_EQ(DOCA_LOG_WARN("number %d", 3), DOCA_SUCCESS);
    provoke();
    ASSERT_EQ(syslog_messages.size(), 2u);
    EXPECT_EQ(syslog_messages[0].first & LOG_PRIMASK, LOG_WARNING);
    EXPECT_NE(syslog_messages[0].second.find("number 3"), std::string::npos) << syslog_messages[0].second;
    EXPECT_EQ(syslog_messages[1].first & LOG_PRIMASK, LOG_ERR);
    EXPECT_NE(syslog_messages[1].second.find(complaint), std::string::npos) << syslog_messages[1].second;
    EXPECT_EQ(doca_log_backend_set_level_lower_limit(of_program, DOCA_LOG_LEVEL_DISABLE), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_sdk_level(of_sdk, DOCA_LOG_LEVEL_DISABLE), DOCA_SUCCESS);
}

TEST(LogBackendsV3, upper_limits_keep_severe_messages_away)
{
    const Written written, strict;
    doca_log_backend *backend = nullptr, *strict_backend = nullptr;
    ASSERT_EQ(doca_log_backend_create_with_fd(written.fd(), &backend), DOCA_SUCCESS);
    ASSERT_EQ(doca_log_backend_create_with_fd(strict.fd(), &strict_backend), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_level_upper_limit(backend, 71), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_set_level_upper_limit(nullptr, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_INFO), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_level_upper_limit_strict(strict_backend), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_level_upper_limit(strict_backend, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_NOT_PERMITTED);
    DOCA_LOG_ERR("an error");
    DOCA_LOG_INFO("a remark");
    EXPECT_FALSE(written.has("an error"));
    EXPECT_TRUE(written.has("a remark"));
    EXPECT_TRUE(strict.has("an error"));

    // The global one is that of all which are not strict, and of those to come.
    EXPECT_EQ(doca_log_level_set_global_upper_limit(9), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_level_get_global_upper_limit(), unsigned{DOCA_LOG_LEVEL_WARNING});
    const Written later;
    ASSERT_EQ(doca_log_backend_create_with_fd(later.fd(), &backend), DOCA_SUCCESS);
    DOCA_LOG_CRIT("the end");
    DOCA_LOG_WARN("a warning");
    for (const Written *const each : {&written, &later}) {
        EXPECT_FALSE(each->has("the end"));
        EXPECT_TRUE(each->has("a warning"));
    }
    EXPECT_TRUE(strict.has("the end"));
    ASSERT_EQ(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT), DOCA_SUCCESS);
}

TEST(LogBackendsV3, sources_come_and_go)
{
    int source = 0;
    EXPECT_EQ(doca_log_register_source(nullptr, &source), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_register_source("a::source", nullptr), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_log_register_source("a::source", &source), DOCA_SUCCESS);
    EXPECT_GT(source, 0);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, "f", 1, "g", "x"), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_unregister_source(source), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_unregister_source(source), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, "f", 1, "g", "x"), DOCA_ERROR_INVALID_VALUE);
}
