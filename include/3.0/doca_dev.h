// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_dev.h
 * Devices: finding one by its properties, opening it, and the representors that stand for other functions.
 *
 * A local device does the work. A representor stands, on the DPU, for a function elsewhere (on the host, or
 * an SF); the DPU device that created the function, its parent, lists it.
 *
 * Order: doca_devinfo_create_list(), look at the elements, doca_dev_open(), doca_devinfo_destroy_list(), ...,
 * doca_dev_close(). Representors in the same order with the rep functions, while the parent device is open.
 *
 * A devinfo is a snapshot taken when its list was created; create the list again to see changes. It dies with
 * its list, except that the devinfo of an opened device stays valid, through doca_dev_as_devinfo(), until the
 * close.
 *
 * A device may lack any of the properties below; a program that looks for one goes on to the next device when
 * a getter fails.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: every function may be called from any thread at any time. The caller sees to it that a list,
 * device or representor is not destroyed or closed while another thread uses it. (opendoca: this covers open
 * and close too.)
 */
#ifndef DOCA_DEV_H_
#define DOCA_DEV_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** An open local device. */
struct doca_dev;

/** An open representor. */
struct doca_dev_rep;

/** Description of a local device. */
struct doca_devinfo;

/** Description of a representor. */
struct doca_devinfo_rep;

/** Which representors to list; the bits may be combined. */
enum doca_devinfo_rep_filter {
    DOCA_DEVINFO_REP_FILTER_ALL = 0,      /**< Every representor. */
    DOCA_DEVINFO_REP_FILTER_NET = 2,      /**< Network functions. */
    DOCA_DEVINFO_REP_FILTER_EMULATED = 4, /**< Emulated functions. */
};

/**
 * List the local devices.
 *
 * @param [out] dev_list An array of pointers, read as (*dev_list)[i]. Free it with
 * doca_devinfo_destroy_list().
 * @param [out] nb_devs Elements of the array; 0 is possible.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory for the list.
 * - DOCA_ERROR_NOT_FOUND: the system's list of RDMA devices cannot be obtained.
 */
DOCA_STABLE doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/**
 * Free a list of local devices and every element of it. Devices opened from it stay open.
 *
 * @param [in] dev_list From doca_devinfo_create_list(), not freed before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev_list is NULL; opendoca: or not a list that exists.
 * - DOCA_ERROR_IN_USE: an element is corrupted.
 */
DOCA_STABLE doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * List the representors that belong to a local device.
 *
 * @param [in] dev An open local device that has representors. opendoca: it may be closed while the list
 * exists.
 * @param [in] filter Bits of enum doca_devinfo_rep_filter.
 * @param [out] dev_list_rep An array of pointers, read as (*dev_list_rep)[i]. Free it with
 * doca_devinfo_rep_destroy_list().
 * @param [out] nb_devs_rep Elements of the array; 0 is possible.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or filter has an undefined bit.
 * - DOCA_ERROR_NO_MEMORY: no memory for the list.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot list representors with this filter (see
 *   doca_devinfo_rep_cap_is_filter_all_supported() and its siblings), or came from
 *   doca_rdma_bridge_open_dev_from_pd().
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
                                                      struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep);

/**
 * Free a list of representors and every element of it. Representors opened from it stay open.
 *
 * @param [in] dev_list_rep From doca_devinfo_rep_create_list(), not freed before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev_list_rep is NULL; opendoca: or not a list that exists.
 * - DOCA_ERROR_IN_USE: the device that the list was created from is corrupted.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no representors.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/**
 * Open a local device. A device that is open already gives the same instance again, and counts.
 *
 * @param [in] devinfo An element of a list that still exists, or the devinfo of an open device.
 * @param [out] dev The device. Each successful open needs its own doca_dev_close().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory, or no protection domain can be allocated.
 * - DOCA_ERROR_NOT_CONNECTED: the device cannot be opened.
 * - DOCA_ERROR_INITIALIZATION: too many devices are open; 256 can be (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: devinfo is that of a device from doca_rdma_bridge_open_dev_from_pd().
 */
