// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The conversation of the two sides about the pieces of a file. Each side checks what the other one says.
#include "dma_copy.h"

#include <inttypes.h>
#include <string.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(DMA_COPY::PIECES);

doca_error_t send_note(struct cc_end *end, enum note_kind kind, uint64_t value)
{
    const struct note note = {.kind = kind, .value = value};

    return cc_send(end, &note, sizeof(note));
}

doca_error_t receive_note(struct cc_end *end, struct note *note)
{
    char message[CC_MAX_MSG_SIZE];
    size_t len = sizeof(message);
    doca_error_t result;

    result = cc_receive(end, message, &len);
    if (result != DOCA_SUCCESS)
        return result;
    if (len != sizeof(*note)) {
        DOCA_LOG_ERR("A message of %zu bytes is none of this program's", len);
        return DOCA_ERROR_UNEXPECTED;
    }
    memcpy(note, message, sizeof(*note));
    if (note->kind == NOTE_FAILED) {
        DOCA_LOG_ERR("The other side has given up; its log tells why");
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

doca_error_t expect_note(struct cc_end *end, enum note_kind kind, uint64_t *value)
{
    struct note note;
    const doca_error_t result = receive_note(end, &note);

    if (result != DOCA_SUCCESS)
        return result;
    if (note.kind != (uint32_t)kind) {
        DOCA_LOG_ERR("The other side sends a message of kind %" PRIu32 " instead of %d", note.kind, (int)kind);
        return DOCA_ERROR_UNEXPECTED;
    }
    *value = note.value;
    return DOCA_SUCCESS;
}

/* The same, with a value that is known. */
static doca_error_t expect_index(struct cc_end *end, enum note_kind kind, uint64_t index)
{
    uint64_t value;
    const doca_error_t result = expect_note(end, kind, &value);

    if (result == DOCA_SUCCESS && value != index) {
        DOCA_LOG_ERR("The other side speaks of piece %" PRIu64 " instead of %" PRIu64, value, index);
        return DOCA_ERROR_UNEXPECTED;
    }
    return result;
}

static uint64_t num_pieces(const struct copy_file *file)
{
    return (file->size + PIECE_SIZE - 1) / PIECE_SIZE;
}

static size_t piece_len(const struct copy_file *file, uint64_t index)
{
    const uint64_t left = file->size - index * PIECE_SIZE;

    return left < PIECE_SIZE ? (size_t)left : PIECE_SIZE;
}

/* A line for each tenth of the file. */
static void show_progress(const struct copy_file *file, uint64_t index)
{
    const uint64_t total = num_pieces(file);

    if ((index + 1) * 10 / total != index * 10 / total)
        DOCA_LOG_INFO("%3" PRIu64 " %% of %" PRIu64 " bytes", (index + 1) * 100 / total, file->size);
}

static doca_error_t compare(const struct copy_file *file, uint64_t other)
{
    if (file->checksum == other) {
        DOCA_LOG_INFO("Copied %" PRIu64 " bytes; the checksums of both sides are %016" PRIx64, file->size, other);
        return DOCA_SUCCESS;
    }
    DOCA_LOG_ERR("The checksums of both sides, %016" PRIx64 " and %016" PRIx64 ", differ", file->checksum, other);
    return DOCA_ERROR_IO_FAILED;
}

doca_error_t send_pieces(struct cc_end *end, const struct copy_file *file, move_piece move, void *context)
{
    const uint64_t total = num_pieces(file);
    uint64_t other;
    doca_error_t result = DOCA_SUCCESS;

    for (uint64_t i = 0; i < total + NUM_SLOTS && result == DOCA_SUCCESS; i++) {
        if (i >= NUM_SLOTS && i - NUM_SLOTS < total) {
            result = expect_index(end, NOTE_DONE, i - NUM_SLOTS);
            if (result != DOCA_SUCCESS)
                return result;
            show_progress(file, i - NUM_SLOTS);
        }
        if (i >= total)
            continue;
        result = move(context, i, piece_len(file, i));
        if (result == DOCA_SUCCESS)
            result = send_note(end, NOTE_PIECE, i);
    }
    if (result == DOCA_SUCCESS)
        result = send_note(end, NOTE_CHECKSUM, file->checksum);
    if (result == DOCA_SUCCESS)
        result = expect_note(end, NOTE_RESULT, &other);
    return result == DOCA_SUCCESS ? compare(file, other) : result;
}

doca_error_t receive_pieces(struct cc_end *end, struct copy_file *file, move_piece move, void *context)
{
    const uint64_t total = num_pieces(file);
    uint64_t other;
    doca_error_t result = DOCA_SUCCESS;

    for (uint64_t i = 0; i < total && result == DOCA_SUCCESS; i++) {
        result = expect_index(end, NOTE_PIECE, i);
        if (result == DOCA_SUCCESS)
            result = move(context, i, piece_len(file, i));
        if (result == DOCA_SUCCESS)
            result = send_note(end, NOTE_DONE, i);
        if (result == DOCA_SUCCESS)
            show_progress(file, i);
    }
    if (result == DOCA_SUCCESS)
        result = expect_note(end, NOTE_CHECKSUM, &other);
    if (result == DOCA_SUCCESS)
        result = compare(file, other);
    /* The file has its name before the other side is told. */
    result = file_close(file, result);
    if (result == DOCA_SUCCESS)
        result = send_note(end, NOTE_RESULT, file->checksum);
    return result;
}
