// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The context, its keys, its capabilities and their C functions. The functions of tasks are in crypt_tasks_api.cpp.
#include "aes_gcm.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "../../core/device/device.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "crypt_tasks.hpp"

OPENDOCA_LOG_SOURCE(DOCA_AES_GCM);

using opendoca::GcmDirection;
using opendoca::v3::call;

namespace {

/// Returns the bytes of a key, or 0 if there is no such type.
constexpr std::size_t size_of(doca_aes_gcm_key_type type) noexcept
{
    return type == DOCA_AES_GCM_KEY_128 ? 16 : type == DOCA_AES_GCM_KEY_256 ? 32 : 0;
}

/// Answers a capability query by @p body. Returns NOT_SUPPORTED if the device has no AES-GCM. Both directions have the
/// same capabilities.
template <typename Body>
doca_error_t query(const doca_devinfo *devinfo, const void *output, Body &&body) noexcept
{
    return call({devinfo, output}, [&] {
        const opendoca::Capabilities &can = devinfo->function->can;
        if (!can.aes_gcm)
            return DOCA_ERROR_NOT_SUPPORTED;
        body(can);
        return DOCA_SUCCESS;
    });
}

doca_error_t query_support(const doca_devinfo *devinfo) noexcept
{
    return query(devinfo, devinfo, [](const opendoca::Capabilities &) {});
}

doca_error_t query_key_type(const doca_devinfo *devinfo, doca_aes_gcm_key_type type) noexcept
{
    return size_of(type) == 0 ? DOCA_ERROR_INVALID_VALUE : query_support(devinfo);
}

doca_error_t query_iv_size(const doca_devinfo *devinfo, std::uint32_t *bytes) noexcept
{
    return query(devinfo, bytes, [&](const opendoca::Capabilities &) { *bytes = opendoca::gcm_max_iv_size; });
}

doca_error_t query_buffer_size(const doca_devinfo *devinfo, std::uint64_t *bytes) noexcept
{
    return query(devinfo, bytes, [&](const opendoca::Capabilities &can) { *bytes = can.aes_gcm_max_size; });
}

doca_error_t query_list_length(const doca_devinfo *devinfo, std::uint32_t *length) noexcept
{
    return query(devinfo, length, [&](const opendoca::Capabilities &can) { *length = can.aes_gcm_max_list_elements; });
}

} // namespace

doca_error_t doca_aes_gcm::on_start()
{
    const opendoca::Capabilities &can = dev()->function().can;
    crypts_ = std::make_unique<opendoca::CryptQueue>(
        completions(), dev()->device(),
        opendoca::CryptQueue::Limits{can.aes_gcm_max_list_elements, can.aes_gcm_max_size});
    if (encrypt.is_configured())
        encrypt.set_pool(std::make_unique<opendoca::v3::CryptTasks<doca_aes_gcm_task_encrypt, GcmDirection::encrypt>>(
            *this, encrypt.conf(), *crypts_));
    if (decrypt.is_configured())
        decrypt.set_pool(std::make_unique<opendoca::v3::CryptTasks<doca_aes_gcm_task_decrypt, GcmDirection::decrypt>>(
            *this, decrypt.conf(), *crypts_));
    request_progress_while_own(crypts_->is_waiting());
    return DOCA_SUCCESS;
}

doca_error_t doca_aes_gcm::on_stop() noexcept
{
    crypts_->flush();
    return DOCA_SUCCESS;
}

doca_error_t doca_aes_gcm::create_key(const void *raw_key, std::size_t size, doca_aes_gcm_key *&key)
{
    auto cipher = std::make_unique<opendoca::GcmKey>();
    if (const doca_error_t status = cipher->create(ciphers_, raw_key, size); status != DOCA_SUCCESS)
        return status;
    if (free_keys_.empty()) {
        if (keys_.size() == keys_.capacity())
            keys_.reserve(std::max<std::size_t>(2 * keys_.capacity(), 8));
        free_keys_.reserve(keys_.capacity()); // so that the destruction of a key cannot fail
        keys_.push_back(std::make_unique<doca_aes_gcm_key>(*this));
        free_keys_.push_back(keys_.back().get());
    }
    key = free_keys_.back();
    free_keys_.pop_back();
    key->cipher = std::move(cipher);
    return DOCA_SUCCESS;
}

