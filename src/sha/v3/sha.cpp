// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The context of DOCA 3.0, its capabilities and its C functions. The functions of tasks are in sha_tasks_api.cpp.
#include "sha.hpp"

#include <cstdint>

#include "../../core/device/device.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "hash_tasks.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SHA);

using opendoca::ShaKind;
using opendoca::v3::call;
using opendoca::v3::kind_of;

namespace {

constexpr std::uint32_t log_max_num_tasks = 16; ///< the C functions take logarithms to base 2

/// Answers a capability query by @p body. Returns NOT_SUPPORTED if the device cannot hash.
template <typename Body>
doca_error_t query(const doca_devinfo *devinfo, const void *output, Body &&body) noexcept
{
    return call({devinfo, output}, [&] {
        const opendoca::Capabilities &can = devinfo->function->can;
        if (!can.sha_software)
            return DOCA_ERROR_NOT_SUPPORTED;
        body(can);
        return DOCA_SUCCESS;
    });
}

/// The same for a query about an algorithm; INVALID_VALUE if there is none of this number.
template <typename Body>
doca_error_t query_algorithm(const doca_devinfo *devinfo, doca_sha_algorithm algorithm, const void *output,
                             Body &&body) noexcept
{
    ShaKind kind{};
    if (!kind_of(algorithm, kind))
        return DOCA_ERROR_INVALID_VALUE;
    return query(devinfo, output, [&](const opendoca::Capabilities &) { body(facts_of(kind)); });
}

/// Implements the set_conf functions, which take the logarithm of the number of tasks.
template <typename Type, typename Callback>
doca_error_t configure(Type &type, Callback succeeded, Callback failed, std::uint8_t log_num_tasks) noexcept
{
    if (log_num_tasks > log_max_num_tasks) {
        LOG_ERR("2^%u tasks are more than 2^%u", log_num_tasks, log_max_num_tasks);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return type.configure(succeeded, failed, 1U << log_num_tasks, 1U << log_max_num_tasks, DOCA_ERROR_BAD_STATE);
}

} // namespace

doca_error_t doca_sha::on_start()
{
    const opendoca::Capabilities &can = dev()->function().can;
    hashes_ = std::make_unique<opendoca::HashQueue>(
        completions(), dev()->device(), opendoca::HashQueue::Limits{can.sha_max_list_elements, can.sha_max_size});
    if (hash.is_configured())
        hash.set_pool(std::make_unique<opendoca::v3::HashTasks>(*this, hash.conf(), *hashes_));
    if (partial_hash.is_configured())
        partial_hash.set_pool(std::make_unique<opendoca::v3::PartialHashTasks>(*this, partial_hash.conf(), *hashes_));
    return DOCA_SUCCESS;
}

doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha)
{
    return call({dev, sha}, [&] {
        if (!dev->function().can.sha_software) {
            LOG_ERR("device %s cannot do SHA", dev->description().c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *sha = new doca_sha(*dev);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_sha_destroy(struct doca_sha *sha)
{
    return call({sha}, [&] {
        const doca_error_t status = sha->check_idle(DOCA_ERROR_IN_USE);
        if (status == DOCA_SUCCESS)
            delete sha;
        return status;
    });
}

struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha)
{
    return sha;
}

doca_error_t doca_sha_cap_task_hash_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm)
{
    return query_algorithm(devinfo, algorithm, devinfo, [](const opendoca::ShaFacts &) {});
}

doca_error_t doca_sha_cap_task_partial_hash_get_supported(const struct doca_devinfo *devinfo,
                                                          enum doca_sha_algorithm algorithm)
{
    // Every algorithm can be computed in pieces.
    return doca_sha_cap_task_hash_get_supported(devinfo, algorithm);
}

doca_error_t doca_sha_cap_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_buf_num_elem)
{
    return query(devinfo, max_list_buf_num_elem,
                 [&](const opendoca::Capabilities &can) { *max_list_buf_num_elem = can.sha_max_list_elements; });
}

doca_error_t doca_sha_cap_get_max_src_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_src_buf_size)
{
    return query(devinfo, max_src_buf_size,
                 [&](const opendoca::Capabilities &can) { *max_src_buf_size = can.sha_max_size; });
}

doca_error_t doca_sha_cap_get_min_dst_buf_size(const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm,
                                               uint32_t *min_dst_buf_size)
{
    return query_algorithm(devinfo, algorithm, min_dst_buf_size,
                           [&](const opendoca::ShaFacts &facts) { *min_dst_buf_size = facts.digest_size; });
}

doca_error_t doca_sha_cap_get_partial_hash_block_size(const struct doca_devinfo *devinfo,
                                                      enum doca_sha_algorithm algorithm, uint32_t *partial_block_size)
{
    return query_algorithm(devinfo, algorithm, partial_block_size,
                           [&](const opendoca::ShaFacts &facts) { *partial_block_size = facts.block_size; });
}

doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha, uint32_t *max_num_tasks)
{
    return call({sha, max_num_tasks}, [&] { *max_num_tasks = 1U << log_max_num_tasks; });
}

doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha, doca_sha_task_hash_completion_cb_t task_completion_cb,
                                         doca_sha_task_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks)
{
    return call({sha}, [&] { return configure(sha->hash, task_completion_cb, task_error_cb, log_num_tasks); });
}

doca_error_t doca_sha_task_partial_hash_set_conf(struct doca_sha *sha,
                                                 doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
                                                 doca_sha_task_partial_hash_completion_cb_t task_error_cb,
                                                 uint8_t log_num_tasks)
{
    return call({sha}, [&] { return configure(sha->partial_hash, task_completion_cb, task_error_cb, log_num_tasks); });
}
