// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "storage_image.h"

#include <string.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(STORAGE_IMAGE);

struct image_header {
    uint64_t len;        /* of the content */
    uint64_t stream_len; /* of the compressed content; 0 if the content is empty, as no device compresses nothing */
    uint32_t crc;        /* CRC-32 of the content */
    uint32_t unused;
};

/* What random bytes grow to, with room to spare. */
static size_t max_stream_len(size_t len)
{
    return len + len / 256 + 64;
}

static size_t block_size_of(const struct coder *coder, size_t stream_len)
{
    const size_t unit = (size_t)coder->num_data * BLOCK_UNIT;

    return (sizeof(struct image_header) + stream_len + unit - 1) / unit * BLOCK_UNIT;
}

static doca_error_t compress_content(struct coder *coder, const struct memory *file, size_t len, struct image *image)
{
    struct image_header header = {.len = len};
    const size_t begin = sizeof(header);
    size_t stream_len = 0;
    doca_error_t result = DOCA_SUCCESS;

    if (len > 0)
        result = compress_range(coder, range_of(file, 0, len), range_of(&image->memory, begin, max_stream_len(len)),
                                &stream_len, &header.crc);
    if (result != DOCA_SUCCESS)
        return result;
    header.stream_len = stream_len;
    memcpy(image->memory.bytes, &header, sizeof(header));
    image->block_size = block_size_of(coder, stream_len);
    image->crc = header.crc;
    DOCA_LOG_INFO("Compressed %zu bytes to %zu, CRC-32 %08x", len, stream_len, header.crc);
    return DOCA_SUCCESS;
}

doca_error_t create_image(struct doca_dev *dev, struct coder *coder, const struct memory *file, size_t len,
                          struct image *image)
{
    doca_error_t result;

    image->num_blocks = coder->num_data + coder->num_redundancy;
    result = create_memory(dev, image->num_blocks * block_size_of(coder, max_stream_len(len)),
                           DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &image->memory);
    if (result == DOCA_SUCCESS)
        result = compress_content(coder, file, len, image);
    if (result != DOCA_SUCCESS)
        return result;
    if (image->block_size > coder->max_block_size) {
        DOCA_LOG_ERR("Blocks of %zu bytes are too large for the device: at most %llu", image->block_size,
                     (unsigned long long)coder->max_block_size);
        return DOCA_ERROR_TOO_BIG;
    }
    result = create_redundancy(coder, &image->memory, image->block_size);
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Made %u data blocks and %u redundancy blocks of %zu bytes", coder->num_data,
                      coder->num_redundancy, image->block_size);
    return result;
}

doca_error_t destroy_image(struct image *image)
{
    return destroy_memory(&image->memory);
}

/* The server stores the header and could have changed it. */
static doca_error_t check_header(const struct coder *coder, const struct image *image,
                                 const struct image_header *header)
{
    const size_t room = coder->num_data * image->block_size - sizeof(*header);

    if (header->len > coder->max_len || header->stream_len > room || (header->len == 0) != (header->stream_len == 0)) {
        DOCA_LOG_ERR("The image is damaged: %llu bytes in a stream of %llu, in blocks with room for %zu",
                     (unsigned long long)header->len, (unsigned long long)header->stream_len, room);
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

doca_error_t read_image(struct doca_dev *dev, struct coder *coder, const struct image *image, struct memory *content,
                        size_t *len)
{
    struct image_header header;
    uint32_t crc = 0;
    doca_error_t result;

    memcpy(&header, image->memory.bytes, sizeof(header));
    *len = 0;
    result = check_header(coder, image, &header);
    if (result == DOCA_SUCCESS)
        result = create_memory(dev, header.len > 0 ? header.len : 1, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, content);
    if (result == DOCA_SUCCESS && header.len > 0)
        result = decompress_range(coder, range_of(&image->memory, sizeof(header), header.stream_len),
                                  range_of(content, 0, header.len), len, &crc);
    if (result != DOCA_SUCCESS)
        return result;
    if (*len != header.len || crc != header.crc) {
        DOCA_LOG_ERR("The content is damaged: %zu bytes with CRC-32 %08x, and %llu with %08x were stored", *len, crc,
                     (unsigned long long)header.len, header.crc);
        return DOCA_ERROR_IO_FAILED;
    }
    DOCA_LOG_INFO("Decompressed %llu bytes to %zu, and the CRC-32 is right", (unsigned long long)header.stream_len,
                  *len);
    return DOCA_SUCCESS;
}
