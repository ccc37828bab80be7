// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/dev.h
 * What doca_dev.h has more at a level up to 20002. Included by it, inside of extern "C".
 *
 * Programs of these levels read an address and compare it themselves. So the lists of devices and of
 * representors have, behind all others, one more element for each further address that a function answers to
 * (opendoca). Opened, such an element is the same device.
 */
#ifndef OPENDOCA_OLDER_DEV_H_
#define OPENDOCA_OLDER_DEV_H_

__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
    OPENDOCA_BOUND_TO(opendoca_devinfo_list_create_1_3);

/** A filter of levels up to 10500 for emulated functions, which no device has, is DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter,
                                                              struct doca_devinfo_rep ***dev_list_rep,
                                                              uint32_t *nb_devs_rep)
    OPENDOCA_BOUND_TO(opendoca_devinfo_rep_list_create_1_3);

#if OPENDOCA_LEVEL >= 10500

/**
 * PCI address of a device. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] pci_addr The address, without its domain.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_OPERATING_SYSTEM: the device is on no PCI bus.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_pci_addr(const struct doca_devinfo *devinfo,
                                                           struct doca_pci_bdf *pci_addr)
    OPENDOCA_BOUND_TO(opendoca_devinfo_get_pci_addr_1_5);

/**
 * PCI address of the function that a representor stands for. Threads: any.
 *
 * @param [in] devinfo_rep The representor.
 * @param [out] pci_addr The address, without its domain.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the function is on no PCI bus.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_get_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
                                                               struct doca_pci_bdf *pci_addr)
    OPENDOCA_BOUND_TO(opendoca_devinfo_rep_get_pci_addr_1_5);

/**
 * Whether doca_mmap_export() works through a device, of either side of the PCIe. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] mmap_export 1 when it does, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_is_mmap_export_supported(const struct doca_devinfo *devinfo,
                                                                           uint8_t *mmap_export)
#if OPENDOCA_LEVEL == 10500
    OPENDOCA_BOUND_TO(opendoca_devinfo_get_is_mmap_export_supported_1_5);
#else
    OPENDOCA_BOUND_TO(doca_devinfo_get_is_mmap_export_dpu_supported);
#endif

/**
 * Whether doca_mmap_create_from_export() works through a device, of either side of the PCIe. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] from_export 1 when it does, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_is_mmap_from_export_supported(const struct doca_devinfo *devinfo,
                                                                                uint8_t *from_export)
#if OPENDOCA_LEVEL == 10500
    OPENDOCA_BOUND_TO(opendoca_devinfo_get_is_mmap_from_export_supported_1_5);
#else
    OPENDOCA_BOUND_TO(doca_devinfo_get_is_mmap_from_export_dpu_supported);
#endif

#else /* 10300 and 10400 */

/** What doca_devinfo_property_get() can tell of a device. The values are ours: no header of that time is known. */
enum doca_devinfo_property {
    DOCA_DEVINFO_PROPERTY_PCI_ADDR = 0,   /**< struct doca_pci_bdf. */
    DOCA_DEVINFO_PROPERTY_IPV4_ADDR = 1,  /**< DOCA_DEVINFO_IPV4_ADDR_SIZE bytes. */
    DOCA_DEVINFO_PROPERTY_IPV6_ADDR = 2,  /**< DOCA_DEVINFO_IPV6_ADDR_SIZE bytes. */
    DOCA_DEVINFO_PROPERTY_IFACE_NAME = 3, /**< Text of DOCA_DEVINFO_IFACE_NAME_SIZE bytes. */
    DOCA_DEVINFO_PROPERTY_IBDEV_NAME = 4, /**< Text of DOCA_DEVINFO_IBDEV_NAME_SIZE bytes. */
    DOCA_DEVINFO_PROPERTY_VUID = 5,       /**< Text of DOCA_DEVINFO_VUID_SIZE bytes. */
};

/**
 * A property of a device. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [in] property Which one.
 * @param [out] value Where it goes, as the property says.
 * @param [in] size Bytes of value; as many as the property says, or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, size is too small, or there is no such property.
 * - DOCA_ERROR_OPERATING_SYSTEM: the device has none.
 * - DOCA_ERROR_NOT_SUPPORTED: the VUID, of what is no software device (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_property_get(const struct doca_devinfo *devinfo,
                                                           enum doca_devinfo_property property, uint8_t *value,
                                                           uint32_t size)
    OPENDOCA_BOUND_TO(opendoca_devinfo_property_get_1_3);

/** What doca_devinfo_rep_property_get() can tell of a representor. The values are ours. */
enum doca_devinfo_rep_property {
    DOCA_DEVINFO_REP_PROPERTY_PCI_ADDR = 0,      /**< struct doca_pci_bdf. */
    DOCA_DEVINFO_REP_PROPERTY_VUID = 1,          /**< Text of DOCA_DEVINFO_REP_VUID_SIZE bytes. */
    DOCA_DEVINFO_REP_PROPERTY_PCI_FUNC_TYPE = 2, /**< enum doca_pci_func_type. */
};

