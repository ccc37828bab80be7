// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_mmap.h
 * Memory maps: one range of memory, the devices that may use it, and what they may do there.
 *
 * Life of a local map: create; configure (memory range, devices, permissions); doca_mmap_start(); use
 * (buffers, exports); doca_mmap_stop(); doca_mmap_destroy(). A map stopped is in the configuration phase
 * again.
 *
 * Exporting gives a descriptor, a few bytes that another process turns into an imported map of the same
 * memory. An imported map is usable as soon as it is created. It has no backing of its own: it cannot be
 * configured, be given devices, or be exported.
 *
 * The memory belongs to the caller and is neither allocated nor freed here (but see doca_mmap_set_free_cb()).
 * It must stay mapped while the map is started.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads (opendoca): one thread at a time per map. Only obtaining and releasing buffers, and tasks that use
 * the map, may go on in several threads at once while the map is started.
 */
#ifndef DOCA_MMAP_H_
#define DOCA_MMAP_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL == 20500
#include <stdbool.h>
#endif
#if OPENDOCA_LEVEL < 20900
#include <doca_dev.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_dpa;

/** A memory map. */
struct doca_mmap;

/** A memory map, as code on a DPA knows it. */
typedef uint32_t doca_dpa_dev_mmap_t;

/**
 * Called by doca_mmap_destroy() so that the caller can free its memory.
 *
 * @param [in] addr First byte of the memory range.
 * @param [in] len Bytes of the memory range.
 * @param [in] cookie As given to doca_mmap_set_free_cb().
 */
typedef void doca_mmap_memrange_free_cb_t(void *addr, size_t len, void *cookie);

/**
 * Create a map, not started, without memory range, device or free callback.
 *
 * opendoca: the permissions are DOCA_ACCESS_FLAG_LOCAL_READ_WRITE and the device limit is 64 until set
 * otherwise.
 *
 * @param [out] mmap The map. Free it with doca_mmap_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_STABLE doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/**
 * Destroy a map, in any state. A stop before is not needed: what doca_mmap_stop() does is done first,
 * including the wait for importers. Then the free callback runs, if one is due.
 *
 * The memory itself is not touched and may have been freed before.
 *
 * @param [in] mmap The map.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: buffers of the map exist (not known after doca_mmap_enable_thread_safety()), or
 *   a device cannot deregister the memory.
 */
