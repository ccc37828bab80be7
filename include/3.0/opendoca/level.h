// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/level.h
 * Which DOCA a program was written for. The other headers include it.
 *
 * -DDOCA_API=20500, 20600, 20700 or 20800 on the compiler's command line gives a program the names, types,
 * signatures, includes and rules of DOCA 2.5, 2.6, 2.7 or 2.8; the pkg-config modules doca-2.5, doca-2.6, doca-2.7 and
 * doca-2.8 set it. Without it, or with 30000, they are those of DOCA 2.9 to 3.3. All names of 3.0 that do not clash
 * are there at every level. docs/older-apis.md lists what each level changes, and what is inferred of 2.7 and 2.8.
 *
 * What is created by a function of a level keeps that level's rules, so files of several levels may be
 * linked into one program.
 */
#ifndef OPENDOCA_LEVEL_H_
#define OPENDOCA_LEVEL_H_

#ifndef DOCA_API
/** The level that is in force. */
#define OPENDOCA_LEVEL 30000
#elif DOCA_API == 20500 || DOCA_API == 20600 || DOCA_API == 20700 || DOCA_API == 20800 || DOCA_API == 30000
#define OPENDOCA_LEVEL DOCA_API
#else
#error "DOCA_API is 20500, 20600, 20700 or 20800 for DOCA 2.5, 2.6, 2.7 or 2.8, and not set for DOCA 2.9 to 3.3"
#endif

/** Behind a function's declaration: which symbol of the libraries the name stands for at this level. */
#define OPENDOCA_BOUND_TO(symbol) __asm__(#symbol)

#endif /* OPENDOCA_LEVEL_H_ */
