// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>
#include <doca_log.h>

#include "wait.h"

DOCA_LOG_REGISTER(SAMPLES::COMMON);

doca_error_t begin_arguments(const char *program, void *config)
{
    const doca_error_t result = doca_argp_init(program, config);

    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be set up: %s", doca_get_error_string(result));
    return result;
}

doca_error_t add_argument(const struct argument *argument)
{
    struct doca_argp_param *param;
    const doca_error_t result = doca_argp_param_create(&param);

    if (result != DOCA_SUCCESS)
        return result;
    if (argument->short_name != NULL)
        doca_argp_param_set_short_name(param, argument->short_name);
    doca_argp_param_set_long_name(param, argument->long_name);
    if (argument->value != NULL)
        doca_argp_param_set_arguments(param, argument->value);
    doca_argp_param_set_description(param, argument->description);
    doca_argp_param_set_callback(param, argument->callback);
    doca_argp_param_set_type(param, argument->type);
    if (argument->is_mandatory)
        doca_argp_param_set_mandatory(param);
    return doca_argp_register_param(param);
}

doca_error_t read_arguments(doca_error_t added, int argc, char **argv)
{
    doca_error_t result = added;

    if (result == DOCA_SUCCESS)
        result = add_busy_argument();
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_get_error_string(result));
    (void)doca_argp_destroy();
    return result;
}

doca_error_t set_string(const char *what, const char *value, char *field, size_t size)
{
    const size_t len = strlen(value);

    if (len == 0 || len >= size) {
        DOCA_LOG_ERR("The %s has %zu bytes, and 1 to %zu are possible", what, len, size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)strlcpy(field, value, size);
    return DOCA_SUCCESS;
}

static uint32_t abilities_of(struct doca_devinfo *devinfo, const struct device_ability *abilities, size_t num_abilities)
{
    uint32_t found = 0;

    for (size_t i = 0; i < num_abilities; i++) {
        if (abilities[i].has(devinfo))
            found |= 1U << i;
    }
    return found;
}

/* The names of the abilities in the mask, with commas between them. */
static void describe(const struct device_ability *abilities, size_t num_abilities, uint32_t mask, char *text,
                     size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < num_abilities; i++) {
        if ((mask & (1U << i)) == 0)
            continue;
        if (text[0] != '\0')
            strlcat(text, ", ", size);
        strlcat(text, abilities[i].name, size);
    }
}

static void list_devices(struct doca_devinfo **devices, uint32_t num_devices, const struct device_ability *abilities,
                         size_t num_abilities)
{
    DOCA_LOG_ERR("This program can see %u device%s%s", num_devices, num_devices == 1 ? "" : "s",
                 num_devices == 0 ? "" : ":");
    for (uint32_t i = 0; i < num_devices; i++) {
        const uint32_t found = abilities_of(devices[i], abilities, num_abilities);
        char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE] = "no PCI";
        char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE] = "?";
        char iface[DOCA_DEVINFO_IFACE_NAME_SIZE] = "?";
        char can[256];

        (void)doca_devinfo_get_pci_addr_str(devices[i], pci_addr);
        (void)doca_devinfo_get_ibdev_name(devices[i], ibdev, sizeof(ibdev));
        (void)doca_devinfo_get_iface_name(devices[i], iface, sizeof(iface));
        describe(abilities, num_abilities, found, can, sizeof(can));
        DOCA_LOG_ERR("  %-12s  %-12s %-8s can %s", pci_addr, ibdev, iface, can[0] == '\0' ? "do nothing here" : can);
    }
}

/* By its PCI address, or by its name among RDMA devices: not every one is on a PCI bus. */
static bool is_at(const struct doca_devinfo *devinfo, const char *place)
{
    char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE] = "";
    uint8_t is_equal = 0;

    if (strchr(place, ':') != NULL)
        return doca_devinfo_get_is_pci_addr_equal(devinfo, place, &is_equal) == DOCA_SUCCESS && is_equal != 0;
    return doca_devinfo_get_ibdev_name(devinfo, ibdev, sizeof(ibdev)) == DOCA_SUCCESS && strcmp(ibdev, place) == 0;
}

