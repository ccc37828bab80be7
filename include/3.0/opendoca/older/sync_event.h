// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/sync_event.h
 * What doca_sync_event.h has more at a level up to 20800. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_SYNC_EVENT_H_
#define OPENDOCA_OLDER_SYNC_EVENT_H_

/** Handles of code on a DPA and a GPU. */
struct doca_dpa_sync_event;
struct doca_gpu_sync_event;

/** A task that waits until the counter is greater than a value. */
struct doca_sync_event_task_wait_gt;

/** Called when a wait has ended. */
typedef void (*doca_sync_event_task_wait_gt_completion_cb_t)(struct doca_sync_event_task_wait_gt *task,
                                                             union doca_data task_user_data,
                                                             union doca_data ctx_user_data);

/* Names of the other side of the PCIe, and of handles, that 3.0 has as _remote_pci and get_..._handle. */

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_publisher_location_dpu(struct doca_sync_event *event)
    OPENDOCA_BOUND_TO(doca_sync_event_add_publisher_location_remote_pci);

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_subscriber_location_dpu(struct doca_sync_event *event)
    OPENDOCA_BOUND_TO(doca_sync_event_add_subscriber_location_remote_pci);

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev,
                                                             const uint8_t **data, size_t *sz)
    OPENDOCA_BOUND_TO(doca_sync_event_export_to_remote_pci);

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_is_export_to_dpu_supported(const struct doca_devinfo *devinfo)
    OPENDOCA_BOUND_TO(doca_sync_event_cap_is_export_to_remote_pci_supported);

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event, struct doca_dpa *dpa,
                                                             doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
    OPENDOCA_BOUND_TO(doca_sync_event_get_dpa_handle);

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event, struct doca_gpu *gpu,
                                                             doca_gpu_dev_sync_event_t **gpu_dev_se)
    OPENDOCA_BOUND_TO(doca_sync_event_get_gpu_handle);

DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_remote_net_export_to_dpa(struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
                                         doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event)
    OPENDOCA_BOUND_TO(doca_sync_event_remote_net_get_dpa_handle);

DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_remote_net_export_to_gpu(struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
                                         doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event)
    OPENDOCA_BOUND_TO(doca_sync_event_remote_net_get_gpu_handle);

/*
 * The wait: as doca_sync_event_task_wait_neq of DOCA 3.0, but it ends when (counter & mask) > wait_val.
 */

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_task_wait_gt_is_supported(const struct doca_devinfo *devinfo)
    OPENDOCA_BOUND_TO(opendoca_sync_event_cap_task_wait_gt_is_supported_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_gt_set_conf(
    struct doca_sync_event *event, doca_sync_event_task_wait_gt_completion_cb_t completion_cb,
    doca_sync_event_task_wait_gt_completion_cb_t error_cb, uint32_t num_tasks)
    OPENDOCA_BOUND_TO(opendoca_sync_event_task_wait_gt_set_conf_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_gt_alloc_init(struct doca_sync_event *event, uint64_t wait_val,
                                                                       uint64_t mask, union doca_data user_data,
                                                                       struct doca_sync_event_task_wait_gt **task)
    OPENDOCA_BOUND_TO(opendoca_sync_event_task_wait_gt_alloc_init_2_5);

DOCA_EXPERIMENTAL struct doca_task *doca_sync_event_task_wait_gt_as_doca_task(struct doca_sync_event_task_wait_gt *task)
    OPENDOCA_BOUND_TO(opendoca_sync_event_task_wait_gt_as_doca_task_2_5);

DOCA_EXPERIMENTAL void doca_sync_event_task_wait_gt_set_wait_val(struct doca_sync_event_task_wait_gt *task,
                                                                 uint64_t wait_val)
    OPENDOCA_BOUND_TO(opendoca_sync_event_task_wait_gt_set_wait_val_2_5);

DOCA_EXPERIMENTAL uint64_t doca_sync_event_task_wait_gt_get_wait_val(const struct doca_sync_event_task_wait_gt *task)
    OPENDOCA_BOUND_TO(opendoca_sync_event_task_wait_gt_get_wait_val_2_5);

DOCA_EXPERIMENTAL void doca_sync_event_task_wait_gt_set_mask(struct doca_sync_event_task_wait_gt *task, uint64_t mask)
    OPENDOCA_BOUND_TO(opendoca_sync_event_task_wait_gt_set_mask_2_5);

DOCA_EXPERIMENTAL uint64_t doca_sync_event_task_wait_gt_get_mask(const struct doca_sync_event_task_wait_gt *task)
    OPENDOCA_BOUND_TO(opendoca_sync_event_task_wait_gt_get_mask_2_5);

#endif /* OPENDOCA_OLDER_SYNC_EVENT_H_ */