DOCA_STABLE doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * Make the memory usable by the devices added, and open the map for buffers and exports.
 *
 * opendoca: the map needs no device. For each device that was added, once, it is checked that the whole range
 * is mapped, and writable as soon as DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, DOCA_ACCESS_FLAG_RDMA_WRITE or
 * DOCA_ACCESS_FLAG_PCI_READ_WRITE is set.
 *
 * State: configuration phase, memory range set. Costs time; not for a data path.
 *
 * @param [in] mmap The map.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL; opendoca: no memory range is set, or the check above failed.
 * - DOCA_ERROR_NO_MEMORY: no memory, no descriptor to check the range by, or the device can register no more.
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported, or is exported at present.
 * - DOCA_ERROR_BAD_STATE: the map is started already, and not exported (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: a device can't use the dmabuf that the range is of (opendoca).
 */
DOCA_STABLE doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/**
 * Take the memory away from the devices and return to the configuration phase.
 *
 * Every export descriptor of the map becomes invalid, and so does every map imported from one. opendoca: the
 * stop of an exported map revokes all imports and returns only when no importer touches the memory any more.
 * A task of an importer that comes too late fails with DOCA_ERROR_NOT_PERMITTED. opendoca: an imported map
 * can be stopped without a start; that is final, and all that can be done with it then is to destroy it.
 *
 * State: started, or imported; no buffer of the map exists.
 *
 * @param [in] mmap The map.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: buffers of the map exist.
 * - DOCA_ERROR_BAD_STATE: the map is not started (opendoca).
 */
DOCA_STABLE doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * Let a device use the memory.
 *
 * State: configuration phase. The device must stay open until it is removed or the map is destroyed.
 *
 * @param [in] mmap The map.
 * @param [in] dev An open device; opendoca: also one from doca_rdma_bridge_open_dev_from_pd(), see there.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the map is started, exported or imported.
 * - DOCA_ERROR_ALREADY_EXIST: the device was added already.
 * - DOCA_ERROR_NO_MEMORY: the device limit is reached, see doca_mmap_set_max_num_devices(); or no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot be used with memory maps.
 */
DOCA_STABLE doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Undo doca_mmap_add_dev().
 *
 * State: configuration phase.
 *
 * @param [in] mmap The map.
 * @param [in] dev A device that was added.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the map is started, exported or imported.
 * - DOCA_ERROR_NOT_FOUND: dev was not added.
 */
DOCA_STABLE doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Make a descriptor with which the DPU can use the memory across the PCIe. May be repeated with other
 * devices.
 *
 * opendoca: the descriptor has at most 256 bytes; a repetition with the same device gives the same one.
 *
 * State: started. Which rights the importer gets: DOCA_ACCESS_FLAG_PCI_READ_ONLY or
 * DOCA_ACCESS_FLAG_PCI_READ_WRITE.
 *
 * @param [in] mmap The map; not an imported one.
 * @param [in] dev A device that was added and can export (doca_mmap_cap_is_export_pci_supported()).
 * @param [out] export_desc The descriptor: opaque bytes, owned by the map, valid until it is stopped or
 * destroyed.
 * @param [out] export_desc_len Bytes of the descriptor.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_FOUND: dev was not added to the map.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot export memory to a DPU. opendoca: known before anything but
 *   NULL is checked.
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported, not started, or has no DOCA_ACCESS_FLAG_PCI_READ_*
 *   permission.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_DRIVER: the device failed.
 */
DOCA_STABLE doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
                                              const void **export_desc, size_t *export_desc_len);

/**
 * Make a descriptor with which the peer of an RDMA connection can use the memory. Otherwise as
 * doca_mmap_export_pci().
 *
 * @param [in] mmap The map; not an imported one.
 * @param [in] dev A device that was added.
 * @param [out] export_desc The descriptor: opaque bytes, owned by the map, valid until it is stopped or
 * destroyed.
 * @param [out] export_desc_len Bytes of the descriptor; at most 256 (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_FOUND: dev was not added to the map.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot export memory for RDMA, or came from
 *   doca_rdma_bridge_open_dev_from_pd().
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported, not started, or has no DOCA_ACCESS_FLAG_RDMA_* permission.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_DRIVER: the device failed.
 */
DOCA_STABLE doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
                                               const void **export_desc, size_t *export_desc_len);

/**
 * The handle by which code on a DPA uses the memory.
 *
 * State: started.
 *
 * @param [in] mmap The map.
 * @param [in] dev A device that was added.
 * @param [out] dpa_mmap_handle The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise; no device has a DPA.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
                                                            doca_dpa_dev_mmap_t *dpa_mmap_handle);

/**
 * Create a map of memory that another process exported.
 *
 * The result needs no start: buffers can be made of it at once, from the range that doca_mmap_get_memrange()
 * gives. The rights are those that the exporter set. Destroy it before the exporter stops its own map, if in
 * doubt; if the exporter is first, tasks that use the import fail and nothing else happens.
 *
 * @param [in] user_data Kept for doca_mmap_get_user_data(). NULL is allowed and means zero.
 * @param [in] export_desc A descriptor from doca_mmap_export_pci() or doca_mmap_export_rdma(). It is not
 * needed after the call.
 * @param [in] export_desc_len Its bytes; not 0.
 * @param [in] dev An open device through which the memory will be used; for a descriptor of
 * doca_mmap_export_pci() one with doca_mmap_cap_is_create_from_export_pci_supported(), on the DPU port of the
 * exporter's function, or behind the port that exported.
 * @param [out] mmap The map. Free it with doca_mmap_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer other than user_data is NULL, export_desc_len is 0, or something
 *   inside failed; opendoca: the descriptor is damaged, of a foreign version or no longer valid, or the
 *   exporter has gone.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot import such a descriptor, or came from
 *   doca_rdma_bridge_open_dev_from_pd().
 * - DOCA_ERROR_NOT_PERMITTED: this process may not use the memory. opendoca: the exporter belongs to another
 *   user, is not dumpable or is protected by Yama, lives in another pid namespace, or exported from a function
 *   that is not across the PCIe: one behind another port, or another one of the host. The log names the reason.
 * - DOCA_ERROR_DRIVER: the device failed.
 */
