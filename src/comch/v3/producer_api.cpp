// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of producers.
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "common_api.hpp"
#include "producer.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_PRODUCER_API);

using namespace opendoca::comch;
using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;

doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
                                        struct doca_comch_producer **producer)
{
    return call({comch_connection, producer}, [&] {
        if (const doca_error_t status = check_fast_path(*comch_connection); status != DOCA_SUCCESS)
            return status;
        *producer = new doca_comch_producer(*comch_connection);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
    return call({producer}, [&] {
        const doca_error_t status = producer->check_idle(DOCA_ERROR_IN_USE);
        if (status == DOCA_SUCCESS)
            delete producer;
        return status;
    });
}

doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [&] {
        return opendoca::comch::has_fast_path(*devinfo->function) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id)
{
    return call({producer, id}, [&] {
        if (producer->id() == 0) {
            LOG_ERR("the producer was not started");
            return DOCA_ERROR_BAD_STATE;
        }
        *id = producer->id();
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks)
{
    return answer_query(devinfo, max_num_tasks, max_fast_path_tasks);
}

/// A null devinfo is reported by answer_query().
doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size)
{
    return answer_query(devinfo, max_buf_size, devinfo != nullptr ? devinfo->function->can.rdma.max_message_size : 0);
}

doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                          uint32_t *max_buf_list_len)
{
    return answer_query(devinfo, max_buf_list_len, 1);
}

doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo, uint32_t *max_producers)
{
    return answer_query(devinfo, max_producers, max_fast_path_contexts);
}

struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer)
{
    return producer;
}

doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer, uint32_t)
{
    return not_on_the_dpa({producer});
}

doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
                                                       struct doca_dpa_completion *dpa_comp)
{
    return not_on_the_dpa({producer, dpa_comp});
}

doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
                                                doca_dpa_dev_comch_producer_t *dpa_producer)
{
    return not_on_the_dpa({producer, dpa_producer});
}

doca_error_t doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer,
                                                    doca_comch_producer_task_send_completion_cb_t task_completion_cb,
                                                    doca_comch_producer_task_send_completion_cb_t task_error_cb,
                                                    uint32_t num_send_tasks)
{
    return call({producer}, [&] {
        return producer->sends.configure(task_completion_cb, task_error_cb, num_send_tasks, max_fast_path_tasks,
                                         DOCA_ERROR_BAD_STATE);
    });
}

doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer, const struct doca_buf *buf,
                                                      uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id,
                                                      struct doca_comch_producer_task_send **task)
{
    return call({producer, task}, [&] {
        doca_error_t status = doca_comch_producer::check_immediate(imm_data, imm_data_len);
        if (status == DOCA_SUCCESS)
            status = producer->sends.alloc({}, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->buf = buf;
            (*task)->immediate = imm_data;
            (*task)->immediate_size = imm_data_len;
            (*task)->consumer = consumer_id;
        }
        return status;
    });
}

const struct doca_buf *doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task)
{
    return read_from(task, [&] { return task->buf; });
}

void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task, const struct doca_buf *buf)
{
    apply_to(task, [&] { task->buf = buf; });
}

uint32_t doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task)
{
    return read_from(task, [&] { return task->consumer; });
}

void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
                                                   const uint32_t consumer_id)
{
    apply_to(task, [&] { task->consumer = consumer_id; });
}

uint8_t *doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task)
{
    return read_from(task, [&] { return task->immediate; });
}

uint32_t doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task)
{
    return read_from(task, [&] { return task->immediate_size; });
}

void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task, uint8_t *imm_data,
                                                uint32_t imm_data_len)
{
    apply_to(task, [&] {
        task->immediate = imm_data;
        task->immediate_size = imm_data_len;
    });
}

struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task)
{
    return task;
}
