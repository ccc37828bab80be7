// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_types.h
 * Types that several libraries share.
 */
#ifndef DOCA_TYPES_H_
#define DOCA_TYPES_H_

#include <stdint.h>

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The handle that is none. */
#define doca_event_invalid_handle (-1)

/** Bytes of a global identifier (GID) of an RDMA port. */
#define DOCA_GID_BYTE_LENGTH 16

/**
 * Who may do what with memory: a mask. At most one of PCI_READ_ONLY and PCI_READ_WRITE, which allow the own
 * device the same.
 */
enum doca_access_flag {
    DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0,       /**< The own device may read. Always granted. */
    DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = 1,      /**< The own device may read and write. */
    DOCA_ACCESS_FLAG_RDMA_READ = 2,             /**< RDMA peers may read. */
    DOCA_ACCESS_FLAG_RDMA_WRITE = 4,            /**< RDMA peers may write. */
    DOCA_ACCESS_FLAG_RDMA_ATOMIC = 8,           /**< RDMA peers may do atomic operations. */
    DOCA_ACCESS_FLAG_PCI_READ_ONLY = 16,        /**< The other side of the PCIe may read. */
    DOCA_ACCESS_FLAG_PCI_READ_WRITE = 32,       /**< The other side of the PCIe may write, too. */
    DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = 64, /**< Writes across the PCIe may overtake each other. */
};

/** What a PCI function is. */
enum doca_pci_func_type {
    DOCA_PCI_FUNC_TYPE_PF = 0, /**< Physical function. */
    DOCA_PCI_FUNC_TYPE_VF = 1, /**< Virtual function. */
    DOCA_PCI_FUNC_TYPE_SF = 2, /**< Scalable function (subfunction). */
};

/** Where memory for a GPU lives, and who else can reach it. */
enum doca_gpu_mem_type {
    DOCA_GPU_MEM_TYPE_GPU = 0,     /**< On the GPU, for the GPU alone. */
    DOCA_GPU_MEM_TYPE_GPU_CPU = 1, /**< On the GPU, also reachable by the CPU. */
    DOCA_GPU_MEM_TYPE_CPU_GPU = 2, /**< In main memory, also reachable by the GPU. */
};

/** Who makes a packet wait until its time to be sent. */
enum doca_eth_wait_on_time_type {
    DOCA_ETH_WAIT_ON_TIME_TYPE_NONE = 0,   /**< Nobody: not available. */
    DOCA_ETH_WAIT_ON_TIME_TYPE_NATIVE = 1, /**< The device itself. */
    DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK = 2,   /**< DPDK. */
};

/** Size of the largest packet on a path (MTU). */
enum doca_mtu_size {
    DOCA_MTU_SIZE_256_BYTES = 0,    /**< 256 bytes. */
    DOCA_MTU_SIZE_512_BYTES = 1,    /**< 512 bytes. */
    DOCA_MTU_SIZE_1K_BYTES = 2,     /**< 1024 bytes. */
    DOCA_MTU_SIZE_2K_BYTES = 3,     /**< 2048 bytes. */
    DOCA_MTU_SIZE_4K_BYTES = 4,     /**< 4096 bytes. */
    DOCA_MTU_SIZE_RAW_ETHERNET = 5, /**< That of the Ethernet port. */
};

/** A word that belongs to the user and is handed back as it was given, as a pointer or as a number. */
union doca_data {
    void *ptr;    /**< As a pointer. */
    uint64_t u64; /**< As a number. */
};

/** One piece of scattered memory, and the way to the next. */
struct doca_gather_list {
    void *addr;                    /**< Its first byte. */
    uint64_t len;                  /**< Its bytes. */
    struct doca_gather_list *next; /**< The piece after it; NULL for the last. */
};

/** Something to wait on with poll or epoll: a file descriptor. */
typedef int doca_event_handle_t;

/** A doca_event_handle_t that tells of completed work. */
typedef doca_event_handle_t doca_notification_handle_t;

/** An integer of 16 bits in network byte order. */
typedef __be16 doca_be16_t;

/** An integer of 32 bits in network byte order. */
typedef __be32 doca_be32_t;

/** An integer of 64 bits in network byte order. */
typedef __be64 doca_be64_t;

#ifdef __cplusplus
}
#endif

#endif /* DOCA_TYPES_H_ */