DOCA_STABLE doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
                                                      size_t export_desc_len, struct doca_dev *dev,
                                                      struct doca_mmap **mmap);

/**
 * Set the memory range. Needed before the first start, and possible once.
 *
 * State: configuration phase, no range set.
 *
 * @param [in] mmap The map.
 * @param [in] addr First byte; no alignment is needed.
 * @param [in] len Bytes; not 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, len is 0, or addr + len overflows.
 * - DOCA_ERROR_BAD_STATE: the map is started.
 * - DOCA_ERROR_NOT_PERMITTED: a range is set already; opendoca: the map is imported.
 */
DOCA_STABLE doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * Set the memory range to a part of a dmabuf. Takes the place of doca_mmap_set_memrange().
 *
 * opendoca: which devices can use a dmabuf shows in doca_mmap_start(): it fails with DOCA_ERROR_NOT_SUPPORTED
 * when one of the map's can't, as software devices and Soft-RoCE, and with DOCA_ERROR_INVALID_VALUE when
 * dmabuf_fd is none. The file descriptor may be closed after the call.
 *
 * State: configuration phase, no range set.
 *
 * @param [in] mmap The map.
 * @param [in] dmabuf_fd File descriptor of the dmabuf.
 * @param [in] addr Address at which the map's range begins. opendoca: NULL lets the library map the dmabuf,
 * and the addresses are then those of that mapping, which doca_mmap_get_memrange() gives and which end with
 * the map.
 * @param [in] dmabuf_offset First byte, counted from the dmabuf's start.
 * @param [in] len Bytes; not 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL, dmabuf_fd is negative, len is 0, or dmabuf_offset + len or addr +
 *   len overflows; opendoca: dmabuf_fd is closed, not readable and writable, or ends before dmabuf_offset +
 *   len.
 * - DOCA_ERROR_BAD_STATE: the map is started.
 * - DOCA_ERROR_NOT_PERMITTED: a range is set already; opendoca: the map is imported.
 */
DOCA_STABLE doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
                                                       size_t dmabuf_offset, size_t len);

/**
 * Set the memory range to memory of a DPA. Takes the place of doca_mmap_set_memrange().
 *
 * State: configuration phase, no range set.
 *
 * @param [in] mmap The map.
 * @param [in] dpa The DPA.
 * @param [in] dpa_addr First byte, an address of the DPA.
 * @param [in] len Bytes; not 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or len is 0.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa,
                                                          uint64_t dpa_addr, size_t len);

/**
 * The memory range. State: any in which one is set; an imported map has one.
 *
 * @param [in] mmap The map.
 * @param [out] addr First byte; of an imported map, an address of the exporter, not for the CPU to read.
 * @param [out] len Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or no range is set.
 */
