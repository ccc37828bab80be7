# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""How programs of each generation of the API use the headers: material of check_headers.py."""
import pathlib
from typing import NamedTuple

import facts

LOG_PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "unit" / "headers"


class Uses(NamedTuple):
    """The uses of one generation."""
    number_of_headers: int
    log_program: pathlib.Path  # a file that logs in every way there is
    log_switch: str            # turns on the log macros that are off unless asked for
    log_calls: list            # each way to log, whose argument must fit its format
    sources: list              # names that DOCA_LOG_REGISTER() takes
    reach: list                # (header, what programs use with this header alone)
    experimental_call: str     # an expression that only programs that accept experimental functions may use
    older_releases: tuple = ()  # values of DOCA_API
    of_levels: frozenset = frozenset()  # headers that only these have


V2 = Uses(
    number_of_headers=25,
    log_program=LOG_PROGRAMS / "log_register.inc",
    log_switch="-DDOCA_LOGGING_ALLOW_DLOG",
    log_calls=[
        'DOCA_LOG(INFO, "%s", {})', 'DOCA_LOG_ERR("%s", {})', 'DOCA_LOG_RATE_LIMIT_WARN("%s", {})',
        'DOCA_DLOG_DBG("%s", {})', 'doca_log(30, 0, 1, "%s", {})',
    ],
    sources=["MY_PROGRAM", "MY_PROGRAM::Core", "A::B::C", '"LITERAL"', "A B-C"],
    reach=[
        ("doca_log.h", 'char text[8]; uint32_t n = 1; bool yes = true; size_t size = strlen(strcpy(text, "x"));'
                       "FILE *file = stdout; (void)n; (void)yes; (void)size;"
                       'return snprintf(text, sizeof(text), "x") + (file == NULL);'),
        ("doca_argp.h", "char text[8]; bool yes = true; memset(text, yes, sizeof(text));"
                        "return doca_get_error_string(DOCA_SUCCESS) == 0;"),
        ("doca_error.h", "char text[8]; return (int)strlen((char *)memset(text, 0, sizeof(text)));"),
        ("doca_ctx.h", "return (int)doca_dev_close(0) + (doca_get_error_string(DOCA_SUCCESS) == 0);"),
        ("doca_comm_channel.h", "char pci[DOCA_DEVINFO_PCI_ADDR_SIZE]; (void)pci;"
                                "return (int)doca_dev_close(0) + (doca_get_error_string(DOCA_SUCCESS) == 0);"),
        ("doca_dev.h", "return doca_get_error_string(DOCA_ERROR_AGAIN) == 0;"),
        ("doca_mmap.h", "doca_error_t status = doca_dev_close(0); (void)doca_get_error_string(status);"
                        "return DOCA_ACCESS_DPU_READ_WRITE;"),
        ("doca_buf_inventory.h", "return (int)doca_mmap_start(0) + (int)doca_buf_refcount_rm(0, 0);"),
        ("doca_dma.h", "struct doca_event event; struct doca_mmap *mmap = 0; doca_be32_t word = 0;"
                       "doca_error_t status = doca_workq_submit(0, 0); (void)event; (void)mmap; (void)word;"
                       "(void)doca_get_error_string(status);"
                       "(void)doca_buf_refcount_rm(0, 0); (void)doca_dev_close(0);"
                       "return DOCA_JOB_FLAGS_NONE + DOCA_WORKQ_RETRIEVE_FLAGS_NONE;"),
        ("doca_rdma.h", "struct doca_event event; (void)event; (void)doca_workq_submit(0, 0);"
                        "return DOCA_JOB_FLAGS_NONE;"),
        ("doca_types.h", "union doca_data data; data.u64 = 0; return data.ptr == 0 && (doca_be32_t)1;"),
        ("doca_sync_event.h", "char pci[DOCA_DEVINFO_PCI_ADDR_SIZE]; (void)pci; return (int)doca_dev_close(0);"),
        ("doca_version.h", "size_t number = DOCA_CURRENT_VERSION_NUM; (void)number;"
                           "return doca_version() == doca_version_runtime();"),
        ("doca_compat.h", "return DOCA_VERSION_EQ_CURRENT(2, 2, 80) && doca_version_runtime() == 0;"),
    ],
    experimental_call="doca_get_error_name(DOCA_SUCCESS) == 0",
    older_releases=(10300, 10400, 10500, 20002),
)

