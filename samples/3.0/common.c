// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "common.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(SAMPLE_COMMON);

#define MAX_ENGINES 4

static int is_busy; /* --busy: of the whole program */

doca_error_t start_logs(void)
{
    struct doca_log_backend *of_libraries = NULL;
    doca_error_t result = doca_log_backend_create_standard();

    if (result == DOCA_SUCCESS)
        result = doca_log_backend_create_with_file_sdk(stderr, &of_libraries);
    if (result == DOCA_SUCCESS)
        result = doca_log_backend_set_sdk_level(of_libraries, DOCA_LOG_LEVEL_WARNING);
    return result;
}

doca_error_t first_error(doca_error_t earlier, doca_error_t later)
{
    return earlier != DOCA_SUCCESS ? earlier : later;
}

doca_error_t add_argument(const char *short_name, const char *long_name, const char *description,
                          enum doca_argp_type type, doca_argp_param_cb_t callback)
{
    struct doca_argp_param *param = NULL;
    doca_error_t result = doca_argp_param_create(&param);

    if (result != DOCA_SUCCESS)
        return result;
    if (short_name != NULL)
        doca_argp_param_set_short_name(param, short_name);
    doca_argp_param_set_long_name(param, long_name);
    doca_argp_param_set_description(param, description);
    doca_argp_param_set_callback(param, callback);
    doca_argp_param_set_type(param, type);
    return doca_argp_register_param(param);
}

static doca_error_t set_busy(void *param, void *config)
{
    (void)config;
    is_busy = *(uint8_t *)param;
    return DOCA_SUCCESS;
}

static doca_error_t start_and_end_argp(doca_error_t added, int argc, char **argv)
{
    if (added == DOCA_SUCCESS)
        added = doca_argp_start(argc, argv);
    if (added != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_error_get_descr(added));
    return first_error(added, doca_argp_destroy());
}

doca_error_t read_arguments(doca_error_t added, int argc, char **argv)
{
    if (added == DOCA_SUCCESS)
        added = add_argument(NULL, "busy", "Wait without sleeping: sooner there, with a whole processor",
                             DOCA_ARGP_TYPE_BOOLEAN, set_busy);
    return start_and_end_argp(added, argc, argv);
}

doca_error_t read_no_arguments(const char *program, int is_waiting, int argc, char **argv)
{
    const doca_error_t result = doca_argp_init(program, NULL);

    if (result != DOCA_SUCCESS)
        return result;
    return is_waiting ? read_arguments(result, argc, argv) : start_and_end_argp(result, argc, argv);
}

doca_error_t set_text(char *field, size_t size, const char *what, const char *value)
{
    const size_t len = strnlen(value, size);

    if (len == 0 || len == size) {
        DOCA_LOG_ERR("The %s has to have 1 to %zu characters", what, size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    memcpy(field, value, len + 1);
    return DOCA_SUCCESS;
}

static int is_called(const struct doca_devinfo *devinfo, const char *name)
{
    char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE] = "";
    uint8_t is_equal = 0;

    if (*name == '\0')
        return 1;
    if (doca_devinfo_get_ibdev_name(devinfo, ibdev, sizeof(ibdev)) == DOCA_SUCCESS && strcmp(ibdev, name) == 0)
        return 1;
    return doca_devinfo_is_equal_pci_addr(devinfo, name, &is_equal) == DOCA_SUCCESS && is_equal != 0;
}

doca_error_t open_device(const char *name, suits_fn suits, struct doca_dev **dev)
{
    struct doca_devinfo **list = NULL;
    uint32_t count = 0;
    doca_error_t result = doca_devinfo_create_list(&list, &count);

    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to list devices: %s", doca_error_get_descr(result));
        return result;
    }
    result = DOCA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
        if (is_called(list[i], name) && suits(list[i]))
            result = doca_dev_open(list[i], dev);
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("No device at %s that suits: %s", *name != '\0' ? name : "any address",
                     doca_error_get_descr(result));
    return first_error(result, doca_devinfo_destroy_list(list));
}

