// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The two logs of DOCA 3.0: the program's, and that of the libraries.
#include <cstddef>
#include <cstdint>
#include <regex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <doca_buf_inventory.h>
#include <doca_log.h>
#include <doca_sync_event.h>

#include "objects.hpp"

DOCA_LOG_REGISTER(TEST::LOG);

namespace {

std::string program_text;
std::string sdk_text;

/// Each line is handed over when the next one comes.
char program_buffer[512];
char sdk_buffer[512];

struct Backends {
    Backends()
    {
        const auto to_program = [](char *text) { program_text += text; };
        const auto to_sdk = [](char *text) { sdk_text += text; };
        EXPECT_EQ(doca_log_backend_create_with_buf(program_buffer, sizeof(program_buffer), to_program, &program),
                  DOCA_SUCCESS);
        EXPECT_EQ(doca_log_backend_create_with_buf_sdk(sdk_buffer, sizeof(sdk_buffer), to_sdk, &sdk), DOCA_SUCCESS);
    }

    doca_log_backend *program = nullptr;
    doca_log_backend *sdk = nullptr;
};

Backends &backends()
{
    static Backends instance;
    return instance;
}

std::string program_log()
{
    return program_text + program_buffer;
}

std::string sdk_log()
{
    return sdk_text + sdk_buffer;
}

/// A context with one kind of tasks.
struct RunningEvent {
    RunningEvent()
    {
        using doca_test::must;
        must(doca_pe_create(pe.out()));
        must(doca_sync_event_create(event.out()));
        must(doca_sync_event_add_publisher_location_cpu(event, dev));
        must(doca_sync_event_add_subscriber_location_cpu(event, dev));
        const auto nothing = [](doca_sync_event_task_get *, doca_data, doca_data) {};
        must(doca_sync_event_task_get_set_conf(event, nothing, nothing, 1));
        ctx = doca_sync_event_as_ctx(event);
        must(doca_pe_connect_ctx(pe, ctx));
        must(doca_ctx_start(ctx));
    }
    RunningEvent(const RunningEvent &) = delete;
    RunningEvent &operator=(const RunningEvent &) = delete;
    ~RunningEvent() { EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS); }

    doca_test::DevHandle dev = doca_test::open_device(doca_test::copying_devices().front());
    doca_test::PeHandle pe;
    doca_test::Handle<doca_sync_event, doca_sync_event_destroy> event;
    doca_ctx *ctx = nullptr;
};

/// Makes a library complain.
void provoke()
{
    doca_buf_inventory *none = nullptr;
    EXPECT_EQ(doca_buf_inventory_create(0, &none), DOCA_ERROR_INVALID_VALUE);
}

TEST(LogV3, AProgramsMessageNamesItsSource)
{
    (void)backends();
    EXPECT_EQ(DOCA_LOG_WARN("the answer is %d", 42), DOCA_SUCCESS);
    const std::regex line("\\[\\d\\d:\\d\\d:\\d\\d:\\d{6}\\]\\[\\d+\\]\\[DOCA\\]\\[WRN\\]\\[test_log\\.cpp:\\d+\\]"
                          "\\[TestBody\\] the answer is 42\\n");
    EXPECT_TRUE(std::regex_search(program_log(), line)) << program_log();
    EXPECT_EQ(sdk_log().find("answer"), std::string::npos);
    EXPECT_EQ(doca_log(45, 0, "f", 1, "g", "x"), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_ERROR, 4000, "f", 1, "g", "x"), DOCA_ERROR_INVALID_VALUE);
}

