// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of AES-GCM tasks. A task may be changed only while the program owns it: between its allocation or
// completion and its submit.
#include <cstdint>

#include "../../core/v3/call.hpp"
#include "aes_gcm.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;
using opendoca::v3::max_num_crypt_tasks;

namespace {

/// Takes a task from its pool and fills it in. The buffers are checked by the submit, as they may change until then.
template <typename Type, typename Task>
doca_error_t alloc(doca_aes_gcm &aes_gcm, Type &type, const opendoca::CryptRequest &request, doca_aes_gcm_key &key,
                   doca_data user_data, Task *&task) noexcept
{
    if (const doca_error_t status = opendoca::check_parameters(request.iv, request.iv_size, request.tag_size);
        status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = aes_gcm.check_key(&key); status != DOCA_SUCCESS)
        return status;
    Task *taken = nullptr;
    const doca_error_t status = type.alloc(user_data, taken);
    if (status == DOCA_SUCCESS) {
        taken->request = request;
        taken->key = &key;
        task = taken;
    }
    return status;
}

/// Implements the functions that return the IV and its length.
const std::uint8_t *iv_of(const opendoca::v3::CryptTask *task, std::uint32_t *iv_length) noexcept
{
    if (task == nullptr || iv_length == nullptr) {
        opendoca::report_null("");
        return nullptr;
    }
    *iv_length = task->request.iv_size;
    return task->request.iv;
}

} // namespace

doca_error_t doca_aes_gcm_task_encrypt_set_conf(struct doca_aes_gcm *aes_gcm,
                                                doca_aes_gcm_task_encrypt_completion_cb_t task_completion_cb,
                                                doca_aes_gcm_task_encrypt_completion_cb_t task_error_cb,
                                                uint32_t num_tasks)
{
    return call({aes_gcm}, [&] {
        return aes_gcm->encrypt.configure(task_completion_cb, task_error_cb, num_tasks, max_num_crypt_tasks,
                                          DOCA_ERROR_BAD_STATE);
    });
}

doca_error_t doca_aes_gcm_task_encrypt_alloc_init(struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buff,
                                                  struct doca_buf *dst_buff, struct doca_aes_gcm_key *key,
                                                  const uint8_t *iv, uint32_t iv_length, uint32_t tag_size,
                                                  uint32_t aad_size, union doca_data user_data,
                                                  struct doca_aes_gcm_task_encrypt **task)
{
    return call({aes_gcm, src_buff, dst_buff, key, task}, [&] {
        const opendoca::CryptRequest request = {.source = src_buff,
                                                .destination = dst_buff,
                                                .key = nullptr,
                                                .iv = iv,
                                                .iv_size = iv_length,
                                                .tag_size = tag_size,
                                                .aad_size = aad_size,
                                                .direction = opendoca::GcmDirection::encrypt,
                                                .iv_at_submit = {},
                                                .plan = {}};
        return alloc(*aes_gcm, aes_gcm->encrypt, request, *key, user_data, *task);
    });
}

struct doca_task *doca_aes_gcm_task_encrypt_as_task(struct doca_aes_gcm_task_encrypt *task)
{
    return task;
}

void doca_aes_gcm_task_encrypt_set_src(struct doca_aes_gcm_task_encrypt *task, const struct doca_buf *src_buff)
{
    apply_to(task, [&] { task->request.source = src_buff; });
}

const struct doca_buf *doca_aes_gcm_task_encrypt_get_src(const struct doca_aes_gcm_task_encrypt *task)
{
    return read_from(task, [&] { return task->request.source; });
}

void doca_aes_gcm_task_encrypt_set_dst(struct doca_aes_gcm_task_encrypt *task, struct doca_buf *dst_buff)
{
    apply_to(task, [&] { task->request.destination = dst_buff; });
}

struct doca_buf *doca_aes_gcm_task_encrypt_get_dst(const struct doca_aes_gcm_task_encrypt *task)
{
    return read_from(task, [&] { return task->request.destination; });
}

void doca_aes_gcm_task_encrypt_set_key(struct doca_aes_gcm_task_encrypt *task, struct doca_aes_gcm_key *key)
{
    apply_to(task, [&] { task->key = key; });
}

struct doca_aes_gcm_key *doca_aes_gcm_task_encrypt_get_key(const struct doca_aes_gcm_task_encrypt *task)
{
    return read_from(task, [&] { return task->key; });
}

void doca_aes_gcm_task_encrypt_set_iv(struct doca_aes_gcm_task_encrypt *task, const uint8_t *iv, uint32_t iv_length)
{
    apply_to(task, [&] {
        task->request.iv = iv;
        task->request.iv_size = iv_length;
    });
}

const uint8_t *doca_aes_gcm_task_encrypt_get_iv(const struct doca_aes_gcm_task_encrypt *task, uint32_t *iv_length)
{
    return iv_of(task, iv_length);
}

void doca_aes_gcm_task_encrypt_set_tag_size(struct doca_aes_gcm_task_encrypt *task, uint32_t tag_size)
{
    apply_to(task, [&] { task->request.tag_size = tag_size; });
}

