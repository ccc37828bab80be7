// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_dev.h
 * Devices: finding one by its properties, opening it, and the representors that stand for other functions.
 *
 * A local device does the work. A representor stands, on the DPU, for a function elsewhere (on the host, or
 * an SF); the DPU device that created the function, its parent, lists it.
 *
 * Order: doca_devinfo_list_create(), look at the elements, doca_dev_open(), doca_devinfo_list_destroy(), ...,
 * doca_dev_close(). Representors in the same order with the rep functions, while the parent device is open.
 *
 * A devinfo is a snapshot taken when its list was created; create the list again to see changes. It dies with
 * its list, except that the devinfo of an opened device stays valid, through doca_dev_as_devinfo(), until the
 * close.
 *
 * NULL: as doca_error.h says for all headers.
 * Outputs are written only on success.
 * Threads: every function may be called from any thread at any time. The caller sees to it that a list,
 * device or representor is not destroyed or closed while another thread uses it. (opendoca: this covers open
 * and close too.)
 */
#ifndef DOCA_DEV_H_
#define DOCA_DEV_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Description of a local device. */
struct doca_devinfo;

/** Description of a representor. */
struct doca_devinfo_rep;

/** An open local device. */
struct doca_dev;

/** An open representor. */
struct doca_dev_rep;

/** Bytes of a local device's VUID, terminating NUL included. */
#define DOCA_DEVINFO_VUID_SIZE 128
/** Bytes of an IPv4 address. */
#define DOCA_DEVINFO_IPV4_ADDR_SIZE 4
/** Bytes of an IPv6 address. */
#define DOCA_DEVINFO_IPV6_ADDR_SIZE 16
/** Bytes of a MAC address. */
#define DOCA_DEVINFO_MAC_ADDR_SIZE 6
/** Bytes of a network interface name, terminating NUL included. */
#define DOCA_DEVINFO_IFACE_NAME_SIZE 256
/** Bytes of an RDMA device name, terminating NUL included. */
#define DOCA_DEVINFO_IBDEV_NAME_SIZE 64
/** Bytes of a PCI address "dddd:bb:dd.f", terminating NUL included. */
#define DOCA_DEVINFO_PCI_ADDR_SIZE 13
/** Bytes of a PCI address without its domain, "bb:dd.f", terminating NUL included. */
#define DOCA_DEVINFO_PCI_BDF_SIZE 8
/** Bytes of a representor's VUID, terminating NUL included. */
#define DOCA_DEVINFO_REP_VUID_SIZE 128
/** As DOCA_DEVINFO_PCI_ADDR_SIZE, for representors. */
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13
/** As DOCA_DEVINFO_PCI_BDF_SIZE, for representors. */
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE 8

/** Which representors to list; the bits may be combined. */
enum doca_dev_rep_filter {
    DOCA_DEV_REP_FILTER_ALL = 0,      /**< Every representor. */
    DOCA_DEV_REP_FILTER_NET = 2,      /**< Network functions. */
    DOCA_DEV_REP_FILTER_EMULATED = 4, /**< Emulated functions. */
#if OPENDOCA_LEVEL <= 10500
    DOCA_DEV_REP_FILTER_VIRTIO_FS = 4, /* Emulated functions, one by one. */
    DOCA_DEV_REP_FILTER_VIRTIO_NET = 8,
    DOCA_DEV_REP_FILTER_VIRTIO_BLK = 16,
    DOCA_DEV_REP_FILTER_NVME = 32,
#endif
};

#if OPENDOCA_LEVEL < 20200
#include <opendoca/older/dev.h>
#endif