doca_error_t map_memory(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions, struct doca_mmap **mmap)
{
    doca_error_t result = doca_mmap_create(mmap);

    if (result != DOCA_SUCCESS)
        return result;
    result = doca_mmap_set_permissions(*mmap, permissions);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_add_dev(*mmap, dev);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_set_memrange(*mmap, addr, len);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_start(*mmap);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to map %zu bytes: %s", len, doca_error_get_descr(result));
        (void)doca_mmap_destroy(*mmap);
        *mmap = NULL;
    }
    return result;
}

/* What happens after the request, and before the wait, ends the wait: nothing is missed. */
static doca_error_t sleep_until_work(struct doca_pe *const *engines, size_t num_engines)
{
    struct pollfd entries[MAX_ENGINES];
    doca_error_t result = DOCA_SUCCESS;

    if (num_engines > MAX_ENGINES)
        return DOCA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < num_engines; i++) {
        entries[i] = (struct pollfd){.fd = -1, .events = POLLIN}; /* poll() leaves it out */
        if (engines[i] == NULL)
            continue;
        result = first_error(result, doca_pe_get_notification_handle(engines[i], &entries[i].fd));
        result = first_error(result, doca_pe_request_notification(engines[i]));
    }
    if (result == DOCA_SUCCESS && poll(entries, num_engines, -1) < 0 && errno != EINTR)
        result = DOCA_ERROR_OPERATING_SYSTEM;
    for (size_t i = 0; i < num_engines; i++) {
        if (engines[i] != NULL)
            result = first_error(result, doca_pe_clear_notification(engines[i], entries[i].fd));
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to wait: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t progress_all(struct doca_pe *const *engines, size_t num_engines)
{
    uint8_t has_progressed = 0;

    for (size_t i = 0; i < num_engines; i++) {
        if (engines[i] != NULL)
            has_progressed |= doca_pe_progress(engines[i]);
    }
    return has_progressed || is_busy ? DOCA_SUCCESS : sleep_until_work(engines, num_engines);
}

doca_error_t progress(struct doca_pe *pe)
{
    return progress_all(&pe, 1);
}

const char *state_name(enum doca_ctx_states state)
{
    static const char *const names[] = {"idle", "starting", "running", "stopping"};

    return names[state];
}

doca_error_t stop_ctx(struct doca_ctx *ctx, struct doca_pe *pe, struct doca_pe *other)
{
    struct doca_pe *const engines[] = {pe, other};
    enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
    doca_error_t result;

    (void)doca_ctx_stop(ctx);
    for (;;) {
        result = doca_ctx_get_state(ctx, &state);
        if (result != DOCA_SUCCESS || state == DOCA_CTX_STATE_IDLE)
            return result;
        result = progress_all(engines, 2);
        if (result != DOCA_SUCCESS)
            return result;
    }
}

doca_error_t wait_for_enter(const char *request)
{
    int character;

    DOCA_LOG_INFO("%s, and press Enter", request);
    do {
        character = getchar();
    } while (character != '\n' && character != EOF);
    return character == '\n' ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

doca_error_t save_file(const char *path, const void *data, size_t len)
{
    char part[MAX_PATH_SIZE + 8];
    FILE *file;
    size_t written;

    snprintf(part, sizeof(part), "%s.part", path);
    file = fopen(part, "wb");
    if (file == NULL) {
        DOCA_LOG_ERR("Failed to write %s", part);
        return DOCA_ERROR_IO_FAILED;
    }
    written = fwrite(data, 1, len, file);
    if (fclose(file) != 0 || written != len || rename(part, path) != 0) {
        DOCA_LOG_ERR("Failed to write %s", path);
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

doca_error_t load_file(const char *path, void *data, size_t max_len, size_t *len)
{
    FILE *file = fopen(path, "rb");
    int is_whole;

    if (file == NULL) {
        DOCA_LOG_ERR("Failed to read %s", path);
        return DOCA_ERROR_IO_FAILED;
    }
    *len = fread(data, 1, max_len, file);
    is_whole = ferror(file) == 0 && fgetc(file) == EOF;
    fclose(file);
    if (!is_whole || *len == 0) {
        DOCA_LOG_ERR("%s is empty, or longer than %zu bytes", path, max_len);
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

int finish(doca_error_t result)
{
    DOCA_LOG_INFO("Sample finished %s", result == DOCA_SUCCESS ? "successfully" : "with errors");
    return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
