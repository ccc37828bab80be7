// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The context of DOCA 3.0, its capabilities, and their C functions. The functions of matrices are in matrices_api.cpp,
// those of tasks in ec_tasks_api.cpp.
#include "ec.hpp"

#include <cstdint>

#include "../../core/device/device.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "../galois.hpp"
#include "coding_tasks.hpp"

OPENDOCA_LOG_SOURCE(DOCA_EC);

using opendoca::v3::call;

namespace {

constexpr std::uint32_t max_num_tasks = 65536; // of each type

/// Returns whether the device's capabilities include erasure coding, and this build has ISA-L for it.
bool is_supported(const opendoca::DeviceFunction &function) noexcept
{
    return opendoca::galois::is_available && function.can.erasure_coding;
}

/// Answers a capability query by @p body. Returns NOT_SUPPORTED if the device does no erasure coding.
template <typename Body>
doca_error_t query(const doca_devinfo *devinfo, const void *output, Body &&body) noexcept
{
    return call({devinfo, output}, [&] {
        if (!is_supported(*devinfo->function))
            return DOCA_ERROR_NOT_SUPPORTED;
        body(devinfo->function->can);
        return DOCA_SUCCESS;
    });
}

/// Answers whether a type of tasks is supported: all are, or none.
doca_error_t query_task(const doca_devinfo *devinfo) noexcept
{
    return query(devinfo, devinfo, [](const opendoca::Capabilities &) {});
}

/// Implements the set_conf functions.
template <typename Type, typename Callback>
doca_error_t configure(Type &type, Callback succeeded, Callback failed, std::uint32_t num_tasks) noexcept
{
    return type.configure(succeeded, failed, num_tasks, max_num_tasks, DOCA_ERROR_BAD_STATE);
}

} // namespace

doca_error_t doca_ec::on_start()
{
    const opendoca::Capabilities &can = dev()->function().can;
    codings_ = std::make_unique<opendoca::CodingQueue>(
        completions(), dev()->device(), opendoca::CodingQueue::Limits{can.ec_max_list_elements, can.ec_max_block_size});
    const auto make_pool = [&]<typename Task, typename Callback>(opendoca::v3::TaskType<Task, Callback> &type) {
        if (type.is_configured())
            type.set_pool(std::make_unique<opendoca::v3::CodingTasks<Task>>(*this, type.conf(), *codings_));
    };
    make_pool(galois_mul);
    make_pool(create);
    make_pool(update);
    make_pool(recover);
    request_progress_while_own(codings_->is_waiting());
    return DOCA_SUCCESS;
}

doca_error_t doca_ec::on_stop() noexcept
{
    codings_->flush();
    return DOCA_SUCCESS;
}

doca_error_t doca_ec_create(struct doca_dev *dev, struct doca_ec **ec)
{
    return call({dev, ec}, [&] {
        if (!is_supported(dev->function())) {
            LOG_ERR("device %s cannot do erasure coding%s", dev->description().c_str(),
                    opendoca::galois::is_available ? "" : ": this build of the library has no ISA-L");
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *ec = new doca_ec(*dev);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_ec_destroy(struct doca_ec *ec)
{
    return call({ec}, [&] {
        const doca_error_t status = ec->check_idle(DOCA_ERROR_BAD_STATE);
        if (status == DOCA_SUCCESS)
            delete ec;
        return status;
    });
}

struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ec)
{
    return ec;
}

doca_error_t doca_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo, uint64_t *max_block_size)
{
    return query(devinfo, max_block_size,
                 [&](const opendoca::Capabilities &can) { *max_block_size = can.ec_max_block_size; });
}

doca_error_t doca_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)
{
    return query(devinfo, max_buf_list_len,
                 [&](const opendoca::Capabilities &can) { *max_buf_list_len = can.ec_max_list_elements; });
}

doca_error_t doca_ec_cap_task_galois_mul_is_supported(const struct doca_devinfo *devinfo)
{
    return query_task(devinfo);
}

doca_error_t doca_ec_cap_task_create_is_supported(const struct doca_devinfo *devinfo)
{
    return query_task(devinfo);
}

doca_error_t doca_ec_cap_task_update_is_supported(const struct doca_devinfo *devinfo)
{
    return query_task(devinfo);
}

doca_error_t doca_ec_cap_task_recover_is_supported(const struct doca_devinfo *devinfo)
{
    return query_task(devinfo);
}

doca_error_t doca_ec_task_galois_mul_set_conf(struct doca_ec *ec,
                                              doca_ec_task_galois_mul_completion_cb_t successful_task_completion_cb,
                                              doca_ec_task_galois_mul_completion_cb_t error_task_completion_cb,
                                              uint32_t num_tasks)
{
    return call({ec}, [&] {
        return configure(ec->galois_mul, successful_task_completion_cb, error_task_completion_cb, num_tasks);
    });
}

doca_error_t doca_ec_task_create_set_conf(struct doca_ec *ec,
                                          doca_ec_task_create_completion_cb_t successful_task_completion_cb,
                                          doca_ec_task_create_completion_cb_t error_task_completion_cb,
                                          uint32_t num_tasks)
{
    return call({ec}, [&] {
        return configure(ec->create, successful_task_completion_cb, error_task_completion_cb, num_tasks);
    });
}

doca_error_t doca_ec_task_update_set_conf(struct doca_ec *ec,
                                          doca_ec_task_update_completion_cb_t successful_task_completion_cb,
                                          doca_ec_task_update_completion_cb_t error_task_completion_cb,
                                          uint32_t num_tasks)
{
    return call({ec}, [&] {
        return configure(ec->update, successful_task_completion_cb, error_task_completion_cb, num_tasks);
    });
}

doca_error_t doca_ec_task_recover_set_conf(struct doca_ec *ec,
                                           doca_ec_task_recover_completion_cb_t successful_task_completion_cb,
                                           doca_ec_task_recover_completion_cb_t error_task_completion_cb,
                                           uint32_t num_tasks)
{
    return call({ec}, [&] {
        return configure(ec->recover, successful_task_completion_cb, error_task_completion_cb, num_tasks);
    });
}
