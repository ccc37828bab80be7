// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_aes_gcm.h
 * Authenticated encryption and decryption of buffers by AES-GCM (NIST SP 800-38D), with keys of 128 or 256 bits.
 *
 * An AES-GCM object is a context (doca_aes_gcm_as_ctx()) with tasks of two kinds, and is used as doca_ctx.h and
 * doca_pe.h describe. The keys belong to the object and are created beside it, before or after its start.
 *
 * Both kinds of tasks copy the additional authenticated data (AAD) to the destination:
 *
 *              source                      destination                 length of the destination
 *     encrypt  AAD, plaintext              AAD, ciphertext, tag        source + tag_size
 *     decrypt  AAD, ciphertext, tag        AAD, plaintext              source - tag_size
 *
 * AAD and text may have any length, 0 included: an encryption without plaintext gives the AAD and its tag, which is a
 * message authentication code (GMAC). A tag of 12 bytes is the beginning of the one of 16 bytes.
 *
 * Source and destination are buffers or lists, and each list counts as one sequence of bytes: its buffers may end
 * anywhere, also within the AAD, a block or the tag. The source is the data of its buffers. The result is written
 * behind the data of the destination's buffers, filling one after the other, and the data length of each buffer grows
 * by what was written to it. In place: the result may be written exactly over the source, by another buffer on the same
 * memory without data; of lists, each byte has to be at the same place of both. opendoca: any other overlap is refused,
 * but for one that exists only because memory was imported, which is not detected and gives a wrong result.
 *
 * Initialization vector (IV): 0 to 12 bytes, which must differ for each encryption with the same key. The task keeps
 * the pointer, and the bytes are read when the task is submitted. 12 bytes are used as they are. opendoca: a shorter IV
 * is hashed, as SP 800-38D prescribes for lengths other than 12, and an IV of 0 bytes stands for 12 zero bytes.
 *
 * The memory of source and destination may be imported from another process or the host (opendoca: on the software
 * device; on others it is refused: copy it by DMA first). The device must have been added to the memory maps of both.
 * The source needs the right to be read, the destination that to be written; the rights of a new memory map suffice.
 *
 * A task ends with
 * - DOCA_ERROR_INVALID_VALUE: a source that is shorter than the AAD, or than AAD and tag to be decrypted; a source,
 *   result or list beyond the limits; a tag_size other than 12 and 16; an IV of more than 12 bytes, or none where it
 *   has a length; a missing buffer or key; a key of another object or one that was destroyed; memory that the device
 *   does not know; an overlap. Nothing has changed.
 * - DOCA_ERROR_NOT_PERMITTED: a destination that may not be written, a source that may not be read, or an export of
 *   imported memory that has ended; opendoca: memory of a dmabuf, which the CPU cannot always access. Copy it by DMA
 *   first.
 * - DOCA_ERROR_IO_FAILED: the tag does not belong to AAD, ciphertext, key and IV; opendoca: or the result does not fit
 *   into the room behind the destination's data, or the exporter of imported memory has unmapped it. The destination's
 *   data lengths have not changed and no plaintext is left in its memory (opendoca: there are zeros in its place).
 * - DOCA_ERROR_CONNECTION_RESET: the process that exported the memory has ended.
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses access to imported memory (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory to access imported memory (opendoca).
 * - DOCA_ERROR_SHUTDOWN: flushed, because the context is stopping (opendoca).
 *
 * doca_task_submit() reports these by the task's error callback; doca_task_try_submit() returns
 * DOCA_ERROR_INVALID_VALUE for those that can be detected before. The context stays running in all cases.
 *
 * opendoca: a task in place that fails after it has begun has lost its source: a decryption leaves zeros, an encryption
 * of more than 256 KiB that is flushed leaves ciphertext in the first part.
 *
 * opendoca: OpenSSL 3 does the work on the CPU of the progress engine's thread: up to 256 KiB of text within
 * doca_task_submit(), the rest in slices of 256 KiB, one for each doca_pe_progress(), so that a long task does not keep
 * other contexts of the progress engine waiting. Tasks complete in the order of their submission, but for those that
 * are refused. A task that waits for another one begins with the data and the room that its buffers then have.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts, also for keys; capabilities of a device: any.
 */
#ifndef DOCA_AES_GCM_H_
#define DOCA_AES_GCM_H_

#include <inttypes.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** An AES-GCM object. */
struct doca_aes_gcm;

/** A key of an AES-GCM object. */
struct doca_aes_gcm_key;

/** A task that encrypts. */
struct doca_aes_gcm_task_encrypt;

/** A task that decrypts and checks the tag. */
struct doca_aes_gcm_task_decrypt;

/** The length of a key. */
enum doca_aes_gcm_key_type {
    DOCA_AES_GCM_KEY_128 = 1, /**< AES-128: 16 bytes. */
    DOCA_AES_GCM_KEY_256 = 2, /**< AES-256: 32 bytes. */
};

/**
 * Called when an encryption has ended.
 *
 * @param [in] task The task, which belongs to the program again.
 * @param [in] task_user_data The user data of the task.
 * @param [in] ctx_user_data The user data of the context.
 */
typedef void (*doca_aes_gcm_task_encrypt_completion_cb_t)(struct doca_aes_gcm_task_encrypt *task,
                                                          union doca_data task_user_data,
                                                          union doca_data ctx_user_data);

/**
 * Called when a decryption has ended.
 *
 * @param [in] task The task, which belongs to the program again.
 * @param [in] task_user_data The user data of the task.
 * @param [in] ctx_user_data The user data of the context.
 */
typedef void (*doca_aes_gcm_task_decrypt_completion_cb_t)(struct doca_aes_gcm_task_decrypt *task,
                                                          union doca_data task_user_data,
                                                          union doca_data ctx_user_data);

/**
 * Create an AES-GCM object. Its context is idle and connected to no progress engine.
 *
 * @param [in] dev The device; it must stay open until the object is destroyed.
 * @param [out] aes_gcm The object. Destroy it with doca_aes_gcm_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device supports no AES-GCM (opendoca: or OpenSSL, as it is configured here, does
 * not).
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm);

/**
 * Destroy an AES-GCM object and its context.
 *
 * State: context idle.
 *
 * @param [in] aes_gcm The object.
 * @return DOCA_SUCCESS, or, without any change,
 * - DOCA_ERROR_INVALID_VALUE: aes_gcm is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_IN_USE: it has keys that were not destroyed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm);

/**
 * The context of an AES-GCM object. State: any.
 *
 * @param [in] aes_gcm The object.
 * @return The context, always the same one, which lives as long as the object; or NULL when aes_gcm is NULL.
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm);

/**
 * How many tasks of each kind an object can have at most. State: any.
 *
 * @param [in] aes_gcm The object.
 * @param [out] max_num_tasks The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm,
                                                                  uint32_t *max_num_tasks);

/**
 * Create a key. It may serve any number of tasks of its object, of both kinds. State: any.
 *
 * @param [in] aes_gcm The object.
 * @param [in] raw_key 16 or 32 bytes, which are copied.
 * @param [in] raw_key_type How many.
 * @param [out] key The key. Destroy it with doca_aes_gcm_key_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or there is no such type.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support keys of this type.
 * - DOCA_ERROR_IO_FAILED: OpenSSL did not take the key (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key,
                                                       enum doca_aes_gcm_key_type raw_key_type,
                                                       struct doca_aes_gcm_key **key);

/**
 * Destroy a key, and overwrite it in memory. Tasks that name it may exist: they need another key before they are
 * submitted again. State: any.
 *
 * @param [in] key The key.
 * @return DOCA_SUCCESS, or, without any change,
 * - DOCA_ERROR_INVALID_VALUE: key is NULL, or (opendoca, as far as that can be detected) was destroyed before.
 * - DOCA_ERROR_IN_USE: opendoca: a task in flight uses it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key);

/**
 * Whether a device can encrypt.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_encrypt_is_supported(const struct doca_devinfo *devinfo);

/**
 * How long the IV of an encryption can be.
 *
 * @param [in] devinfo The device.
 * @param [out] max_iv_len Bytes: 12.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot encrypt.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_len(const struct doca_devinfo *devinfo,
                                                                            uint32_t *max_iv_len);

/**
 * Whether a device can encrypt with tags of 96 bits, 12 bytes.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

/**
 * Whether a device can encrypt with tags of 128 bits, 16 bytes.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

/**
 * Whether a device can encrypt with keys of a type.
 *
 * @param [in] devinfo The device.
 * @param [in] key_type The type.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL, or there is no such type.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_encrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
                                                                                   enum doca_aes_gcm_key_type key_type);

/**
 * How long the source and the result of an encryption can be, each with AAD and tag.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buffer_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot encrypt.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                              uint64_t *max_buffer_size);

/**
 * How many buffers the lists of source and destination can have, each.
 *
 * @param [in] devinfo The device.
 * @param [out] max_list_num_elem The number; 1 when lists are not supported.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot encrypt.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(
    const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Configure encryptions: the callbacks and the number. Needed before one can be allocated; a second call replaces the
 * first.
 *
 * State: context idle.
 *
 * @param [in] aes_gcm The object.
 * @param [in] task_completion_cb Called for one that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time: at most doca_aes_gcm_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is too large.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_task_encrypt_set_conf(
    struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_encrypt_completion_cb_t task_completion_cb,
    doca_aes_gcm_task_encrypt_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate an encryption. The data lengths of the buffers are not looked at before the task is submitted.
 *
 * State: context running.
 *
 * @param [in] aes_gcm The object.
 * @param [in] src_buff AAD and plaintext.
 * @param [in] dst_buff Where the result is written.
 * @param [in] key A key of the object.
 * @param [in] iv The IV, which is read when the task is submitted. May be NULL when iv_length is 0.
 * @param [in] iv_length Its bytes: 0 to 12.
 * @param [in] tag_size Bytes of the tag: 12 or 16.
 * @param [in] aad_size Bytes at the beginning of the source that are AAD.
 * @param [in] user_data The user data of the task.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or iv_length or tag_size is none of these; (opendoca) a key of another
 *   object, or one that was destroyed.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_task_encrypt_alloc_init(
    struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buff, struct doca_buf *dst_buff,
    struct doca_aes_gcm_key *key, const uint8_t *iv, uint32_t iv_length, uint32_t tag_size, uint32_t aad_size,
    union doca_data user_data, struct doca_aes_gcm_task_encrypt **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_aes_gcm_task_encrypt_as_task(struct doca_aes_gcm_task_encrypt *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buff AAD and plaintext.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_encrypt_set_src(struct doca_aes_gcm_task_encrypt *task,
                                                         const struct doca_buf *src_buff);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_aes_gcm_task_encrypt_get_src(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buff Where the result is written.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_encrypt_set_dst(struct doca_aes_gcm_task_encrypt *task,
                                                         struct doca_buf *dst_buff);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_aes_gcm_task_encrypt_get_dst(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Change the key.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] key A key of the task's object.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_encrypt_set_key(struct doca_aes_gcm_task_encrypt *task,
                                                         struct doca_aes_gcm_key *key);

/**
 * The key. State: any.
 *
 * @param [in] task The task.
 * @return The key, which may have been destroyed.
 */
DOCA_EXPERIMENTAL struct doca_aes_gcm_key *
doca_aes_gcm_task_encrypt_get_key(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Change the IV.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] iv The IV, which is read when the task is submitted. May be NULL when iv_length is 0.
 * @param [in] iv_length Its bytes: 0 to 12.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_encrypt_set_iv(struct doca_aes_gcm_task_encrypt *task, const uint8_t *iv,
                                                        uint32_t iv_length);

/**
 * The IV. State: any.
 *
 * @param [in] task The task.
 * @param [out] iv_length Its bytes.
 * @return The pointer that was set.
 */
DOCA_EXPERIMENTAL const uint8_t *doca_aes_gcm_task_encrypt_get_iv(const struct doca_aes_gcm_task_encrypt *task,
                                                                  uint32_t *iv_length);

/**
 * Change the length of the tag.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] tag_size Bytes: 12 or 16.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_encrypt_set_tag_size(struct doca_aes_gcm_task_encrypt *task,
                                                              uint32_t tag_size);

/**
 * The length of the tag. State: any.
 *
 * @param [in] task The task.
 * @return Bytes.
 */
DOCA_EXPERIMENTAL uint32_t doca_aes_gcm_task_encrypt_get_tag_size(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Change the length of the AAD.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] aad_size Bytes at the beginning of the source.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_encrypt_set_aad_size(struct doca_aes_gcm_task_encrypt *task,
                                                              uint32_t aad_size);

/**
 * The length of the AAD. State: any.
 *
 * @param [in] task The task.
 * @return Bytes.
 */
DOCA_EXPERIMENTAL uint32_t doca_aes_gcm_task_encrypt_get_aad_size(const struct doca_aes_gcm_task_encrypt *task);

/**
 * Whether a device can decrypt.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_decrypt_is_supported(const struct doca_devinfo *devinfo);

/**
 * How long the IV of a decryption can be.
 *
 * @param [in] devinfo The device.
 * @param [out] max_iv_len Bytes: 12.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot decrypt.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_len(const struct doca_devinfo *devinfo,
                                                                            uint32_t *max_iv_len);

/**
 * Whether a device can decrypt with tags of 96 bits, 12 bytes.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

/**
 * Whether a device can decrypt with tags of 128 bits, 16 bytes.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

/**
 * Whether a device can decrypt with keys of a type.
 *
 * @param [in] devinfo The device.
 * @param [in] key_type The type.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL, or there is no such type.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_decrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
                                                                                   enum doca_aes_gcm_key_type key_type);

/**
 * How long the source and the result of a decryption can be, each with AAD and tag.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buffer_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot decrypt.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                              uint64_t *max_buffer_size);

/**
 * How many buffers the lists of source and destination can have, each.
 *
 * @param [in] devinfo The device.
 * @param [out] max_list_num_elem The number; 1 when lists are not supported.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot decrypt.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(
    const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/**
 * Configure decryptions: the callbacks and the number. Needed before one can be allocated; a second call replaces the
 * first.
 *
 * State: context idle.
 *
 * @param [in] aes_gcm The object.
 * @param [in] task_completion_cb Called for one that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time: at most doca_aes_gcm_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is too large.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_task_decrypt_set_conf(
    struct doca_aes_gcm *aes_gcm, doca_aes_gcm_task_decrypt_completion_cb_t task_completion_cb,
    doca_aes_gcm_task_decrypt_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a decryption. The data lengths of the buffers are not looked at before the task is submitted.
 *
 * State: context running.
 *
 * @param [in] aes_gcm The object.
 * @param [in] src_buff AAD, ciphertext and tag.
 * @param [in] dst_buff Where the result is written.
 * @param [in] key A key of the object.
 * @param [in] iv The IV, which is read when the task is submitted. May be NULL when iv_length is 0.
 * @param [in] iv_length Its bytes: 0 to 12.
 * @param [in] tag_size Bytes of the tag: 12 or 16.
 * @param [in] aad_size Bytes at the beginning of the source that are AAD.
 * @param [in] user_data The user data of the task.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or iv_length or tag_size is none of these; (opendoca) a key of another
 *   object, or one that was destroyed.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_aes_gcm_task_decrypt_alloc_init(
    struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buff, struct doca_buf *dst_buff,
    struct doca_aes_gcm_key *key, const uint8_t *iv, uint32_t iv_length, uint32_t tag_size, uint32_t aad_size,
    union doca_data user_data, struct doca_aes_gcm_task_decrypt **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_aes_gcm_task_decrypt_as_task(struct doca_aes_gcm_task_decrypt *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buff AAD, ciphertext and tag.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_decrypt_set_src(struct doca_aes_gcm_task_decrypt *task,
                                                         const struct doca_buf *src_buff);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_aes_gcm_task_decrypt_get_src(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buff Where the result is written.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_decrypt_set_dst(struct doca_aes_gcm_task_decrypt *task,
                                                         struct doca_buf *dst_buff);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_aes_gcm_task_decrypt_get_dst(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Change the key.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] key A key of the task's object.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_decrypt_set_key(struct doca_aes_gcm_task_decrypt *task,
                                                         struct doca_aes_gcm_key *key);

/**
 * The key. State: any.
 *
 * @param [in] task The task.
 * @return The key, which may have been destroyed.
 */
DOCA_EXPERIMENTAL struct doca_aes_gcm_key *
doca_aes_gcm_task_decrypt_get_key(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Change the IV.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] iv The IV, which is read when the task is submitted. May be NULL when iv_length is 0.
 * @param [in] iv_length Its bytes: 0 to 12.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_decrypt_set_iv(struct doca_aes_gcm_task_decrypt *task, const uint8_t *iv,
                                                        uint32_t iv_length);

/**
 * The IV. State: any.
 *
 * @param [in] task The task.
 * @param [out] iv_length Its bytes.
 * @return The pointer that was set.
 */
DOCA_EXPERIMENTAL const uint8_t *doca_aes_gcm_task_decrypt_get_iv(const struct doca_aes_gcm_task_decrypt *task,
                                                                  uint32_t *iv_length);

/**
 * Change the length of the tag.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] tag_size Bytes: 12 or 16.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_decrypt_set_tag_size(struct doca_aes_gcm_task_decrypt *task,
                                                              uint32_t tag_size);

/**
 * The length of the tag. State: any.
 *
 * @param [in] task The task.
 * @return Bytes.
 */
DOCA_EXPERIMENTAL uint32_t doca_aes_gcm_task_decrypt_get_tag_size(const struct doca_aes_gcm_task_decrypt *task);

/**
 * Change the length of the AAD.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] aad_size Bytes at the beginning of the source.
 */
DOCA_EXPERIMENTAL void doca_aes_gcm_task_decrypt_set_aad_size(struct doca_aes_gcm_task_decrypt *task,
                                                              uint32_t aad_size);

/**
 * The length of the AAD. State: any.
 *
 * @param [in] task The task.
 * @return Bytes.
 */
DOCA_EXPERIMENTAL uint32_t doca_aes_gcm_task_decrypt_get_aad_size(const struct doca_aes_gcm_task_decrypt *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_AES_GCM_H_ */