/* The first device at the address that has the abilities, or NULL; is_there tells whether any device is
 * there. */
static struct doca_devinfo *find_device(struct doca_devinfo **devices, uint32_t num_devices, const char *pci_addr,
                                        const struct device_ability *abilities, size_t num_abilities, uint32_t needed,
                                        bool *is_there)
{
    *is_there = false;
    for (uint32_t i = 0; i < num_devices; i++) {
        if (!is_at(devices[i], pci_addr))
            continue;
        *is_there = true;
        if ((abilities_of(devices[i], abilities, num_abilities) & needed) == needed)
            return devices[i];
    }
    return NULL;
}

doca_error_t open_device(const char *pci_addr, const struct device_ability *abilities, size_t num_abilities,
                         uint32_t needed, struct doca_dev **dev)
{
    struct doca_devinfo **devices = NULL;
    struct doca_devinfo *devinfo;
    uint32_t num_devices = 0;
    bool is_there;
    doca_error_t result;

    result = doca_devinfo_list_create(&devices, &num_devices);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The devices cannot be listed: %s", doca_get_error_string(result));
        return result;
    }
    devinfo = find_device(devices, num_devices, pci_addr, abilities, num_abilities, needed, &is_there);
    if (devinfo != NULL) {
        result = doca_dev_open(devinfo, dev);
        if (result != DOCA_SUCCESS)
            DOCA_LOG_ERR("The device %s cannot be opened: %s", pci_addr, doca_get_error_string(result));
    } else if (!is_there) {
        DOCA_LOG_ERR("No device has the PCI address '%s', or this name; choose another one with -p", pci_addr);
        result = DOCA_ERROR_NOT_FOUND;
    } else {
        char wanted[256];

        describe(abilities, num_abilities, needed, wanted, sizeof(wanted));
        DOCA_LOG_ERR("No device at %s can do all that is needed: %s; choose another one with -p", pci_addr, wanted);
        result = DOCA_ERROR_NOT_SUPPORTED;
    }
    if (devinfo == NULL)
        list_devices(devices, num_devices, abilities, num_abilities);
    (void)doca_devinfo_list_destroy(devices);
    return result;
}

doca_error_t open_first_device(bool (*can_run)(struct doca_devinfo *devinfo, int job_type), int job_type,
                               const char *purpose, struct doca_dev **dev)
{
    struct doca_devinfo **devices = NULL;
    uint32_t num_devices = 0;
    doca_error_t result;

    result = doca_devinfo_list_create(&devices, &num_devices);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The devices cannot be listed: %s", doca_get_error_string(result));
        return result;
    }
    result = DOCA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < num_devices && result != DOCA_SUCCESS; i++) {
        if (can_run(devices[i], job_type))
            result = doca_dev_open(devices[i], dev);
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("None of the %u devices here can be used for %s: %s", num_devices, purpose,
                     doca_get_error_string(result));
    (void)doca_devinfo_list_destroy(devices);
    return result;
}

doca_error_t start_ctx(struct doca_ctx *ctx, struct doca_dev *dev, struct doca_workq *workq, struct ctx_setup *setup)
{
    doca_error_t result;

    *setup = (struct ctx_setup){.ctx = ctx, .dev = dev, .workq = workq};
    result = doca_ctx_dev_add(ctx, dev);
    if (result != DOCA_SUCCESS)
        return result;
    setup->has_device = true;
    result = doca_ctx_start(ctx);
    if (result != DOCA_SUCCESS)
        return result;
    setup->is_started = true;
    result = doca_ctx_workq_add(ctx, workq);
    setup->has_workq = result == DOCA_SUCCESS;
    return result;
}

