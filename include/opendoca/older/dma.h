// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/dma.h
 * What doca_dma.h has more, and other, at a level up to 20002. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_DMA_H_
#define OPENDOCA_OLDER_DMA_H_

/**
 * Create a DMA object, whose copies overwrite: data lands at the destination's data address, whatever is there,
 * there is room up to the end of the buffer, and the data length becomes that of the copy. While a copy is in
 * flight, and after one that has failed, the destination's data length is undefined.
 *
 * @param [out] dma The object. Free it with doca_dma_destroy().
 * @return As doca_dma_create() of DOCA 2.2.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dma_create(struct doca_dma **dma) OPENDOCA_BOUND_TO(opendoca_dma_create_1_3);

#if OPENDOCA_LEVEL <= 10500

/** What a device does for DMA. */
enum doca_dma_devinfo_caps {
    DOCA_DMA_CAP_NONE = 0,       /**< Nothing. */
    DOCA_DMA_CAP_HW_OFFLOAD = 1, /**< Copies. */
};

#endif

#if OPENDOCA_LEVEL < 10500

__DOCA_EXPERIMENTAL doca_error_t doca_dma_job_get_supported(struct doca_devinfo *devinfo,
                                                            enum doca_dma_job_types job_type);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/**
 * What a device does for DMA. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] caps Bits of enum doca_dma_devinfo_caps.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
static inline doca_error_t doca_dma_devinfo_caps_get(struct doca_devinfo *devinfo, uint32_t *caps)
{
    if (devinfo == NULL || caps == NULL)
        return DOCA_ERROR_INVALID_VALUE;
    *caps = doca_dma_job_get_supported(devinfo, DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS ? DOCA_DMA_CAP_HW_OFFLOAD
                                                                                     : DOCA_DMA_CAP_NONE;
    return DOCA_SUCCESS;
}

#pragma GCC diagnostic pop

#endif

#endif /* OPENDOCA_OLDER_DMA_H_ */
