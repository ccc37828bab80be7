// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A NULL argument that must not be is refused, and the log names the function.
#include <string>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_bufpool.h>
#include <doca_comm_channel.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_rdma_bridge.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include <gtest/gtest.h>

#include "support/log_capture.hpp"

using doca_test::LogCapture;

namespace {

struct Call {
    const char *name;
    doca_error_t (*run)(); ///< with all arguments 0 or NULL
    doca_error_t code = DOCA_ERROR_INVALID_VALUE;
};

template <typename... Arguments>
doca_error_t run_with_nothing(doca_error_t (*function)(Arguments...))
{
    return function(Arguments{}...);
}

// Without the data path of work queues: submit, retrieve, arm and clear log nothing of this.
// clang-format off
#define CALL(function) {#function, [] { return run_with_nothing(function); }}
// clang-format on
const Call calls[] = {
    CALL(doca_devinfo_list_create),
    CALL(doca_devinfo_list_destroy),
    CALL(doca_devinfo_rep_list_create),
    CALL(doca_devinfo_rep_list_destroy),
    CALL(doca_dev_open),
    CALL(doca_dev_close),
    CALL(doca_dev_rep_open),
    CALL(doca_dev_rep_close),
    CALL(doca_devinfo_get_pci_addr_str),
    CALL(doca_devinfo_get_is_pci_addr_equal),
    CALL(doca_devinfo_get_ipv4_addr),
    CALL(doca_devinfo_get_ipv6_addr),
    CALL(doca_devinfo_get_mac_addr),
    CALL(doca_devinfo_get_iface_name),
    CALL(doca_devinfo_get_ibdev_name),
    CALL(doca_devinfo_get_lid),
    CALL(doca_devinfo_get_is_hotplug_manager_supported),
    CALL(doca_devinfo_get_is_mmap_export_dpu_supported),
    CALL(doca_devinfo_get_is_mmap_from_export_dpu_supported),
    CALL(doca_devinfo_rep_get_is_list_all_supported),
    CALL(doca_devinfo_rep_get_is_list_net_supported),
    CALL(doca_devinfo_rep_get_is_list_emulated_supported),
    CALL(doca_devinfo_rep_get_vuid),
    CALL(doca_devinfo_rep_get_pci_addr_str),
    CALL(doca_devinfo_rep_get_pci_func_type),
    CALL(doca_devinfo_rep_get_is_pci_addr_equal),
    CALL(doca_mmap_create),
    CALL(doca_mmap_destroy),
    CALL(doca_mmap_start),
    CALL(doca_mmap_stop),
    CALL(doca_mmap_dev_add),
    CALL(doca_mmap_dev_rm),
    CALL(doca_mmap_export_dpu),
    CALL(doca_mmap_export_rdma),
    CALL(doca_mmap_create_from_export),
    CALL(doca_mmap_set_memrange),
    CALL(doca_mmap_set_dmabuf_memrange),
    CALL(doca_mmap_get_memrange),
    CALL(doca_mmap_set_free_cb),
    CALL(doca_mmap_get_user_data),
    CALL(doca_mmap_get_max_num_devices),
    CALL(doca_mmap_get_num_bufs),
    CALL(doca_mmap_get_exported),
    CALL(doca_mmap_get_from_export),
    CALL(doca_mmap_set_max_num_devices),
    CALL(doca_mmap_set_permissions),
    CALL(doca_buf_refcount_rm),
    CALL(doca_buf_get_refcount),
    CALL(doca_buf_get_len),
    CALL(doca_buf_get_head),
    CALL(doca_buf_get_data_len),
    CALL(doca_buf_get_data),
    CALL(doca_buf_set_data),
    CALL(doca_buf_reset_data_len),
    CALL(doca_buf_list_next),
    CALL(doca_buf_list_last),
    CALL(doca_buf_list_is_last),
    CALL(doca_buf_list_is_first),
    CALL(doca_buf_is_in_list),
    CALL(doca_buf_list_num_elements),
    CALL(doca_buf_list_chain),
    CALL(doca_buf_list_unchain),
    CALL(doca_buf_inventory_create),
    CALL(doca_buf_inventory_destroy),
    CALL(doca_buf_inventory_start),
    CALL(doca_buf_inventory_stop),
    CALL(doca_buf_inventory_buf_by_args),
    CALL(doca_buf_inventory_buf_dup),
    CALL(doca_buf_inventory_get_num_elements),
    CALL(doca_buf_inventory_get_num_free_elements),
    CALL(doca_buf_inventory_get_user_data),
    CALL(doca_comm_channel_get_max_service_name_len),
    CALL(doca_comm_channel_get_max_message_size),
    CALL(doca_comm_channel_get_max_send_queue_size),
    CALL(doca_comm_channel_get_max_recv_queue_size),
    CALL(doca_comm_channel_get_service_max_num_connections),
    CALL(doca_comm_channel_ep_create),
    CALL(doca_comm_channel_ep_get_device),
    CALL(doca_comm_channel_ep_get_device_rep),
    CALL(doca_comm_channel_ep_get_max_msg_size),
    CALL(doca_comm_channel_ep_get_send_queue_size),
    CALL(doca_comm_channel_ep_get_recv_queue_size),
    CALL(doca_comm_channel_ep_set_device),
    CALL(doca_comm_channel_ep_set_device_rep),
    CALL(doca_comm_channel_ep_set_max_msg_size),
    CALL(doca_comm_channel_ep_set_send_queue_size),
    CALL(doca_comm_channel_ep_set_recv_queue_size),
    CALL(doca_comm_channel_ep_get_event_channel),
    CALL(doca_comm_channel_ep_get_service_event_channel),
    CALL(doca_comm_channel_ep_event_handle_arm_send),
    CALL(doca_comm_channel_ep_event_handle_arm_recv),
    CALL(doca_comm_channel_ep_listen),
    CALL(doca_comm_channel_ep_connect),
    CALL(doca_comm_channel_ep_sendto),
    CALL(doca_comm_channel_ep_recvfrom),
    CALL(doca_comm_channel_ep_disconnect),
    CALL(doca_comm_channel_peer_addr_get_user_data),
    CALL(doca_comm_channel_peer_addr_set_user_data),
    CALL(doca_comm_channel_peer_addr_update_info),
    CALL(doca_comm_channel_peer_addr_get_send_messages),
    CALL(doca_comm_channel_peer_addr_get_send_bytes),
    CALL(doca_comm_channel_peer_addr_get_recv_messages),
    CALL(doca_comm_channel_peer_addr_get_recv_bytes),
    CALL(doca_comm_channel_ep_update_service_state_info),
    CALL(doca_comm_channel_ep_get_peer_addr_list),
    CALL(doca_comm_channel_ep_get_pending_connections),
    {"doca_comm_channel_ep_destroy", [] { return doca_comm_channel_ep_destroy(nullptr); }, DOCA_ERROR_NOT_CONNECTED},
    CALL(doca_bufpool_create),
    CALL(doca_bufpool_destroy),
    CALL(doca_bufpool_start),
    CALL(doca_bufpool_stop),
    CALL(doca_bufpool_buf_alloc),
    CALL(doca_bufpool_get_num_elements),
    CALL(doca_bufpool_get_num_free_elements),
    CALL(doca_bufpool_get_user_data),
    CALL(doca_workq_create),
    CALL(doca_workq_destroy),
    CALL(doca_ctx_get_max_num_ctx),
    CALL(doca_workq_get_depth),
    CALL(doca_workq_get_event_driven_enable),
    CALL(doca_workq_get_event_handle),
    CALL(doca_workq_set_event_driven_enable),
    CALL(doca_workq_set_event_handle),
    CALL(doca_ctx_dev_add),
    CALL(doca_ctx_dev_rm),
    CALL(doca_ctx_start),
    CALL(doca_ctx_stop),
    CALL(doca_ctx_workq_add),
    CALL(doca_ctx_workq_rm),
    CALL(doca_ctx_get_event_driven_supported),
    CALL(doca_ctx_set_datapath_on_gpu),
    CALL(doca_workq_graph_submit),
    CALL(doca_graph_create),
    CALL(doca_graph_destroy),
    CALL(doca_graph_ctx_node_create),
    CALL(doca_graph_user_node_create),
    CALL(doca_graph_sub_graph_node_create),
    CALL(doca_graph_add_dependency),
    CALL(doca_graph_start),
    CALL(doca_graph_stop),
    CALL(doca_graph_workq_add),
    CALL(doca_graph_workq_rm),
    CALL(doca_graph_instance_create),
    CALL(doca_graph_instance_destroy),
    CALL(doca_graph_instance_set_ctx_node_data),
    CALL(doca_graph_instance_set_user_node_data),
    CALL(doca_graph_instance_set_sub_graph_node_data),
    CALL(doca_graph_instance_get_num_failed_nodes),
    CALL(doca_graph_instance_get_failed_nodes),
    CALL(doca_graph_instance_node_get_state),
    CALL(doca_graph_instance_node_get_result),
    CALL(doca_dma_create),
    CALL(doca_dma_destroy),
    CALL(doca_dma_job_get_supported),
    CALL(doca_dma_get_max_list_buf_num_elem),
    CALL(doca_dma_get_max_buf_size),
    CALL(doca_rdma_create),
    CALL(doca_rdma_destroy),
    CALL(doca_rdma_export),
    CALL(doca_rdma_connect),
    CALL(doca_rdma_job_get_supported),
    CALL(doca_rdma_get_max_recv_queue_size),
    CALL(doca_rdma_get_max_send_queue_size),
    CALL(doca_rdma_get_max_message_size),
    CALL(doca_rdma_get_max_buf_chain_len),
    CALL(doca_rdma_get_gid_table_size),
    CALL(doca_rdma_get_gid),
    CALL(doca_rdma_get_transport_type_supported),
    CALL(doca_rdma_set_send_queue_size),
    CALL(doca_rdma_set_recv_queue_size),
    CALL(doca_rdma_set_transport_type),
    CALL(doca_rdma_set_mtu),
    CALL(doca_rdma_set_permissions),
    CALL(doca_rdma_set_grh_enabled),
    CALL(doca_rdma_set_gid_index),
    CALL(doca_rdma_set_recv_buf_chain_len),
    CALL(doca_rdma_set_sl),
    CALL(doca_rdma_get_send_queue_size),
    CALL(doca_rdma_get_recv_queue_size),
    CALL(doca_rdma_get_transport_type),
    CALL(doca_rdma_get_mtu),
    CALL(doca_rdma_get_permissions),
    CALL(doca_rdma_get_grh_enabled),
    CALL(doca_rdma_get_gid_index),
    CALL(doca_rdma_get_recv_buf_chain_len),
    CALL(doca_rdma_get_sl),
    CALL(doca_rdma_get_state),
    CALL(doca_sha_create),
    CALL(doca_sha_destroy),
    CALL(doca_sha_job_get_supported),
    CALL(doca_sha_get_max_list_buf_num_elem),
    CALL(doca_sha_get_max_src_buffer_size),
    CALL(doca_sha_get_min_dst_buffer_size),
    CALL(doca_sha_get_hardware_supported),
    CALL(doca_sha_partial_session_create),
    CALL(doca_sha_partial_session_destroy),
    CALL(doca_sha_partial_session_copy),
    CALL(doca_sync_event_create),
    CALL(doca_sync_event_create_from_export),
    CALL(doca_sync_event_get_create_from_export_supported),
    CALL(doca_sync_event_destroy),
    CALL(doca_sync_event_publisher_add_location_cpu),
    CALL(doca_sync_event_publisher_add_location_dpa),
    CALL(doca_sync_event_publisher_add_location_gpu),
    CALL(doca_sync_event_publisher_add_location_dpu),
    CALL(doca_sync_event_subscriber_add_location_cpu),
    CALL(doca_sync_event_subscriber_add_location_dpa),
    CALL(doca_sync_event_subscriber_add_location_gpu),
    CALL(doca_sync_event_subscriber_add_location_dpu),
    CALL(doca_sync_event_set_addr),
    CALL(doca_sync_event_start),
    CALL(doca_sync_event_stop),
    CALL(doca_sync_event_job_get_supported),
    CALL(doca_sync_event_export_to_dpu),
    CALL(doca_sync_event_get_export_to_dpu_supported),
    CALL(doca_sync_event_export_to_dpa),
    CALL(doca_sync_event_get_export_to_dpa_supported),
    CALL(doca_sync_event_export_to_gpu),
    CALL(doca_sync_event_get_export_to_gpu_supported),
    CALL(doca_sync_event_export_remote),
    CALL(doca_sync_event_get),
    CALL(doca_sync_event_update_add),
    CALL(doca_sync_event_update_set),
    CALL(doca_sync_event_wait_gt),
    CALL(doca_sync_event_wait_gt_yield),
    CALL(doca_log_backend_level_set),
    CALL(doca_log_backend_set_upper_level_limit),
    CALL(doca_log_backend_set_lower_level_immutable),
    CALL(doca_log_backend_set_upper_level_immutable),
    CALL(doca_log_source_register),
    CALL(doca_log_rate_bucket_register),
    CALL(doca_log_create_file_backend),
    CALL(doca_log_create_fd_backend),
    CALL(doca_log_create_buffer_backend),
    CALL(doca_log_create_syslog_backend),
    CALL(doca_dev_get_pd),
    CALL(doca_dev_open_from_pd),
    CALL(doca_buf_get_mkey),
};
#undef CALL

TEST(NullArguments, are_refused_and_the_log_names_the_function)
{
    for (const Call &call : calls) {
        const LogCapture log;
        EXPECT_EQ(call.run(), call.code) << call.name;
        EXPECT_LOGGED(log, std::string(call.name) + ": an argument is NULL");
    }
}

} // namespace
