// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/level.h
 * Which DOCA a program was written for. The other headers include it.
 *
 * -DDOCA_API=10300, 10400, 10500 or 20002 on the compiler's command line gives a program the names, types,
 * signatures and rules of DOCA 1.3, 1.4, 1.5 or 2.0.2; the pkg-config modules doca-1.3, doca-1.4, doca-1.5 and
 * doca-2.0 set it. Without it, or with 20200, they are those of DOCA 2.2. All names of 2.2 that do not clash
 * are there at every level. docs/older-apis.md lists what each level changes.
 *
 * What is created by a function of a level keeps that level's rules, so files of several levels may be
 * linked into one program.
 */
#ifndef OPENDOCA_LEVEL_H_
#define OPENDOCA_LEVEL_H_

#ifndef DOCA_API
/** The level that is in force. */
#define OPENDOCA_LEVEL 20200
#elif DOCA_API == 10300 || DOCA_API == 10400 || DOCA_API == 10500 || DOCA_API == 20002 || DOCA_API == 20200
#define OPENDOCA_LEVEL DOCA_API
#else
#error "DOCA_API is 10300, 10400, 10500 or 20002 for DOCA 1.3, 1.4, 1.5 or 2.0.2, and not set for DOCA 2.2"
#endif

/** Behind a function's declaration: which symbol of the libraries the name stands for at this level. */
#define OPENDOCA_BOUND_TO(symbol) __asm__(#symbol)

#endif /* OPENDOCA_LEVEL_H_ */