doca_error_t doca_aes_gcm::destroy_key(doca_aes_gcm_key &key) noexcept
{
    if (key.cipher == nullptr) {
        LOG_ERR("key %p was destroyed before", static_cast<const void *>(&key));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (crypts_ != nullptr && crypts_->is_in_use(*key.cipher)) {
        LOG_ERR("a task in flight uses key %p", static_cast<const void *>(&key));
        return DOCA_ERROR_IN_USE;
    }
    key.cipher.reset();
    // First in, first out would detect the use of a destroyed key for longer, but the key used last is in the cache.
    free_keys_.push_back(&key);
    return DOCA_SUCCESS;
}

doca_error_t doca_aes_gcm::check_key(const doca_aes_gcm_key *key) const noexcept
{
    if (key != nullptr && &key->owner == this && key->cipher != nullptr) [[likely]]
        return DOCA_SUCCESS;
    LOG_ERR("key %p %s", static_cast<const void *>(key),
            key == nullptr        ? "is missing"
            : &key->owner != this ? "belongs to another AES-GCM object"
                                  : "was destroyed");
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm)
{
    return call({dev, aes_gcm}, [&] {
        if (!dev->function().can.aes_gcm) {
            LOG_ERR("device %s cannot do AES-GCM", dev->description().c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        opendoca::GcmCiphers ciphers;
        const doca_error_t status = ciphers.load();
        if (status == DOCA_SUCCESS)
            *aes_gcm = new doca_aes_gcm(*dev, std::move(ciphers));
        return status;
    });
}

doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm)
{
    return call({aes_gcm}, [&] {
        if (const doca_error_t status = aes_gcm->check_idle(DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
            return status;
        if (aes_gcm->num_keys() != 0) {
            LOG_ERR("the AES-GCM object has %zu keys that were not destroyed", aes_gcm->num_keys());
            return DOCA_ERROR_IN_USE;
        }
        delete aes_gcm;
        return DOCA_SUCCESS;
    });
}

struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm)
{
    return aes_gcm;
}

doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm, uint32_t *num_tasks)
{
    return call({aes_gcm, num_tasks}, [&] { *num_tasks = opendoca::v3::max_num_crypt_tasks; });
}

doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key,
                                     enum doca_aes_gcm_key_type raw_key_type, struct doca_aes_gcm_key **key)
{
    return call({aes_gcm, raw_key, key}, [&] {
        const std::size_t size = size_of(raw_key_type);
        if (size == 0) {
            LOG_ERR("%d is none of the types of doca_aes_gcm_key_type", static_cast<int>(raw_key_type));
            return DOCA_ERROR_INVALID_VALUE;
        }
        return aes_gcm->create_key(raw_key, size, *key);
    });
}

doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key)
{
    return call({key}, [&] { return key->owner.destroy_key(*key); });
}

doca_error_t doca_aes_gcm_cap_task_encrypt_is_supported(const struct doca_devinfo *devinfo)
{
    return query_support(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_len(const struct doca_devinfo *devinfo, uint32_t *max_iv_len)
{
    return query_iv_size(devinfo, max_iv_len);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(const struct doca_devinfo *devinfo)
{
    return query_support(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(const struct doca_devinfo *devinfo)
{
    return query_support(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
                                                                 enum doca_aes_gcm_key_type key_type)
{
    return query_key_type(devinfo, key_type);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                            uint64_t *max_buffer_size)
{
    return query_buffer_size(devinfo, max_buffer_size);
}

doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
                                                                     uint32_t *max_list_num_elem)
{
    return query_list_length(devinfo, max_list_num_elem);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_is_supported(const struct doca_devinfo *devinfo)
{
    return query_support(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_len(const struct doca_devinfo *devinfo, uint32_t *max_iv_len)
{
    return query_iv_size(devinfo, max_iv_len);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(const struct doca_devinfo *devinfo)
{
    return query_support(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(const struct doca_devinfo *devinfo)
{
    return query_support(devinfo);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
                                                                 enum doca_aes_gcm_key_type key_type)
{
    return query_key_type(devinfo, key_type);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                            uint64_t *max_buffer_size)
{
    return query_buffer_size(devinfo, max_buffer_size);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
                                                                     uint32_t *max_list_num_elem)
{
    return query_list_length(devinfo, max_list_num_elem);
}