DOCA_STABLE doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Undo one doca_dev_open(). The last one closes the device.
 *
 * @param [in] dev An open device. Before its last close, take it out of every memory map, destroy every
 * object created on it, and close its representors.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev is NULL (opendoca).
 * - DOCA_ERROR_IN_USE: this is the last close and something still uses the device; it stays open.
 */
DOCA_STABLE doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * Have the device give back, sooner than it would by itself, what destroyed objects have left. May be called
 * again after DOCA_ERROR_AGAIN.
 *
 * @param [in] dev An open device.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev is NULL.
 * - DOCA_ERROR_DRIVER: the device failed.
 * - DOCA_ERROR_AGAIN: the device is still busy with the last call.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it, see
 *   doca_devinfo_cap_is_accelerate_resource_reclaim_supported(). opendoca: always.
 */
DOCA_EXPERIMENTAL doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

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
DOCA_STABLE doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/**
 * Close a representor.
 *
 * @param [in] dev An open representor that nothing uses any more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dev is NULL.
 * - DOCA_ERROR_IN_USE: something still uses the representor; it stays open.
 * - DOCA_ERROR_NOT_SUPPORTED: the local device cannot open representors.
 */
DOCA_STABLE doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/**
 * The description of an open device.
 *
 * @param [in] dev An open device.
 * @return Its devinfo, valid until the last close and not to be freed; or NULL when dev is NULL, invalid, or
 * came from doca_rdma_bridge_open_dev_from_pd().
 */
DOCA_STABLE struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/**
 * The description of an open representor.
 *
 * @param [in] dev_rep An open representor.
 * @return Its devinfo, valid until the close and not to be freed; or NULL when dev_rep is NULL or invalid.
 */
DOCA_STABLE struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/**
 * The PCI address of a local device, as "dddd:bb:dd.f".
 *
 * @param [in] devinfo The device.
 * @param [out] pci_addr_str DOCA_DEVINFO_PCI_ADDR_SIZE bytes or more; NUL terminated.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_OPERATING_SYSTEM: the operating system does not tell the address.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);

/**
 * Whether a local device has this PCI address. opendoca: a software device may answer to further addresses;
 * and when a list is destroyed in which an address was looked for that no element has, the log says which
 * ones there are.
 *
 * @param [in] devinfo The device.
 * @param [in] pci_addr_str "dddd:bb:dd.f" or "bb:dd.f", hexadecimal, NUL terminated.
 * @param [out] is_equal 1 when it is the device's address, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or pci_addr_str has neither of the two forms.
 * - DOCA_ERROR_OPERATING_SYSTEM: the operating system does not tell the device's address.
 */
DOCA_STABLE doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str,
                                                        uint8_t *is_equal);

/**
 * The IPv4 address of a local device's network interface.
 *
 * @param [in] devinfo The device.
 * @param [out] ipv4_addr The address, in network byte order.
 * @param [in] size Bytes at ipv4_addr; DOCA_DEVINFO_IPV4_ADDR_SIZE or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is too small.
 * - DOCA_ERROR_NOT_FOUND: the interface has no such address.
 * - DOCA_ERROR_OPERATING_SYSTEM: it cannot be read.
 */
DOCA_STABLE doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr,
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
DOCA_STABLE doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr,
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
DOCA_STABLE doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
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
DOCA_STABLE doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
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
DOCA_STABLE doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
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
DOCA_STABLE doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

