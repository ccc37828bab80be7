// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The least that an asynchronous copy behind a C function can cost: a checked call that puts a task into a ring, and
// one that takes it out, copies, and calls back.
#ifndef FLOOR_H_
#define FLOOR_H_

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

struct floor_task {
    void *dst;
    const void *src;
    size_t length;
    void (*ended)(struct floor_task *task, void *user);
    void *user;
    unsigned int magic;
    int state;
};

static struct {
    _Alignas(64) _Atomic unsigned int head;
    _Alignas(64) _Atomic unsigned int tail;
    struct floor_task *slots[256];
} floor_ring;
static volatile unsigned long floor_bytes;

static void floor_ended(struct floor_task *task, void *user)
{
    (void)user;
    floor_bytes += task->length;
}

static __attribute__((noinline)) int floor_put(struct floor_task *task)
{
    const unsigned int head = atomic_load_explicit(&floor_ring.head, memory_order_relaxed);

    if (head - atomic_load_explicit(&floor_ring.tail, memory_order_acquire) == 256)
        return -1;
    floor_ring.slots[head & 255] = task;
    atomic_store_explicit(&floor_ring.head, head + 1, memory_order_release);
    return 0;
}

static __attribute__((noinline)) int floor_take(void)
{
    const unsigned int tail = atomic_load_explicit(&floor_ring.tail, memory_order_relaxed);
    struct floor_task *task;

    if (atomic_load_explicit(&floor_ring.head, memory_order_acquire) == tail)
        return 0;
    task = floor_ring.slots[tail & 255];
    atomic_store_explicit(&floor_ring.tail, tail + 1, memory_order_release);
    memcpy(task->dst, task->src, task->length);
    task->ended(task, task->user);
    return 1;
}

/* By pointers, as a library would call a driver. */
static int (*volatile floor_put_pointer)(struct floor_task *) = floor_put;
static int (*volatile floor_take_pointer)(void) = floor_take;

static __attribute__((noinline)) int floor_submit(struct floor_task *task)
{
    if (task == NULL || task->magic != 0xd0ca || task->state != 0)
        return -1;
    task->state = 1;
    return floor_put_pointer(task);
}

static __attribute__((noinline)) int floor_progress(void)
{
    return floor_take_pointer();
}

static void run_floor(void *dst, const void *src, size_t length, unsigned long count)
{
    struct floor_task task = {.dst = dst, .src = src, .length = length, .ended = floor_ended, .magic = 0xd0ca};

    for (unsigned long i = 0; i < count; i++) {
        task.state = 0;
        (void)floor_submit(&task);
        (void)floor_progress();
    }
}

#endif /* FLOOR_H_ */
