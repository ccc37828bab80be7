// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Owners for the objects of the C API, and the way tests say that a call has to work.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>

namespace doca_test {

/// For set-up that a test, or a child process, can't go on without. GoogleTest reports the exception.
inline void must(doca_error_t status, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    if (status != DOCA_SUCCESS)
        throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + doca_get_error_name(status));
}

inline void must_hold(bool holds, const char *what, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    if (!holds)
        throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": not true: " + what);
}

/// Destroys an object at the end, which has to work.
template <typename T, doca_error_t (*Destroy)(T *)>
class Handle {
public:
    Handle() = default;
    explicit Handle(T *object) noexcept : object_(object) {}
    Handle(Handle &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Handle &operator=(Handle &&other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Handle() { reset(); }

    [[nodiscard]] T *get() const noexcept { return object_; }
    operator T *() const noexcept { return object_; }
    /// To be filled by a create function.
    [[nodiscard]] T **out()
    {
        reset();
        return &object_;
    }
    T *release() noexcept { return std::exchange(object_, nullptr); }
    void reset()
    {
        if (T *const object = release(); object != nullptr) {
            EXPECT_EQ(Destroy(object), DOCA_SUCCESS);
        }
    }

private:
    T *object_ = nullptr;
};

inline doca_error_t release_buf(doca_buf *buf)
{
    return doca_buf_refcount_rm(buf, nullptr);
}

using DevHandle = Handle<doca_dev, doca_dev_close>;
using RepHandle = Handle<doca_dev_rep, doca_dev_rep_close>;
using MmapHandle = Handle<doca_mmap, doca_mmap_destroy>;
using InventoryHandle = Handle<doca_buf_inventory, doca_buf_inventory_destroy>;
using BufHandle = Handle<doca_buf, release_buf>;
using DmaHandle = Handle<doca_dma, doca_dma_destroy>;
using WorkqHandle = Handle<doca_workq, doca_workq_destroy>;

/// An address that no function may hand out or leave changed: tells whether an output was written.
template <typename T>
T *untouched()
{
    static int marker;
    return reinterpret_cast<T *>(&marker);
}

} // namespace doca_test
