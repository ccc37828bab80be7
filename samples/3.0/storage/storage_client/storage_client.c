// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs on the host: stores a file on the targets of the server on the DPU, reads it back, also if some blocks were
// lost, and writes it to another file.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <doca_log.h>

#include "../storage_client_arguments.h"
#include "../storage_requests.h"

DOCA_LOG_REGISTER(STORAGE_CLIENT);

struct client {
    const struct client_config *config;
    struct session session;
    struct coder coder;
    struct memory file; /* at least a byte */
    size_t file_len;
    struct image image;
    uint32_t blocks[STORAGE_MAX_TARGETS];  /* 0, 1, 2 ...: all blocks */
    uint32_t targets[STORAGE_MAX_TARGETS]; /* which target stores each block */
    uint32_t lost[STORAGE_MAX_TARGETS];    /* the blocks that no target has any more */
    uint32_t num_lost;
};

static doca_error_t read_bytes(FILE *stream, struct client *client)
{
    struct stat status;
    doca_error_t result;

    if (fstat(fileno(stream), &status) != 0 || !S_ISREG(status.st_mode)) {
        DOCA_LOG_ERR("%s is no regular file", client->config->file);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if ((uint64_t)status.st_size > client->coder.max_len) {
        DOCA_LOG_ERR("%s has %llu bytes, and the device compresses at most %llu", client->config->file,
                     (unsigned long long)status.st_size, (unsigned long long)client->coder.max_len);
        return DOCA_ERROR_TOO_BIG;
    }
    client->file_len = (size_t)status.st_size;
    result = create_memory(client->session.control.dev, client->file_len > 0 ? client->file_len : 1,
                           DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &client->file);
    if (result != DOCA_SUCCESS)
        return result;
    if (fread(client->file.bytes, 1, client->file_len, stream) != client->file_len) {
        DOCA_LOG_ERR("Failed to read %zu bytes of %s", client->file_len, client->config->file);
        return DOCA_ERROR_IO_FAILED;
    }
    DOCA_LOG_INFO("Read %zu bytes of %s", client->file_len, client->config->file);
    return DOCA_SUCCESS;
}

static doca_error_t read_file(struct client *client)
{
    FILE *stream = fopen(client->config->file, "rb");
    doca_error_t result;

    if (stream == NULL) {
        DOCA_LOG_ERR("Failed to open %s: %s", client->config->file, strerror(errno));
        return DOCA_ERROR_IO_FAILED;
    }
    result = read_bytes(stream, client);
    fclose(stream);
    return result;
}

static const char *kind_of(const struct client *client, uint32_t block)
{
    return block < client->coder.num_data ? "data" : "redundancy";
}

/* The first target differs from file to file, so that all of them are used. */
static doca_error_t place_blocks(struct client *client)
{
    const uint32_t num_targets = client->session.num_targets;

    if (client->image.num_blocks > num_targets) {
        DOCA_LOG_ERR("%u blocks need as many targets, and the server has %u", client->image.num_blocks, num_targets);
        return DOCA_ERROR_TOO_BIG;
    }
    for (uint32_t i = 0; i < client->image.num_blocks; i++) {
        client->blocks[i] = i;
        client->targets[i] = (client->image.crc % num_targets + i) % num_targets;
    }
    return DOCA_SUCCESS;
}

/* What the server's target has answered to the last request for a block. */
static doca_error_t answer_of(const struct client *client, uint32_t block)
{
    return client->session.targets[client->targets[block]].status;
}

static doca_error_t store_blocks(struct client *client)
{
    const struct image *image = &client->image;
    doca_error_t result = place_blocks(client);

    if (result == DOCA_SUCCESS)
        result = open_store(&client->session, image);
    if (result == DOCA_SUCCESS)
        result = request_blocks(&client->session, STORAGE_STORE, client->targets, client->blocks, image->num_blocks);
    for (uint32_t i = 0; result == DOCA_SUCCESS && i < image->num_blocks; i++) {
        result = answer_of(client, i);
        if (result != DOCA_SUCCESS)
            DOCA_LOG_ERR("Target %u has not stored block %u: %s", client->targets[i], i, doca_error_get_descr(result));
        else
            DOCA_LOG_INFO("Target %u stores block %u (%s)", client->targets[i], i, kind_of(client, i));
    }
    return result;
}

static doca_error_t lose_blocks(struct client *client)
{
    const struct client_config *config = client->config;
    doca_error_t result =
        request_blocks(&client->session, STORAGE_LOSE, client->targets, config->lose, config->num_lose);

    for (uint32_t i = 0; result == DOCA_SUCCESS && i < config->num_lose; i++) {
        const uint32_t block = config->lose[i];

        result = answer_of(client, block);
        if (result != DOCA_SUCCESS)
            DOCA_LOG_ERR("Target %u has not lost block %u: %s", client->targets[block], block,
                         doca_error_get_descr(result));
        else
            DOCA_LOG_INFO("Target %u has been made to lose block %u", client->targets[block], block);
    }
    return result;
}

/* All that this side still has of the image is where its blocks are and their size. */
static doca_error_t load_blocks(struct client *client)
{
    const struct image *image = &client->image;
    doca_error_t result;

    memset(image->memory.bytes, 0, image->memory.size);
    result = request_blocks(&client->session, STORAGE_LOAD, client->targets, client->blocks, image->num_blocks);
    for (uint32_t i = 0; result == DOCA_SUCCESS && i < image->num_blocks; i++) {
        result = answer_of(client, i);
        if (result == DOCA_ERROR_NOT_FOUND) {
            DOCA_LOG_WARN("Block %u (%s) is lost", i, kind_of(client, i));
            client->lost[client->num_lost++] = i;
            result = DOCA_SUCCESS;
        } else if (result != DOCA_SUCCESS) {
            DOCA_LOG_ERR("Target %u has not loaded block %u: %s", client->targets[i], i, doca_error_get_descr(result));
        }
    }
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Loaded %u of %u blocks", image->num_blocks - client->num_lost, image->num_blocks);
    return result;
}

static doca_error_t recover_lost_blocks(struct client *client)
{
    doca_error_t result;

    if (client->num_lost == 0)
        return DOCA_SUCCESS;
    if (client->num_lost > client->coder.num_redundancy) {
        DOCA_LOG_ERR("%u blocks are lost, and at most %u can be recovered", client->num_lost,
                     client->coder.num_redundancy);
        return DOCA_ERROR_IO_FAILED;
    }
    result =
        recover_blocks(&client->coder, &client->image.memory, client->image.block_size, client->lost, client->num_lost);
    for (uint32_t i = 0; result == DOCA_SUCCESS && i < client->num_lost; i++)
        DOCA_LOG_INFO("Recovered block %u (%s)", client->lost[i], kind_of(client, client->lost[i]));
    return result;
}

static doca_error_t write_content(struct client *client)
{
    struct memory content = {0};
    size_t len = 0;
    doca_error_t result = read_image(client->session.control.dev, &client->coder, &client->image, &content, &len);

    if (result == DOCA_SUCCESS && (len != client->file_len || memcmp(content.bytes, client->file.bytes, len) != 0)) {
        DOCA_LOG_ERR("What was read back is not what was stored");
        result = DOCA_ERROR_UNEXPECTED;
    }
    if (result == DOCA_SUCCESS)
        result = save_file(client->config->out, content.bytes, len);
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Wrote %zu bytes to %s, the same as in %s", len, client->config->out, client->config->file);
    return first_error(result, destroy_memory(&content));
}

/* The session looks for the server while the file is read and compressed. */
static doca_error_t prepare(struct client *client)
{
    const struct client_config *config = client->config;
    struct control *control = &client->session.control;
    doca_error_t result = create_session(&config->comch, &client->session);

    if (result == DOCA_SUCCESS)
        result = check_engines(doca_dev_as_devinfo(control->dev));
    if (result == DOCA_SUCCESS)
        result = create_coder(control->dev, control->pe, config->num_data, config->num_redundancy, &client->coder);
    if (result == DOCA_SUCCESS)
        result = read_file(client);
    if (result == DOCA_SUCCESS)
        result = create_image(control->dev, &client->coder, &client->file, client->file_len, &client->image);
    if (result == DOCA_SUCCESS)
        result = wait_for_server(&client->session);
    return result;
}

static doca_error_t clean_up(struct client *client)
{
    doca_error_t result = destroy_coder(&client->coder);

    result = first_error(result, destroy_image(&client->image));
    result = first_error(result, destroy_memory(&client->file));
    return first_error(result, destroy_session(&client->session));
}

int main(int argc, char **argv)
{
    static struct client_config config;
    static struct client client = {.config = &config};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_client_arguments(argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = prepare(&client);
    if (result == DOCA_SUCCESS)
        result = store_blocks(&client);
    if (result == DOCA_SUCCESS)
        result = lose_blocks(&client);
    if (result == DOCA_SUCCESS)
        result = load_blocks(&client);
    if (result == DOCA_SUCCESS)
        result = recover_lost_blocks(&client);
    if (result == DOCA_SUCCESS)
        result = write_content(&client);
    return finish(first_error(result, clean_up(&client)));
}