uint32_t doca_aes_gcm_task_encrypt_get_tag_size(const struct doca_aes_gcm_task_encrypt *task)
{
    return read_from(task, [&] { return task->request.tag_size; });
}

void doca_aes_gcm_task_encrypt_set_aad_size(struct doca_aes_gcm_task_encrypt *task, uint32_t aad_size)
{
    apply_to(task, [&] { task->request.aad_size = aad_size; });
}

uint32_t doca_aes_gcm_task_encrypt_get_aad_size(const struct doca_aes_gcm_task_encrypt *task)
{
    return read_from(task, [&] { return task->request.aad_size; });
}

doca_error_t doca_aes_gcm_task_decrypt_set_conf(struct doca_aes_gcm *aes_gcm,
                                                doca_aes_gcm_task_decrypt_completion_cb_t task_completion_cb,
                                                doca_aes_gcm_task_decrypt_completion_cb_t task_error_cb,
                                                uint32_t num_tasks)
{
    return call({aes_gcm}, [&] {
        return aes_gcm->decrypt.configure(task_completion_cb, task_error_cb, num_tasks, max_num_crypt_tasks,
                                          DOCA_ERROR_BAD_STATE);
    });
}

doca_error_t doca_aes_gcm_task_decrypt_alloc_init(struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buff,
                                                  struct doca_buf *dst_buff, struct doca_aes_gcm_key *key,
                                                  const uint8_t *iv, uint32_t iv_length, uint32_t tag_size,
                                                  uint32_t aad_size, union doca_data user_data,
                                                  struct doca_aes_gcm_task_decrypt **task)
{
    return call({aes_gcm, src_buff, dst_buff, key, task}, [&] {
        const opendoca::CryptRequest request = {.source = src_buff,
                                                .destination = dst_buff,
                                                .key = nullptr,
                                                .iv = iv,
                                                .iv_size = iv_length,
                                                .tag_size = tag_size,
                                                .aad_size = aad_size,
                                                .direction = opendoca::GcmDirection::decrypt,
                                                .iv_at_submit = {},
                                                .plan = {}};
        return alloc(*aes_gcm, aes_gcm->decrypt, request, *key, user_data, *task);
    });
}

struct doca_task *doca_aes_gcm_task_decrypt_as_task(struct doca_aes_gcm_task_decrypt *task)
{
    return task;
}

void doca_aes_gcm_task_decrypt_set_src(struct doca_aes_gcm_task_decrypt *task, const struct doca_buf *src_buff)
{
    apply_to(task, [&] { task->request.source = src_buff; });
}

const struct doca_buf *doca_aes_gcm_task_decrypt_get_src(const struct doca_aes_gcm_task_decrypt *task)
{
    return read_from(task, [&] { return task->request.source; });
}

void doca_aes_gcm_task_decrypt_set_dst(struct doca_aes_gcm_task_decrypt *task, struct doca_buf *dst_buff)
{
    apply_to(task, [&] { task->request.destination = dst_buff; });
}

struct doca_buf *doca_aes_gcm_task_decrypt_get_dst(const struct doca_aes_gcm_task_decrypt *task)
{
    return read_from(task, [&] { return task->request.destination; });
}

void doca_aes_gcm_task_decrypt_set_key(struct doca_aes_gcm_task_decrypt *task, struct doca_aes_gcm_key *key)
{
    apply_to(task, [&] { task->key = key; });
}

struct doca_aes_gcm_key *doca_aes_gcm_task_decrypt_get_key(const struct doca_aes_gcm_task_decrypt *task)
{
    return read_from(task, [&] { return task->key; });
}

void doca_aes_gcm_task_decrypt_set_iv(struct doca_aes_gcm_task_decrypt *task, const uint8_t *iv, uint32_t iv_length)
{
    apply_to(task, [&] {
        task->request.iv = iv;
        task->request.iv_size = iv_length;
    });
}

const uint8_t *doca_aes_gcm_task_decrypt_get_iv(const struct doca_aes_gcm_task_decrypt *task, uint32_t *iv_length)
{
    return iv_of(task, iv_length);
}

void doca_aes_gcm_task_decrypt_set_tag_size(struct doca_aes_gcm_task_decrypt *task, uint32_t tag_size)
{
    apply_to(task, [&] { task->request.tag_size = tag_size; });
}

uint32_t doca_aes_gcm_task_decrypt_get_tag_size(const struct doca_aes_gcm_task_decrypt *task)
{
    return read_from(task, [&] { return task->request.tag_size; });
}

void doca_aes_gcm_task_decrypt_set_aad_size(struct doca_aes_gcm_task_decrypt *task, uint32_t aad_size)
{
    apply_to(task, [&] { task->request.aad_size = aad_size; });
}

uint32_t doca_aes_gcm_task_decrypt_get_aad_size(const struct doca_aes_gcm_task_decrypt *task)
{
    return read_from(task, [&] { return task->request.aad_size; });
}
