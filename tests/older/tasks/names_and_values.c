// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Versions, values and functions that only answer, as each level has them.
#include <doca_argp.h>
#include <doca_buf_array.h>
#include <doca_log.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>
#include <doca_version.h>

#include "engine.h"

DOCA_LOG_REGISTER(NAMES);

struct versioned {
    DOCA_STRUCT_START;
    int number;
};

static char log_text[4096], sdk_text[4096];

static void flush(char *text)
{
    (void)text;
}

static void check_version(void)
{
    struct versioned object = {DOCA_STRUCT_CTOR_LIST_START};
#if DOCA_API == 20500
    CHECK(strcmp(DOCA_VER_STRING, "2.5.0108") == 0 && DOCA_VER_MAJOR == 2 && DOCA_VER_MINOR == 5);
    CHECK(DOCA_VER_PATCH == 108 && DOCA_CURRENT_VERSION_NUM == DOCA_VERSION_NUM(2, 5, 108));
    CHECK(sizeof(object) == 8 && DOCA_STRUCT_GET_VERSION(&object) == (uint32_t)DOCA_CURRENT_VERSION_NUM);
    CHECK(strcmp(doca_version(), DOCA_VER_STRING) == 0);
    CHECK(DOCA_VERSION_EQ_CURRENT(2, 5, 108) && DOCA_VERSION_LTE_CURRENT(2, 2, 80));
#else
    CHECK(DOCA_VERSION_MAJOR == 2 && DOCA_VERSION_MINOR == DOCA_API / 100 % 100 && DOCA_VERSION_PATCH < 100);
    CHECK(strncmp(DOCA_VERSION_STRING, "2.", 2) == 0 && strcmp(doca_version(), DOCA_VERSION_STRING) == 0);
    CHECK(sizeof(object) == 16 && DOCA_STRUCT_GET_VERSION(&object) == DOCA_VERSION_EXACT);
    CHECK(DOCA_VERSION_LTE_CURRENT(2, 5, 0) && !DOCA_VERSION_LTE_CURRENT(2, 9, 0));
    CHECK(DOCA_VERSION_OFFICIAL > 0);
#endif
    CHECK(strncmp(doca_version_runtime(), "3.", 2) == 0);
    (void)object.number;
}

static void check_log(void)
{
    struct doca_log_backend *backend;
#if DOCA_API == 20500
    WORKS(doca_log_backend_create_with_buffer(log_text, sizeof(log_text), flush, &backend));
    WORKS(doca_log_backend_create_with_buffer_sdk(sdk_text, sizeof(sdk_text), flush, &backend));
#else
    WORKS(doca_log_backend_create_with_buf(log_text, sizeof(log_text), flush, &backend));
    WORKS(doca_log_backend_create_with_buf_sdk(sdk_text, sizeof(sdk_text), flush, &backend));
#endif
#if DOCA_API < 20700
    WORKS(DOCA_LOG(WARNING, "number %d", 5));
#else
    WORKS(DOCA_LOG(DOCA_LOG_LEVEL_WARNING, "number %d", 5));
#endif
    DOCA_LOG_CRIT("a");
    DOCA_LOG_ERR("b");
    DOCA_LOG_WARN("c");
    DOCA_LOG_DBG("d");
    DOCA_LOG_TRC("e");
    CHECK(strstr(log_text, "number 5") != NULL);
}

static void check_argp(void)
{
    char program[] = "program", flag[] = "--grpc-address", value[] = "1.2.3.4:5";
    char *arguments[] = {program, flag, value, NULL};
    const char *address = NULL;
    GIVES(doca_argp_get_grpc_addr(&address), DOCA_ERROR_BAD_STATE);
    WORKS(doca_argp_init("program", NULL));
    doca_argp_set_grpc_program();
    WORKS(doca_argp_start(3, arguments));
    WORKS(doca_argp_get_grpc_addr(&address));
    CHECK(strcmp(address, value) == 0);
    GIVES(doca_argp_get_grpc_addr(NULL), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_argp_destroy());
}

static void check_array(struct doca_mmap *mmap)
{
    struct doca_buf_arr *array;
#if DOCA_API < 20700
    struct doca_dpa_dev_buf_arr *handle;
    GIVES(doca_buf_arr_create(NULL, &array), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_buf_arr_create(mmap, &array));
    GIVES(doca_buf_arr_set_params(array, 0, 8, 0), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_buf_arr_set_params(array, 64, 8, 0));
#else
    doca_dpa_dev_buf_arr_t handle;
    WORKS(doca_buf_arr_create(8, &array));
    WORKS(doca_buf_arr_set_params(array, mmap, 64, 0));
#endif
    GIVES(doca_buf_arr_get_dpa_handle(array, &handle), DOCA_ERROR_BAD_STATE);
    WORKS(doca_buf_arr_destroy(array));
}

static void check_rate(const struct doca_devinfo *devinfo)
{
#if DOCA_API == 20600
    double rate = 0;
    WORKS(doca_devinfo_get_active_rate(devinfo, &rate));
    CHECK(rate == 100e9);
#else
    (void)devinfo;
#endif
}

static void check_srq(struct doca_dev *dev)
{
#if DOCA_API == 20600
    struct doca_rdma_srq *srq = NULL;
    enum doca_rdma_srq_type type = DOCA_RDMA_SRQ_TYPE_CYCLIC;
    uint32_t size = 0;
    GIVES(doca_rdma_srq_create(dev, &srq), DOCA_ERROR_NOT_SUPPORTED);
    GIVES(doca_rdma_srq_cap_get_max_shared_recv_queue_size(doca_dev_as_devinfo(dev), &size), DOCA_ERROR_NOT_SUPPORTED);
    GIVES(doca_rdma_srq_set_type(srq, type), DOCA_ERROR_INVALID_VALUE);
    CHECK(doca_rdma_srq_as_ctx(srq) == NULL && DOCA_RDMA_SRQ_TYPE_LINKED_LIST == 0 && type == 1);
#else
    (void)dev;
#endif
}

int main(void)
{
    struct doca_dev *dev = open_device(NULL, NULL);
    struct memory memory;
    check_version();
    check_log();
    check_argp();
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    check_array(memory.mmap);
    drop_memory(&memory);
    check_rate(doca_dev_as_devinfo(dev));
    check_srq(dev);
    WORKS(doca_dev_close(dev));
    return 0;
}