/**
 * List the local devices.
 *
 * @param [out] dev_list An array of pointers, read as (*dev_list)[i]. Free it with
 * doca_devinfo_list_destroy().
 * @param [out] nb_devs Elements of the array; 0 is possible.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory for the list.
 * - DOCA_ERROR_NOT_FOUND: the system's list of RDMA devices cannot be obtained.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/**
 * Free a list of local devices and every element of it. Devices opened from it stay open.
 *
 * @param [in] dev_list From doca_devinfo_list_create(), not freed before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev_list is NULL; opendoca: or not a list that exists.
 * - DOCA_ERROR_IN_USE: an element is corrupted.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **dev_list);

/**
 * List the representors that belong to a local device.
 *
 * @param [in] dev An open local device that has representors. opendoca: it may be closed while the list exists.
 * @param [in] filter Bits of enum doca_dev_rep_filter.
 * @param [out] dev_list_rep An array of pointers, read as (*dev_list_rep)[i]. Free it with
 * doca_devinfo_rep_list_destroy().
 * @param [out] nb_devs_rep Elements of the array; 0 is possible.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or filter has an undefined bit.
 * - DOCA_ERROR_NO_MEMORY: no memory for the list.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot list representors with this filter (see
 *   doca_devinfo_rep_get_is_list_all_supported() and its siblings), or came from doca_dev_open_from_pd().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter,
                                                              struct doca_devinfo_rep ***dev_list_rep,
                                                              uint32_t *nb_devs_rep);

/**
 * Free a list of representors and every element of it. Representors opened from it stay open.
 *
 * @param [in] dev_list_rep From doca_devinfo_rep_list_create(), not freed before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev_list_rep is NULL; opendoca: or not a list that exists.
 * - DOCA_ERROR_IN_USE: the device that the list was created from is corrupted.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no representors.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **dev_list_rep);

/**
 * Open a local device. A device that is open already gives the same instance again.
 *
 * @param [in] devinfo An element of a list that still exists, or the devinfo of an open device.
 * @param [out] dev The device. opendoca: each successful open needs its own doca_dev_close().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory, or no protection domain can be allocated.
 * - DOCA_ERROR_NOT_CONNECTED: the device cannot be opened.
 * - DOCA_ERROR_INITIALIZATION: too many devices are open; 256 can be (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Close a local device.
 *
 * @param [in] dev An open device. Before its last close, take it out of every memory map and context (or
 * destroy these), and close its representors.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev is NULL (opendoca).
 * - DOCA_ERROR_IN_USE: this is the last close and something still uses the device; it stays open.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * Open a representor.
 *
 * @param [in] devinfo An element of a list that still exists.
 * @param [out] dev_rep The representor. Close it with doca_dev_rep_close().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the local device cannot open representors.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/**
 * Close a representor.
 *
 * @param [in] dev An open representor that nothing uses any more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev is NULL.
 * - DOCA_ERROR_IN_USE: something still uses the representor; it stays open.
 * - DOCA_ERROR_NOT_SUPPORTED: the local device cannot open representors.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/**
 * The description of an open device.
 *
 * @param [in] dev An open device.
 * @return Its devinfo, valid until the last close and not to be freed; or NULL when dev is NULL, invalid, or
 * came from doca_dev_open_from_pd().
 */
__DOCA_EXPERIMENTAL struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/**
 * The description of an open representor.
 *
 * @param [in] dev_rep An open representor.
 * @return Its devinfo, valid until the close and not to be freed; or NULL when dev_rep is NULL or invalid.
 */
