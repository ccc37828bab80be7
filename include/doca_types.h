// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_types.h
 * Types that several libraries share.
 */
#ifndef DOCA_TYPES_H_
#define DOCA_TYPES_H_

#include <linux/types.h>
#include <stdint.h>

#include <opendoca/level.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Something to wait on with poll or epoll: a file descriptor. */
typedef int doca_event_handle_t;

/** A doca_event_handle_t that tells of completed work. */
typedef doca_event_handle_t doca_notification_handle_t;

/** The handle that is none. */
#define doca_event_invalid_handle (-1)

/** Integers in network byte order. */
typedef __be16 doca_be16_t;
typedef __be32 doca_be32_t;
typedef __be64 doca_be64_t;

/** Bytes of a global identifier (GID) of an RDMA port. */
#define DOCA_GID_BYTE_LENGTH 16

/** A word that belongs to the user and is handed back as it was given, as a pointer or as a number. */
union doca_data {
    void *ptr;    /**< As a pointer. */
    uint64_t u64; /**< As a number. */
};

/** Who may do what with memory: a mask. At most one of the two DPU flags. */
enum doca_access_flags {
#if OPENDOCA_LEVEL <= 10500
    /* Of doca_buf_get_lkey(). The numbers mean something else than those below, which DOCA 2 began. */
    DOCA_ACCESS_LOCAL_READ = 0,
    DOCA_ACCESS_LOCAL_WRITE = 1,
    DOCA_ACCESS_REMOTE_WRITE = 2,
    DOCA_ACCESS_REMOTE_READ = 4,
    DOCA_ACCESS_REMOTE_ATOMIC = 8,
#endif
    DOCA_ACCESS_LOCAL_READ_ONLY = 0,       /**< The own device may read. Always granted. */
    DOCA_ACCESS_LOCAL_READ_WRITE = 1 << 0, /**< The own device may read and write. */
    DOCA_ACCESS_RDMA_READ = 1 << 1,        /**< RDMA peers may read. */
    DOCA_ACCESS_RDMA_WRITE = 1 << 2,       /**< RDMA peers may write. */
    DOCA_ACCESS_RDMA_ATOMIC = 1 << 3,      /**< RDMA peers may do atomic operations. */
    DOCA_ACCESS_DPU_READ_ONLY = 1 << 4,    /**< The DPU may read across the PCIe. */
    DOCA_ACCESS_DPU_READ_WRITE = 1 << 5,   /**< The DPU may read and write across the PCIe. */
};

/** What a PCI function is. */
enum doca_pci_func_type {
    DOCA_PCI_FUNC_PF = 0, /**< Physical function. */
    DOCA_PCI_FUNC_VF = 1, /**< Virtual function. */
    DOCA_PCI_FUNC_SF = 2, /**< Scalable function (subfunction). */
};

/** Where memory for a GPU lives, and who else can reach it. */
enum doca_gpu_mem_type {
    DOCA_GPU_MEM_GPU = 0,     /**< On the GPU, for the GPU alone. */
    DOCA_GPU_MEM_GPU_CPU = 1, /**< On the GPU, also reachable by the CPU. */
    DOCA_GPU_MEM_CPU = 2,     /**< In main memory, for the CPU alone. */
    DOCA_GPU_MEM_CPU_GPU = 3, /**< In main memory, also reachable by the GPU. */
};

/** Who makes a packet wait until its time to be sent. */
enum doca_eth_wait_on_time {
    DOCA_ETH_WAIT_ON_TIME_NONE = 0,   /**< Nobody: not available. */
    DOCA_ETH_WAIT_ON_TIME_NATIVE = 1, /**< The device itself. */
    DOCA_ETH_WAIT_ON_TIME_DPDK = 2,   /**< DPDK. */
};

/** Size of the largest packet on a path (MTU). */
enum doca_mtu_size {
    DOCA_MTU_SIZE_256_BYTES = 0,
    DOCA_MTU_SIZE_512_BYTES = 1,
    DOCA_MTU_SIZE_1K_BYTES = 2,
    DOCA_MTU_SIZE_2K_BYTES = 3,
    DOCA_MTU_SIZE_4K_BYTES = 4,
    DOCA_MTU_SIZE_RAW_ETHERNET = 5, /**< That of the Ethernet port. */
};

#if OPENDOCA_LEVEL < 20200
#include <opendoca/older/types.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_TYPES_H_ */
