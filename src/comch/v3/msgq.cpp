// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Message queues connect consumers and producers to the DPA only: not supported.
#include <doca_comch_msgq.h>

#include "common_api.hpp"

using opendoca::comch::not_on_the_dpa;

doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq)
{
    return not_on_the_dpa({dev, msgq});
}

doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq)
{
    return not_on_the_dpa({msgq});
}

doca_error_t doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
    return not_on_the_dpa({msgq, dpa});
}

doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq, uint32_t)
{
    return not_on_the_dpa({msgq});
}

doca_error_t doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
    return not_on_the_dpa({msgq, dpa});
}

doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq, uint32_t)
{
    return not_on_the_dpa({msgq});
}

doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq)
{
    return not_on_the_dpa({msgq});
}

doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq)
{
    return not_on_the_dpa({msgq});
}

doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq, struct doca_comch_consumer **consumer)
{
    return not_on_the_dpa({msgq, consumer});
}

doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq, struct doca_comch_producer **producer)
{
    return not_on_the_dpa({msgq, producer});
}
