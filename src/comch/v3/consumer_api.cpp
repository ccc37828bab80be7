// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of consumers.
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "common_api.hpp"
#include "consumer.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_CONSUMER_API);

using namespace opendoca::comch;
using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection, struct doca_mmap *buf_mmap,
                                        struct doca_comch_consumer **consumer)
{
    return call({comch_connection, buf_mmap, consumer}, [&] {
        if (const doca_error_t status = check_fast_path(*comch_connection); status != DOCA_SUCCESS)
            return status;
        *consumer = new doca_comch_consumer(*comch_connection, *buf_mmap);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer)
{
    return call({consumer}, [&] {
        const doca_error_t status = consumer->check_idle(DOCA_ERROR_IN_USE);
        if (status == DOCA_SUCCESS)
            delete consumer;
        return status;
    });
}

doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [&] {
        return opendoca::comch::has_fast_path(*devinfo->function) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id)
{
    return call({consumer, id}, [&] {
        if (consumer->id() == 0) {
            LOG_ERR("the consumer was not started");
            return DOCA_ERROR_BAD_STATE;
        }
        *id = consumer->id();
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo, uint32_t *max_num_tasks)
{
    return answer_query(devinfo, max_num_tasks, max_fast_path_tasks);
}

doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo, uint32_t *max_buf_size)
{
    // A null devinfo is reported by answer_query().
    return answer_query(devinfo, max_buf_size, devinfo != nullptr ? devinfo->function->can.rdma.max_message_size : 0);
}

doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                          uint32_t *max_buf_list_len)
{
    return answer_query(devinfo, max_buf_list_len, 1);
}

doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo, uint32_t *max_consumers)
{
    return answer_query(devinfo, max_consumers, max_fast_path_contexts);
}

doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
                                                          uint32_t *max_imm_data_len)
{
    return answer_query(devinfo, max_imm_data_len, max_immediate);
}

doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer, uint32_t *imm_data_len)
{
    return call({consumer, imm_data_len}, [&] { *imm_data_len = consumer->immediate_length; });
}

doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer, uint32_t imm_data_len)
{
    return call({consumer}, [&] {
        if (const doca_error_t status = consumer->check_idle(DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
            return status;
        if (imm_data_len > max_immediate) {
            LOG_ERR("immediate data of %u bytes: at most %u are possible", imm_data_len, max_immediate);
            return DOCA_ERROR_INVALID_VALUE;
        }
        consumer->immediate_length = imm_data_len;
        return DOCA_SUCCESS;
    });
}

struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer)
{
    return consumer;
}

doca_error_t doca_comch_consumer_completion_create(struct doca_comch_consumer_completion **consumer_comp)
{
    return not_on_the_dpa({consumer_comp});
}

doca_error_t doca_comch_consumer_completion_set_dpa_thread(struct doca_comch_consumer_completion *consumer_comp,
                                                           struct doca_dpa_thread *dpa_thread)
{
    return not_on_the_dpa({consumer_comp, dpa_thread});
}

doca_error_t doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *consumer_comp)
{
    return not_on_the_dpa({consumer_comp});
}

doca_error_t doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *consumer_comp)
{
    return not_on_the_dpa({consumer_comp});
}

doca_error_t doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *consumer_comp)
{
    return not_on_the_dpa({consumer_comp});
}

doca_error_t
doca_comch_consumer_completion_get_dpa_handle(struct doca_comch_consumer_completion *consumer_comp,
                                              doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle)
{
    return not_on_the_dpa({consumer_comp, consumer_comp_handle});
}

doca_error_t doca_comch_consumer_completion_set_max_num_consumers(struct doca_comch_consumer_completion *consumer_comp,
                                                                  uint32_t)
{
    return not_on_the_dpa({consumer_comp});
}

doca_error_t
doca_comch_consumer_completion_get_max_num_consumers(const struct doca_comch_consumer_completion *consumer_comp,
                                                     uint32_t *max_num_consumers)
{
    return not_on_the_dpa({consumer_comp, max_num_consumers});
}

doca_error_t doca_comch_consumer_completion_set_max_num_recv(struct doca_comch_consumer_completion *consumer_comp,
                                                             uint32_t)
{
    return not_on_the_dpa({consumer_comp});
}

doca_error_t doca_comch_consumer_completion_get_max_num_recv(const struct doca_comch_consumer_completion *consumer_comp,
                                                             uint32_t *max_num_recv)
{
    return not_on_the_dpa({consumer_comp, max_num_recv});
}

doca_error_t doca_comch_consumer_completion_set_imm_data_len(struct doca_comch_consumer_completion *consumer_comp,
                                                             uint32_t)
{
    return not_on_the_dpa({consumer_comp});
}

doca_error_t doca_comch_consumer_completion_get_imm_data_len(const struct doca_comch_consumer_completion *consumer_comp,
                                                             uint32_t *imm_data_len)
{
    return not_on_the_dpa({consumer_comp, imm_data_len});
}

doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer, uint32_t)
{
    return not_on_the_dpa({consumer});
}

doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
                                                struct doca_comch_consumer_completion *consumer_comp, uint32_t)
{
    return not_on_the_dpa({consumer, consumer_comp});
}

doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
                                                doca_dpa_dev_comch_consumer_t *dpa_consumer)
{
    return not_on_the_dpa({consumer, dpa_consumer});
}

doca_error_t doca_comch_consumer_task_post_recv_set_conf(
    struct doca_comch_consumer *consumer, doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
    doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_post_recv_tasks)
{
    return call({consumer}, [&] {
        return consumer->receives.configure(task_completion_cb, task_error_cb, num_post_recv_tasks, max_fast_path_tasks,
                                            DOCA_ERROR_BAD_STATE);
    });
}

doca_error_t doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer, struct doca_buf *buf,
                                                           struct doca_comch_consumer_task_post_recv **task)
{
    return call({consumer, task}, [&] {
        const doca_error_t status = consumer->receives.alloc({}, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->buf = buf;
            (*task)->producer = 0;
            (*task)->immediate_size = 0;
        }
        return status;
    });
}

struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task)
{
    return read_from(task, [&] { return task->buf; });
}

void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf)
{
    apply_to(task, [&] { task->buf = buf; });
}

uint32_t doca_comch_consumer_task_post_recv_get_producer_id(const struct doca_comch_consumer_task_post_recv *task)
{
    return read_from(task, [&] { return task->producer; });
}

const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(const struct doca_comch_consumer_task_post_recv *task)
{
    return read_from(task, [&] { return task->immediate_size != 0 ? task->immediate.data() : nullptr; });
}

uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(const struct doca_comch_consumer_task_post_recv *task)
{
    return read_from(task, [&] { return task->immediate_size; });
}

struct doca_task *doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task)
{
    return task;
}