V3 = Uses(
    number_of_headers=39,
    log_program=LOG_PROGRAMS / "log_register_v3.inc",
    log_switch="-DDOCA_LOGGING_ALLOW_TRACE",
    log_calls=[
        'DOCA_LOG(DOCA_LOG_LEVEL_INFO, "%s", {})', 'DOCA_LOG_ERR("%s", {})', 'DOCA_LOG_TRC("%s", {})',
        'doca_log(30, 0, "file", 1, "function", "%s", {})',
    ],
    sources=["MY_PROGRAM", "MY_PROGRAM::Core", "A::B::C", '"LITERAL"', "A B-C"],
    reach=[
        ("doca_log.h", 'char text[8]; uint32_t n = 1; size_t size = strlen(strcpy(text, "x"));'
                       "FILE *file = stdout; (void)n; (void)size;"
                       'return snprintf(text, sizeof(text), "x") + (file == NULL);'),
        ("doca_argp.h", "char text[8]; memset(text, 0, sizeof(text)); (void)DOCA_LOG_LEVEL_INFO;"
                        "return doca_error_get_descr(DOCA_SUCCESS) == 0;"),
        ("doca_error.h", "char text[8]; assert(text != NULL); free(NULL);"
                         "return (int)strlen((char *)memset(text, 0, sizeof(text)));"),
        ("doca_ctx.h", "union doca_data data; data.u64 = 0; (void)data;"
                       "return doca_ctx_start(0) == DOCA_ERROR_IN_PROGRESS;"),
        ("doca_pe.h", "doca_notification_handle_t handle = doca_event_invalid_handle; (void)handle;"
                      "return doca_pe_progress(0) + (int)doca_task_submit_ex(0, DOCA_TASK_SUBMIT_FLAG_FLUSH);"),
        ("doca_dma.h", 'union doca_data data; (void)sizeof(PRIu64); data.ptr = 0;'
                       "return (int)doca_dma_task_memcpy_alloc_init(0, 0, 0, data, 0);"),
        ("doca_types.h", "union doca_data data; data.u64 = 0; return data.ptr == 0 && (doca_be32_t)1;"),
        # The sample of the clock takes the size of a PCI address from there.
        ("doca_clock.h", "char pci[DOCA_DEVINFO_PCI_ADDR_SIZE]; struct timespec now; (void)pci; (void)now;"
                         "return (int)sizeof(union doca_clock_timespec_t);"),
        ("doca_bitfield.h",
         "uint8_t flags = 0; DOCA_U8P_SET(DOCA_U8_GENMASK(6, 4), 5, &flags);"
         "doca_be32_t word = DOCA_BE32_SET(DOCA_BE32_GENMASK(23, 8), 0x1234);"
         "enum { ok = 1 / (DOCA_U8_GENMASK(6, 4) == 0x70 && DOCA_BE16_GENMASK(11, 4) == DOCA_HTOBE16(0x0ff0)"
         " && DOCA_BE32_GET(DOCA_BE32_GENMASK(23, 8), DOCA_HTOBE32(0x00123400)) == 0x1234"
         " && DOCA_BE16_SET(DOCA_BE16_GENMASK(11, 4), 0xfab) == DOCA_HTOBE16(0x0ab0)) };"
         "return ok + (flags == 0x50) + (word == DOCA_HTOBE32(0x00123400));"),
        ("doca_version.h", "size_t number = DOCA_VERSION_EXACT; (void)number;"
                           "enum { ok = 1 / (DOCA_VERSION_CALC(3, 2, 2) == DOCA_VERSION_CALC_EXACT(3, 2, 2000)) };"
                           "return ok + (doca_version() == doca_version_runtime());"),
        ("doca_compat.h", "struct versioned { DOCA_STRUCT_START; };"
                          "DOCA_STRUCT_DEF(versioned, one); DOCA_STRUCT_MEMSET_CTOR(one);"
                          "return DOCA_STRUCT_GET_VERSION(&one) == DOCA_VERSION_EXACT;"),
    ],
    experimental_call="doca_version_runtime() == 0",
    older_releases=(20500, 20600, 20700, 20800),
    of_levels=frozenset(facts.OF_LEVELS),
)

BY_NUMBER = {"2": V2, "3": V3}