/**
 * A property of a representor. Threads: any.
 *
 * @param [in] devinfo_rep The representor.
 * @param [in] property Which one.
 * @param [out] value Where it goes, as the property says.
 * @param [in] size Bytes of value; as many as the property says, or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, size is too small, or there is no such property.
 * - DOCA_ERROR_NOT_SUPPORTED: the function is on no PCI bus.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_devinfo_rep_property_get(const struct doca_devinfo_rep *devinfo_rep,
                                                               enum doca_devinfo_rep_property property, uint8_t *value,
                                                               uint32_t size)
    OPENDOCA_BOUND_TO(opendoca_devinfo_rep_property_get_1_3);

#endif

#if OPENDOCA_LEVEL == 10300

/* Representors by their first name. */
#define doca_devinfo_remote doca_devinfo_rep
#define doca_dev_remote doca_dev_rep
#define doca_dev_remote_filter doca_dev_rep_filter
#define DOCA_DEV_REMOTE_FILTER_ALL DOCA_DEV_REP_FILTER_ALL
#define DOCA_DEV_REMOTE_FILTER_NET DOCA_DEV_REP_FILTER_NET
#define doca_devinfo_remote_list_create doca_devinfo_rep_list_create
#define doca_devinfo_remote_list_destroy doca_devinfo_rep_list_destroy
#define doca_devinfo_remote_property doca_devinfo_rep_property
#define DOCA_DEVINFO_REMOTE_PROPERTY_PCI_ADDR DOCA_DEVINFO_REP_PROPERTY_PCI_ADDR
#define DOCA_DEVINFO_REMOTE_PROPERTY_VUID DOCA_DEVINFO_REP_PROPERTY_VUID
#define DOCA_DEVINFO_REMOTE_PROPERTY_PCI_FUNC_TYPE DOCA_DEVINFO_REP_PROPERTY_PCI_FUNC_TYPE
#define DOCA_DEVINFO_REMOTE_VUID_SIZE DOCA_DEVINFO_REP_VUID_SIZE
#define doca_devinfo_remote_property_get doca_devinfo_rep_property_get
#define doca_dev_remote_open doca_dev_rep_open
#define doca_dev_remote_close doca_dev_rep_close
#define doca_dev_remote_as_devinfo doca_dev_rep_as_devinfo

#endif

#if OPENDOCA_LEVEL <= 10500

/**
 * Whether doca_devinfo_rep_list_create() takes one of the filters for emulated functions, which no device does:
 * the answer is 0. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] virtio_fs_supported, virtio_net_supported, virtio_blk_supported, nvme_supported 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
static inline doca_error_t doca_devinfo_rep_get_is_list_virtio_fs_supported(const struct doca_devinfo *devinfo,
                                                                            uint8_t *virtio_fs_supported)
{
    if (devinfo == NULL || virtio_fs_supported == NULL)
        return DOCA_ERROR_INVALID_VALUE;
    *virtio_fs_supported = 0;
    return DOCA_SUCCESS;
}

static inline doca_error_t doca_devinfo_rep_get_is_list_virtio_net_supported(const struct doca_devinfo *devinfo,
                                                                             uint8_t *virtio_net_supported)
{
    return doca_devinfo_rep_get_is_list_virtio_fs_supported(devinfo, virtio_net_supported);
}

static inline doca_error_t doca_devinfo_rep_get_is_list_virtio_blk_supported(const struct doca_devinfo *devinfo,
                                                                             uint8_t *virtio_blk_supported)
{
    return doca_devinfo_rep_get_is_list_virtio_fs_supported(devinfo, virtio_blk_supported);
}

static inline doca_error_t doca_devinfo_rep_get_is_list_nvme_supported(const struct doca_devinfo *devinfo,
                                                                       uint8_t *nvme_supported)
{
    return doca_devinfo_rep_get_is_list_virtio_fs_supported(devinfo, nvme_supported);
}

#endif

#endif /* OPENDOCA_OLDER_DEV_H_ */
