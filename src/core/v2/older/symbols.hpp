// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The private C functions that the headers bind older names to: include/opendoca/older/ declares them to programs, and
// documents them. Each is named for the oldest release that has it in this form. They stay part of the ABI.
//
// No source of ours is compiled at an older level, so types that exist only there are declared by their binary form,
// such as struct doca_pci_bdf as its 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>

extern "C" {

/// Lists with one entry for each PCI address, as programs compare addresses themselves.
__DOCA_EXPERIMENTAL doca_error_t opendoca_devinfo_list_create_1_3(struct doca_devinfo ***dev_list, uint32_t *nb_devs);
__DOCA_EXPERIMENTAL doca_error_t opendoca_devinfo_rep_list_create_1_3(struct doca_dev *dev, int filter,
                                                                      struct doca_devinfo_rep ***dev_list_rep,
                                                                      uint32_t *nb_devs_rep);
/// Get a property by its number, in binary form. INVALID_VALUE for an unknown number or too small a buffer.
__DOCA_EXPERIMENTAL doca_error_t opendoca_devinfo_property_get_1_3(const struct doca_devinfo *devinfo,
                                                                   unsigned property, uint8_t *value, uint32_t size);
__DOCA_EXPERIMENTAL doca_error_t opendoca_devinfo_rep_property_get_1_3(const struct doca_devinfo_rep *devinfo_rep,
                                                                       unsigned property, uint8_t *value,
                                                                       uint32_t size);
/// Get a PCI address as struct doca_pci_bdf.
__DOCA_EXPERIMENTAL doca_error_t opendoca_devinfo_get_pci_addr_1_5(const struct doca_devinfo *devinfo, uint16_t *bdf);
__DOCA_EXPERIMENTAL doca_error_t opendoca_devinfo_rep_get_pci_addr_1_5(const struct doca_devinfo_rep *devinfo_rep,
                                                                       uint16_t *bdf);
/// Queries that 2.2 has under another name.
__DOCA_EXPERIMENTAL doca_error_t opendoca_devinfo_get_is_mmap_export_supported_1_5(const struct doca_devinfo *devinfo,
                                                                                   uint8_t *mmap_export);
__DOCA_EXPERIMENTAL doca_error_t
opendoca_devinfo_get_is_mmap_from_export_supported_1_5(const struct doca_devinfo *devinfo, uint8_t *from_export);

/// Create a map to which ranges and devices can be added after its start (OlderMmap). The name of 1.3 is ignored; the
/// permissions are those that each release implied.
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_create_1_3(const char *name, struct doca_mmap **mmap);
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_create_1_5(const union doca_data *user_data, struct doca_mmap **mmap);
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_create_2_0(const union doca_data *user_data, struct doca_mmap **mmap);
/// Import a descriptor, as text or in binary form.
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_create_from_export_1_3(const char *name, const void *export_desc,
                                                                      size_t export_desc_len, struct doca_dev *dev,
                                                                      struct doca_mmap **mmap);
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_create_from_export_1_5(const union doca_data *user_data,
                                                                      const void *export_desc, size_t export_desc_len,
                                                                      struct doca_dev *dev, struct doca_mmap **mmap);
/// Export to memory of malloc(), which the program frees: as text with a NUL in 1.3, in binary form in 1.5.
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_export_1_3(struct doca_mmap *mmap, const struct doca_dev *dev,
                                                          uint8_t **export_desc, size_t *export_desc_len);
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_export_1_5(struct doca_mmap *mmap, const struct doca_dev *dev,
                                                          void **export_desc, size_t *export_desc_len);
/// Set and get the largest number of ranges. NOT_PERMITTED after the first start.
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_property_set_1_3(struct doca_mmap *mmap, unsigned property,
                                                                const uint8_t *value, uint32_t size);
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_set_max_num_chunks_1_3(struct doca_mmap *mmap, uint32_t max_num_chunks);
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_get_max_num_chunks_1_3(struct doca_mmap *mmap, uint32_t *max_num_chunks);
/// Adds a range to a started map.
__DOCA_EXPERIMENTAL doca_error_t opendoca_mmap_populate_1_3(struct doca_mmap *mmap, void *addr, size_t len,
                                                            size_t pg_sz, doca_mmap_memrange_free_cb_t *free_cb,
                                                            void *opaque);

/// Sets the data section of a buffer, and checks that it lies inside of the buffer.
__DOCA_EXPERIMENTAL doca_error_t opendoca_buf_set_data_1_3(struct doca_buf *buf, void *data, size_t data_len);
/// Returns the memory key that doca_buf_get_mkey() returns.
__DOCA_EXPERIMENTAL doca_error_t opendoca_buf_get_lkey_1_5(const struct doca_buf *buf, struct doca_dev *dev,
                                                           uint32_t doca_access_flags, uint32_t *lkey);
/// Create an inventory. The name of 1.3 is ignored, and so is the bit for lists, which always work.
__DOCA_EXPERIMENTAL doca_error_t opendoca_buf_inventory_create_1_3(const char *name, size_t num_elements,
                                                                   uint32_t extensions,
                                                                   struct doca_buf_inventory **buf_inventory);
__DOCA_EXPERIMENTAL doca_error_t opendoca_buf_inventory_create_1_5(const union doca_data *user_data,
                                                                   size_t num_elements, uint32_t extensions,
                                                                   struct doca_buf_inventory **buf_inventory);

/// Creates a work queue for at least 1,024 jobs.
__DOCA_EXPERIMENTAL doca_error_t opendoca_workq_create_1_3(uint32_t depth, struct doca_workq **workq);
/// Sets the depth of a work queue, which never shrinks.
__DOCA_EXPERIMENTAL doca_error_t opendoca_workq_set_depth_1_5(struct doca_workq *workq, uint32_t depth);
/// Submits a job of one of these releases: their structures can have more members.
__DOCA_EXPERIMENTAL doca_error_t opendoca_workq_submit_1_3(struct doca_workq *workq, const struct doca_job *job);

/// Redirects all messages to a stream. Blocks while another thread redirects.
__DOCA_EXPERIMENTAL doca_error_t opendoca_log_stream_redirect_1_3(FILE *stream);

} // extern "C"
