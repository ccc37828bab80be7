// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The pointers to which programs in C++ have a map exported.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "bdf.h"
#include "copier.h"

namespace {

template <typename Byte>
void export_to(doca_mmap *mmap, const doca_dev *dev)
{
    Byte *text = nullptr;
    std::size_t length = 0;
    WORKS(doca_mmap_export(mmap, dev, &text, &length));
    CHECK(std::strlen((const char *)text) + 1 == length);
    std::free((void *)text);
}

} // namespace

int main()
{
    static char memory[4096];
    doca_dev *const dev = open_by_address("0b:00.0"), *const other = open_by_address("03:00.0");
    doca_mmap *const mmap = map_of(dev, memory, sizeof(memory));
    export_to<std::uint8_t>(mmap, dev);
    export_to<void>(mmap, dev);
    export_to<const void>(mmap, dev);
    export_to<char>(mmap, dev);
    export_to<const char>(mmap, dev);
    export_to<std::byte>(mmap, dev);
    void *text = nullptr;
    std::size_t length = 0;
    GIVES(doca_mmap_export(mmap, other, &text, &length), DOCA_ERROR_INVALID_VALUE);
    CHECK(text == nullptr && length == 0);
    GIVES(doca_mmap_export(mmap, dev, nullptr, &length), DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_mmap_export(mmap, dev, static_cast<void **>(nullptr), &length), DOCA_ERROR_INVALID_VALUE);
    doca_error_t (*const function)(doca_mmap *, const doca_dev *, std::uint8_t **, std::size_t *) = doca_mmap_export;
    std::uint8_t *bytes = nullptr;
    WORKS(function(mmap, dev, &bytes, &length));
    std::free(bytes);
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(dev));
    WORKS(doca_dev_close(other));
    return 0;
}