DOCA_STABLE doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/**
 * The key by which a device knows the map's memory, for work requests and code of the program's own.
 *
 * State: started, or imported.
 *
 * Since DOCA 3.2.
 *
 * @param [in] mmap The map.
 * @param [in] dev A device that was added, or the one that the map was imported with.
 * @param [out] mkey The key, in the byte order of the CPU.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the map is not started (opendoca).
 * - DOCA_ERROR_NOT_FOUND: the map does not know the device (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no such key, as a software device.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_get_mkey(struct doca_mmap *mmap, struct doca_dev *dev, uint32_t *mkey);

/**
 * Set what doca_mmap_destroy() calls for the memory range.
 *
 * State: configuration phase.
 *
 * @param [in] mmap The map.
 * @param [in] free_cb The callback; opendoca: NULL for none.
 * @param [in] opaque Handed to it as the cookie.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL.
 * - DOCA_ERROR_BAD_STATE: the map is started.
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported.
 */
DOCA_STABLE doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb,
                                               void *opaque);

/**
 * The word set by doca_mmap_set_user_data(), or given to doca_mmap_create_from_export(). State: any.
 *
 * @param [in] mmap The map.
 * @param [out] user_data The word; zero if none was set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/**
 * How many devices the map can take. State: any.
 *
 * @param [in] mmap The map.
 * @param [out] max_num_devices The limit.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices);

/**
 * How many buffers of the map exist, from all inventories. State: any.
 *
 * @param [in] mmap The map.
 * @param [out] num_bufs The number; with other than 0, the map can be neither stopped nor destroyed.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: doca_mmap_enable_thread_safety() was called: nobody counts.
 */
DOCA_STABLE doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/**
 * Whether the map is exported: one of the export functions succeeded, and no stop came after it. State: any.
 *
 * @param [in] mmap The map.
 * @param [out] exported 1 when it is, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

/**
 * Whether the map is an imported one, from doca_mmap_create_from_export(). State: any.
 *
 * @param [in] mmap The map.
 * @param [out] from_export 1 when it is, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

/**
 * Set how many devices the map can take.
 *
 * State: before the first start.
 *
 * @param [in] mmap The map.
 * @param [in] max_num_devices The limit; at least 1 and not below the number of devices added (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL, or the limit is outside the range above.
 * - DOCA_ERROR_NOT_PERMITTED: the map was started before; opendoca: the map is imported.
 */
DOCA_STABLE doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/**
 * Set what may be done with the memory, and by whom. The mask replaces the earlier one. Reading by the local
 * devices is always allowed; DOCA_ACCESS_FLAG_PCI_READ_WRITE allows them to write, too.
 *
 * State: configuration phase.
 *
 * @param [in] mmap The map.
 * @param [in] access_mask Bits of enum doca_access_flag.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL; an undefined bit is set; or both DOCA_ACCESS_FLAG_PCI_READ_ONLY
 *   and DOCA_ACCESS_FLAG_PCI_READ_WRITE are set.
 * - DOCA_ERROR_BAD_STATE: the map is started.
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported (opendoca).
 */
DOCA_STABLE doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/**
 * Set a word for doca_mmap_get_user_data().
 *
 * State: configuration phase.
 *
 * @param [in] mmap The map.
 * @param [in] user_data The word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL.
 * - DOCA_ERROR_BAD_STATE: the map is started.
 */
DOCA_STABLE doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/**
 * Whether memory can be exported across the PCIe through a local device, by doca_mmap_export_pci(). opendoca:
 * a port of the software DPU acts as the host's first PF behind it, unless DOCA_SOFT_ROLE says which side the
 * process is on. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] mmap_export 1 when it can; with 0, doca_mmap_export_pci() always gives
 * DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
DOCA_STABLE doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
                                                               uint8_t *mmap_export);

/**
 * Whether memory that was exported across the PCIe can be imported through a local device, by
 * doca_mmap_create_from_export(). Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] from_export 1 when it can; with 0, importing such memory always gives
 * DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
DOCA_STABLE doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
                                                                           uint8_t *from_export);

/**
 * Stop counting the map's buffers, so that threads with inventories of their own do not share the counter.
 * The program sees to it that no buffer is left when the map is stopped or destroyed. Cannot be undone.
 *
 * State: configuration phase, no buffer of the map exists.
 *
 * @param [in] mmap The map.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the map is started, or buffers exist.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_H_ */