doca_error_t stop_ctx(struct ctx_setup *setup)
{
    doca_error_t result = DOCA_SUCCESS;

    if (setup->has_workq)
        result = first_error(result, doca_ctx_workq_rm(setup->ctx, setup->workq));
    if (setup->is_started)
        result = first_error(result, doca_ctx_stop(setup->ctx));
    if (setup->has_device)
        result = first_error(result, doca_ctx_dev_rm(setup->ctx, setup->dev));
    return result;
}

doca_error_t map_memory(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions, struct doca_mmap **mmap)
{
    struct doca_mmap *map = NULL;
    doca_error_t result;

    result = doca_mmap_create(NULL, &map);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_dev_add(map, dev);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_set_permissions(map, permissions);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_set_memrange(map, addr, len);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_start(map);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("No memory map of %zu bytes at %p: %s", len, addr, doca_get_error_string(result));
        if (map != NULL)
            (void)doca_mmap_destroy(map);
        return result;
    }
    *mmap = map;
    return DOCA_SUCCESS;
}

static bool write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        const ssize_t written = write(fd, data, len);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        data += written;
        len -= (size_t)written;
    }
    return true;
}

doca_error_t save_file(const char *path, const void *data, size_t len)
{
    char part[4096];
    bool is_saved;
    int fd;

    if ((size_t)snprintf(part, sizeof(part), "%s.%d.part", path, (int)getpid()) >= sizeof(part)) {
        DOCA_LOG_ERR("The path '%s' is too long", path);
        return DOCA_ERROR_INVALID_VALUE;
    }
    fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) {
        DOCA_LOG_ERR("Cannot create '%s': %s", part, strerror(errno));
        return DOCA_ERROR_IO_FAILED;
    }
    is_saved = write_all(fd, data, len);
    if (close(fd) != 0)
        is_saved = false;
    if (!is_saved || rename(part, path) != 0) {
        DOCA_LOG_ERR("Cannot write '%s': %s", path, strerror(errno));
        (void)unlink(part);
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

doca_error_t save_new_file(const char *path, const void *data, size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool is_saved;

    if (fd < 0 && errno == EEXIST) {
        DOCA_LOG_ERR("'%s' exists already; remove it, or choose another path", path);
        return DOCA_ERROR_ALREADY_EXIST;
    }
    if (fd < 0) {
        DOCA_LOG_ERR("Cannot create '%s': %s", path, strerror(errno));
        return DOCA_ERROR_IO_FAILED;
    }
    is_saved = write_all(fd, data, len);
    if (close(fd) != 0)
        is_saved = false;
    if (!is_saved) {
        DOCA_LOG_ERR("Cannot write '%s': %s", path, strerror(errno));
        (void)unlink(path);
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

static doca_error_t read_all(int fd, const char *path, char *data, size_t max_len, size_t *len)
{
    struct stat status;
    size_t total = 0;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        DOCA_LOG_ERR("'%s' is not a regular file", path);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (status.st_size < 1 || (uintmax_t)status.st_size > max_len) {
        DOCA_LOG_ERR("'%s' has %jd bytes, and 1 to %zu are expected", path, (intmax_t)status.st_size, max_len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    while (total < (size_t)status.st_size) {
        const ssize_t got = read(fd, data + total, (size_t)status.st_size - total);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            DOCA_LOG_ERR("Cannot read '%s': %s", path, got < 0 ? strerror(errno) : "it has become shorter");
            return DOCA_ERROR_IO_FAILED;
        }
        total += (size_t)got;
    }
    *len = total;
    return DOCA_SUCCESS;
}

doca_error_t load_file(const char *path, void *data, size_t max_len, size_t *len)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not hang on a FIFO */
    doca_error_t result;

    if (fd < 0) {
        DOCA_LOG_ERR("Cannot open '%s': %s", path, strerror(errno));
        return errno == ENOENT ? DOCA_ERROR_NOT_FOUND : DOCA_ERROR_IO_FAILED;
    }
    result = read_all(fd, path, data, max_len, len);
    (void)close(fd);
    return result;
}

void make_printable(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = '.';
    }
}