__DOCA_EXPERIMENTAL struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/**
 * The PCI address of a local device, as "dddd:bb:dd.f".
 *
 * @param [in] devinfo The device.
 * @param [out] pci_addr_str DOCA_DEVINFO_PCI_ADDR_SIZE bytes or more; NUL terminated.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_OPERATING_SYSTEM: the operating system does not tell the address.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);

/**
 * Whether a local device has this PCI address. opendoca: a software device may answer to further addresses; and
 * when a list is destroyed in which an address was looked for that no element has, the log says which ones
 * there are.
 *
 * @param [in] devinfo The device.
 * @param [in] pci_addr_str "dddd:bb:dd.f" or "bb:dd.f", hexadecimal, NUL terminated.
 * @param [out] is_equal 1 when it is the device's address, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or pci_addr_str has neither of the two forms.
 * - DOCA_ERROR_OPERATING_SYSTEM: the operating system does not tell the device's address.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_is_pci_addr_equal(const struct doca_devinfo *devinfo,
                                                                    const char *pci_addr_str, uint8_t *is_equal);

/**
 * The IPv4 address of a local device's network interface.
 *
 * @param [in] devinfo The device.
 * @param [out] ipv4_addr The address, in network byte order.
 * @param [in] size Bytes at ipv4_addr; DOCA_DEVINFO_IPV4_ADDR_SIZE or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is too small.
 * - DOCA_ERROR_OPERATING_SYSTEM: the interface has no such address, or it cannot be read.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr,
                                                            uint32_t size);

/**
 * The IPv6 address of a local device's network interface.
 *
 * @param [in] devinfo The device.
 * @param [out] ipv6_addr The address, in network byte order.
 * @param [in] size Bytes at ipv6_addr; DOCA_DEVINFO_IPV6_ADDR_SIZE or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is too small.
 * - DOCA_ERROR_OPERATING_SYSTEM: the interface has no such address, or it cannot be read.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr,
                                                            uint32_t size);

/**
 * The MAC address of a local device's port.
 *
 * @param [in] devinfo The device.
 * @param [out] mac_addr The address, first byte first.
 * @param [in] size Bytes at mac_addr; DOCA_DEVINFO_MAC_ADDR_SIZE or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is too small.
 * - DOCA_ERROR_NOT_SUPPORTED: the port's link layer is not Ethernet.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
                                                           uint32_t size);

/**
 * The network interface name of a local device.
 *
 * @param [in] devinfo The device.
 * @param [out] iface_name The name, NUL terminated.
 * @param [in] size Bytes at iface_name; DOCA_DEVINFO_IFACE_NAME_SIZE or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is too small.
 * - DOCA_ERROR_OPERATING_SYSTEM: the operating system does not tell the name.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
                                                             uint32_t size);

/**
 * The RDMA device name of a local device.
 *
 * @param [in] devinfo The device.
 * @param [out] ibdev_name The name, NUL terminated.
 * @param [in] size Bytes at ibdev_name; DOCA_DEVINFO_IBDEV_NAME_SIZE or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is too small.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
                                                             uint32_t size);

/**
 * The InfiniBand local identifier (LID) of a local device's port.
 *
 * @param [in] devinfo The device.
 * @param [out] lid The LID, in host byte order.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the port could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the port's link layer is not InfiniBand.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/**
 * Whether a local device can plug and unplug emulated functions.
 *
 * @param [in] devinfo The device.
 * @param [out] is_hotplug_manager 1 when it can, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
                                                                               uint8_t *is_hotplug_manager);

/**
 * Whether memory can be exported to the DPU through a local device, by doca_mmap_export_dpu(). opendoca: a port
 * of the software DPU acts as the host's first PF behind it, unless DOCA_SOFT_ROLE says which side the process is
 * on.
 *
 * @param [in] devinfo The device.
 * @param [out] mmap_export 1 when it can; with 0, doca_mmap_export_dpu() always gives
 * DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_is_mmap_export_dpu_supported(const struct doca_devinfo *devinfo,
                                                                               uint8_t *mmap_export);

/**
 * Whether memory that the other side of the PCIe exported can be imported through a local device, by
 * doca_mmap_create_from_export().
 *
 * @param [in] devinfo The device.
 * @param [out] from_export 1 when it can; with 0, importing such memory always gives
 * DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_is_mmap_from_export_dpu_supported(const struct doca_devinfo *devinfo,
                                                                                    uint8_t *from_export);

/**
 * Whether a local device can list its representors with DOCA_DEV_REP_FILTER_ALL.
 *
 * @param [in] devinfo The device.
 * @param [out] all_supported 1 when it can; with 0, that list always gives DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_is_list_all_supported(const struct doca_devinfo *devinfo,
                                                                            uint8_t *all_supported);

/**
 * Whether a local device can list its representors with DOCA_DEV_REP_FILTER_NET.
 *
 * @param [in] devinfo The device.
 * @param [out] net_supported 1 when it can; with 0, that list always gives DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_is_list_net_supported(const struct doca_devinfo *devinfo,
                                                                            uint8_t *net_supported);

/**
 * Whether a local device can list its representors with DOCA_DEV_REP_FILTER_EMULATED.
 *
 * @param [in] devinfo The device.
 * @param [out] emulated_supported 1 when it can; with 0, that list always gives DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_is_list_emulated_supported(const struct doca_devinfo *devinfo,
                                                                                 uint8_t *emulated_supported);

/**
 * The VUID (vendor's unique identifier) of the function that a representor stands for. The function's own
 * side sees the same one.
 *
 * @param [in] devinfo_rep The representor.
 * @param [out] rep_vuid The VUID, NUL terminated.
 * @param [in] size Bytes at rep_vuid; DOCA_DEVINFO_REP_VUID_SIZE or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is too small.
 * - DOCA_ERROR_NOT_SUPPORTED: the function has no VUID.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
                                                           uint32_t size);

/**
 * The PCI address, as "dddd:bb:dd.f", that the represented function has on its own side (the host).
 *
 * @param [in] devinfo_rep The representor.
 * @param [out] pci_addr_str DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes or more; NUL terminated.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not tell the address.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_UNEXPECTED: the device gave an address that makes no sense.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
                                                                   char *pci_addr_str);

/**
 * The kind of the function that a representor stands for.
 *
 * @param [in] devinfo_rep The representor.
 * @param [out] pci_func_type Physical, virtual or sub-function.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not tell the kind.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
                                                                    enum doca_pci_func_type *pci_func_type);

/**
 * Whether the represented function has this PCI address on its own side. opendoca: the same as of
 * doca_devinfo_get_is_pci_addr_equal().
 *
 * @param [in] devinfo_rep The representor.
 * @param [in] pci_addr_str "dddd:bb:dd.f" or "bb:dd.f", hexadecimal, NUL terminated.
 * @param [out] is_equal 1 when it is the function's address, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or pci_addr_str has neither of the two forms.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not tell the function's address.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_UNEXPECTED: the device gave an address that makes no sense.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const struct doca_devinfo_rep *devinfo_rep,
                                                                        const char *pci_addr_str, uint8_t *is_equal);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H_ */