#if OPENDOCA_LEVEL >= 20700
/**
 * The rate of a local device's port.
 *
 * @param [in] devinfo The device.
 * @param [out] active_rate Bits per second; opendoca: the data rate that the link is named by, as
 * 100000000000 of 4X EDR, which is four lanes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the port could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the port has no rate. opendoca: it is down, or could not be queried when the
 *   list was made. A software device has the rate of its topology, 100 Gb/s by default, and none if that is 0.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate);
#endif

/**
 * The number by which the card knows a local device's function (VHCA).
 *
 * @param [in] devinfo The device.
 * @param [out] vhca_id The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has none. opendoca: it is neither a software device, whose topology
 *   numbers the functions, nor an mlx5 device that takes commands.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);

/**
 * The kind of a local device's function.
 *
 * Since DOCA 3.1.
 *
 * @param [in] devinfo The device.
 * @param [out] pci_func_type Physical, virtual or sub-function.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not tell the kind.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
                                                              enum doca_pci_func_type *pci_func_type);

/**
 * The number of a local device that is a sub-function, as it was given when the SF was created.
 *
 * Since DOCA 3.1.
 *
 * @param [in] devinfo The device.
 * @param [out] sf_index The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device is no SF, or its number is not known. opendoca: known are those of
 *   mlx5's SFs, from the kernel, and of software devices, from their topology.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

/**
 * Whether a local device can plug and unplug emulated functions.
 *
 * @param [in] devinfo The device.
 * @param [out] is_hotplug_manager 1 when it can, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
DOCA_STABLE doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
                                                                       uint8_t *is_hotplug_manager);

/**
 * Whether a local device can hold notifications back, to tell of several completions at once.
 *
 * @param [in] devinfo The device.
 * @param [out] is_notification_moderation_supported 1 when it can, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_cap_is_notification_moderation_supported(
    const struct doca_devinfo *devinfo, uint8_t *is_notification_moderation_supported);

/**
 * Whether a local device can list its representors with DOCA_DEVINFO_REP_FILTER_ALL.
 *
 * @param [in] devinfo The device.
 * @param [out] filter_all_supported 1 when it can; with 0, or an error, that list always gives
 * DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot list representors, by whatever filter.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
                                                                      uint8_t *filter_all_supported);

/**
 * Whether a local device can list its representors with DOCA_DEVINFO_REP_FILTER_NET.
 *
 * @param [in] devinfo The device.
 * @param [out] filter_net_supported 1 when it can; with 0, or an error, that list always gives
 * DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: as of doca_devinfo_rep_cap_is_filter_all_supported().
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
                                                                      uint8_t *filter_net_supported);

/**
 * Whether a local device can list its representors with DOCA_DEVINFO_REP_FILTER_EMULATED.
 *
 * @param [in] devinfo The device.
 * @param [out] filter_emulated_supported 1 when it can; with 0, or an error, that list always gives
 * DOCA_ERROR_NOT_SUPPORTED.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: as of doca_devinfo_rep_cap_is_filter_all_supported().
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
                                                                           uint8_t *filter_emulated_supported);

/**
 * Whether doca_dev_accelerate_resource_reclaim() works on a local device.
 *
 * @param [in] devinfo The device.
 * @param [out] is_accelerate_resource_reclaim 1 when it does, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
    const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim);

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
DOCA_STABLE doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
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
DOCA_STABLE doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
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
DOCA_STABLE doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
                                                            enum doca_pci_func_type *pci_func_type);

/**
 * Whether the function that a representor stands for was plugged in by this side, and so can be unplugged.
 *
 * @param [in] devinfo_rep The representor.
 * @param [out] is_hotplug 1 when it was, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not tell.
 */
DOCA_STABLE doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep,
                                                         uint8_t *is_hotplug);

/**
 * The name of the representor's own network interface, on this side.
 *
 * @param [in] devinfo_rep The representor.
 * @param [out] iface_name The name, NUL terminated.
 * @param [in] size Bytes at iface_name; DOCA_DEVINFO_IFACE_NAME_SIZE or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is too small.
 * - DOCA_ERROR_NOT_SUPPORTED: the representor has no interface.
 *
 * opendoca: a software device's is a name only, from its topology (by default pf0hpf, pf0vf0, pf0sf0 and so on, as
 * on a BlueField): the machine has no such interface.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep,
                                                               char *iface_name, uint32_t size);

/**
 * The number by which the card knows the function that a representor stands for (VHCA).
 *
 * @param [in] devinfo_rep The representor.
 * @param [out] vhca_id The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not report it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep,
                                                            uint16_t *vhca_id);

/**
 * Whether the represented function has this PCI address on its own side. opendoca: the same as of
 * doca_devinfo_is_equal_pci_addr().
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
DOCA_STABLE doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
                                                            const char *pci_addr_str, uint8_t *is_equal);

#if OPENDOCA_LEVEL < 20700
#include <opendoca/older/dev.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H_ */
