// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doca_log.h>

#include "checksum.h"

DOCA_LOG_REGISTER(DMA_COPY::FILE);

doca_error_t file_open(struct copy_file *file, const char *path)
{
    struct stat status;

    *file = (struct copy_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file->fd < 0) {
        DOCA_LOG_ERR("Cannot open '%s': %s", path, strerror(errno));
        return errno == ENOENT ? DOCA_ERROR_NOT_FOUND : DOCA_ERROR_IO_FAILED;
    }
    if (fstat(file->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        DOCA_LOG_ERR("'%s' is not a regular file", path);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if ((uintmax_t)status.st_size > MAX_FILE_SIZE) {
        DOCA_LOG_ERR("'%s' has %jd bytes, and at most %" PRIu64 " can be copied", path, (intmax_t)status.st_size,
                     MAX_FILE_SIZE);
        return DOCA_ERROR_INVALID_VALUE;
    }
    file->size = (uint64_t)status.st_size;
    return DOCA_SUCCESS;
}

doca_error_t file_create(struct copy_file *file, const char *path, uint64_t size)
{
    *file = (struct copy_file){.path = path, .fd = -1, .size = size};
    if (size > MAX_FILE_SIZE) {
        DOCA_LOG_ERR("A file of %" PRIu64 " bytes, and at most %" PRIu64 " can be copied", size, MAX_FILE_SIZE);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)snprintf(file->part, sizeof(file->part), "%s.%d.part", path, (int)getpid());
    file->fd = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file->fd < 0) {
        DOCA_LOG_ERR("Cannot create '%s': %s", file->part, strerror(errno));
        return DOCA_ERROR_IO_FAILED;
    }
    file->is_written = true;
    return DOCA_SUCCESS;
}

doca_error_t file_move(struct copy_file *file, void *data, size_t len)
{
    char *at = data;

    for (size_t left = len; left > 0;) {
        const ssize_t moved = file->is_written ? write(file->fd, at, left) : read(file->fd, at, left);

        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0) {
            DOCA_LOG_ERR("Cannot %s '%s': %s", file->is_written ? "write" : "read", file->path,
                         moved < 0 ? strerror(errno) : "it has become shorter");
            return DOCA_ERROR_IO_FAILED;
        }
        at += moved;
        left -= (size_t)moved;
    }
    file->checksum = checksum(file->checksum, data, len);
    return DOCA_SUCCESS;
}

doca_error_t file_close(struct copy_file *file, doca_error_t result)
{
    if (file->fd >= 0 && close(file->fd) != 0 && result == DOCA_SUCCESS) {
        DOCA_LOG_ERR("Cannot write '%s': %s", file->path, strerror(errno));
        result = DOCA_ERROR_IO_FAILED;
    }
    file->fd = -1;
    if (!file->is_written)
        return result;
    if (result == DOCA_SUCCESS && rename(file->part, file->path) != 0) {
        DOCA_LOG_ERR("Cannot write '%s': %s", file->path, strerror(errno));
        result = DOCA_ERROR_IO_FAILED;
    }
    if (result != DOCA_SUCCESS)
        (void)unlink(file->part);
    file->is_written = false; /* there is nothing left to do */
    return result;
}
