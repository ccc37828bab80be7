// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_build_config.h
 * Which CPU this is compiled for, and for which side of the PCIe.
 *
 * - DOCA_ARCH_X86, DOCA_ARCH_ARM: the CPU; always follows the compiler's target.
 * - DOCA_ARCH_HOST, DOCA_ARCH_DPU: the role; programs select code with `#ifdef DOCA_ARCH_DPU`.
 *
 * By default an aarch64 target gets the DPU role and any other target the host role. opendoca: a program
 * chooses the other role with -DDOCA_ARCH_DPU or -DDOCA_ARCH_HOST on the compiler's command line, so that
 * both ends can be built on one machine. This header may be read any number of times.
 */

#if defined(DOCA_ARCH_DPU) && defined(DOCA_ARCH_HOST)
#error "DOCA_ARCH_DPU and DOCA_ARCH_HOST are both defined: define one of them, or none to follow the CPU"
#elif !defined(DOCA_ARCH_DPU) && !defined(DOCA_ARCH_HOST)
#if defined(__aarch64__)
#define DOCA_ARCH_DPU
#else
#define DOCA_ARCH_HOST
#endif
#endif

#undef DOCA_ARCH_ARM
#undef DOCA_ARCH_X86
#if defined(__aarch64__)
#define DOCA_ARCH_ARM
#elif defined(__x86_64__)
#define DOCA_ARCH_X86
#endif