TEST(LogV3, TheLibrariesHaveALogOfTheirOwn)
{
    (void)backends();
    provoke();
    EXPECT_NE(sdk_log().find("a buffer inventory has 1 to"), std::string::npos) << sdk_log();
    EXPECT_EQ(program_log().find("a buffer inventory has"), std::string::npos);
    const std::size_t before = sdk_log().size();
    ASSERT_EQ(doca_log_backend_set_sdk_level(backends().sdk, DOCA_LOG_LEVEL_DISABLE), DOCA_SUCCESS);
    provoke();
    EXPECT_EQ(sdk_log().size(), before);
    ASSERT_EQ(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_level_get_global_sdk_limit(), unsigned{DOCA_LOG_LEVEL_ERROR});
    provoke();
    EXPECT_GT(sdk_log().size(), before);
}

TEST(LogV3, AProgramsMistakesAreNamed)
{
    (void)backends();
    ASSERT_EQ(doca_log_backend_set_sdk_level(backends().sdk, DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
    const auto says = [](const std::string &text) { return sdk_log().find(text) != std::string::npos; };
    EXPECT_EQ(doca_mmap_start(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(says("doca_mmap_start: an argument is NULL")) << sdk_log();

    const RunningEvent running;
    doca_sync_event *const event = running.event;
    std::uint64_t value = 0;
    doca_sync_event_task_get *get = nullptr;
    ASSERT_EQ(doca_sync_event_task_get_alloc_init(event, &value, {}, &get), DOCA_SUCCESS);
    doca_sync_event_task_notify_set *set = nullptr;
    EXPECT_EQ(doca_sync_event_task_notify_set_alloc_init(event, 1, {}, &set), DOCA_ERROR_NO_MEMORY);
    EXPECT_TRUE(says("no tasks of this type were asked for")) << sdk_log();
    EXPECT_NE(doca_sync_event_destroy(event), DOCA_SUCCESS);
    EXPECT_TRUE(says("the context has to be idle: it is running, with 1 tasks that are not freed")) << sdk_log();

    doca_task_free(doca_sync_event_task_get_as_doca_task(get));
}

/// A program may ask again and again.
TEST(LogV3, TasksThatAreAllInUseAreARemarkOnce)
{
    (void)backends();
    const auto count = [](const std::string &part) {
        std::size_t found = 0;
        for (std::size_t at = sdk_log().find(part); at != std::string::npos; at = sdk_log().find(part, at + 1))
            ++found;
        return found;
    };
    const std::string remark = "all 1 tasks of this type are in use";
    const std::string line = "[DOCA][DBG][DOCA_TASK";
    ASSERT_EQ(doca_log_backend_set_sdk_level(backends().sdk, DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
    const RunningEvent running;
    std::uint64_t value = 0;
    const auto use_all = [&] {
        doca_sync_event_task_get *get = nullptr, *more = nullptr;
        EXPECT_EQ(doca_sync_event_task_get_alloc_init(running.event, &value, {}, &get), DOCA_SUCCESS);
        for (int i = 0; i != 3; ++i)
            EXPECT_EQ(doca_sync_event_task_get_alloc_init(running.event, &value, {}, &more), DOCA_ERROR_NO_MEMORY);
        EXPECT_EQ(more, nullptr);
        doca_task_free(doca_sync_event_task_get_as_doca_task(get));
    };
    use_all();
    EXPECT_EQ(count(remark), 1u) << sdk_log();
    EXPECT_EQ(count(line), 1u) << sdk_log();
    use_all();
    EXPECT_EQ(count(remark), 1u) << sdk_log();
    ASSERT_EQ(doca_ctx_stop(running.ctx), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_start(running.ctx), DOCA_SUCCESS);
    use_all();
    EXPECT_EQ(count(remark), 2u) << "once for each start";
}

TEST(LogV3, AStopThatWaitsForAForgottenTaskIsLogged)
{
    (void)backends();
    ASSERT_EQ(doca_log_backend_set_sdk_level(backends().sdk, DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS);
    const RunningEvent event;
    std::uint64_t value = 0;
    doca_sync_event_task_get *get = nullptr;
    ASSERT_EQ(doca_sync_event_task_get_alloc_init(event.event, &value, {}, &get), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_stop(event.ctx), DOCA_ERROR_IN_PROGRESS);
    while (sdk_log().find("has freed the last of its 1 tasks") == std::string::npos) {
        EXPECT_EQ(doca_pe_progress(event.pe), 0);
        std::this_thread::yield();
    }
    doca_task_free(doca_sync_event_task_get_as_doca_task(get));
    EXPECT_EQ(doca_pe_progress(event.pe), 1);
    EXPECT_EQ(doca_test::state_of(event.ctx), DOCA_CTX_STATE_IDLE);
}

TEST(LogV3, ABackendBelongsToOneOfThem)
{
    EXPECT_EQ(doca_log_backend_set_sdk_level(backends().program, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_set_level_lower_limit(backends().sdk, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_set_level_lower_limit_strict(backends().sdk), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_set_level_lower_limit(backends().program, 71), DOCA_ERROR_INVALID_VALUE);
}

TEST(LogV3, WhatIsNoBackendOrLevelIsRefusedAndNamed)
{
    (void)backends();
    ASSERT_EQ(doca_log_backend_set_sdk_level(backends().sdk, DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
    const std::uint32_t lower = doca_log_level_get_global_lower_limit(), sdk = doca_log_level_get_global_sdk_limit();
    for (const std::uint32_t bad : {0u, 9u, 15u, 25u, 65u, 71u, 80u}) {
        EXPECT_EQ(doca_log_backend_set_sdk_level(backends().sdk, bad), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(doca_log_backend_set_level_lower_limit(backends().program, bad), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(doca_log_backend_set_level_upper_limit(backends().program, bad), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(doca_log_level_set_global_sdk_limit(bad), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(doca_log_level_set_global_lower_limit(bad), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(doca_log_level_set_global_upper_limit(bad), DOCA_ERROR_INVALID_VALUE) << bad;
    }
    EXPECT_NE(sdk_log().find("15 is no log level: those are 10 to 70 in steps of 10"), std::string::npos) << sdk_log();
    EXPECT_EQ(doca_log_level_get_global_lower_limit(), lower);
    EXPECT_EQ(doca_log_level_get_global_sdk_limit(), sdk);
    EXPECT_EQ(doca_log_backend_set_sdk_level(backends().program, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_INVALID_VALUE);
    EXPECT_NE(sdk_log().find("doca_log_backend_set_sdk_level: the backend takes messages of the program, and one of "
                             "the SDK is needed"),
              std::string::npos)
        << sdk_log();
    EXPECT_EQ(doca_log_backend_set_sdk_level(nullptr, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_INVALID_VALUE);
    EXPECT_NE(sdk_log().find("doca_log_backend_set_sdk_level: an argument is NULL"), std::string::npos) << sdk_log();
}

TEST(LogV3, LimitsFollowTheGlobalOnesUnlessTheyAreStrict)
{
    EXPECT_EQ(doca_log_level_get_global_upper_limit(), unsigned{DOCA_LOG_LEVEL_CRIT});
    ASSERT_EQ(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE), DOCA_SUCCESS);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_TRACE, 0, "a/b.c", 7, "f", "a trace"), DOCA_SUCCESS);
    EXPECT_NE(program_log().find("[DOCA][TRC][b.c:7][f] a trace"), std::string::npos) << program_log();
    ASSERT_EQ(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO), DOCA_SUCCESS);
    EXPECT_EQ(DOCA_LOG_DBG("too much"), DOCA_SUCCESS);
    EXPECT_EQ(program_log().find("too much"), std::string::npos);
    ASSERT_EQ(doca_log_backend_set_level_lower_limit_strict(backends().program), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_level_lower_limit(backends().program, DOCA_LOG_LEVEL_DEBUG),
              DOCA_ERROR_NOT_PERMITTED);
    EXPECT_NE(sdk_log().find("level 60: this limit of the log backend was fixed"), std::string::npos) << sdk_log();
    EXPECT_EQ(sdk_log().find("immutable"), std::string::npos) << "the word of 2.2";
}

} // namespace
