// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of memory maps of DOCA 1.3 to 2.0: permissions that did not exist are implied, and descriptors of 1.3
// are text.
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../../log/log.hpp"
#include "../call.hpp"
#include "mmap.hpp"
#include "symbols.hpp"
#include "text_descriptor.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_MMAP_API);

using opendoca::ExportKind;
using opendoca::Status;
using opendoca::value_of;
using opendoca::v2::call;
using opendoca::v2::OlderMmap;

namespace {

constexpr std::size_t min_page_size = 4096;
constexpr unsigned property_max_num_chunks = 0;
// What a new map allowed up to DOCA 1.5.
constexpr std::uint32_t access_up_to_1_5 = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;

/// Creates a map with the permissions that its release implied.
doca_error_t create(doca_data data, std::uint32_t access, doca_mmap **mmap)
{
    return call({mmap}, [&] {
        const auto created = std::make_shared<OlderMmap>(data);
        const doca_error_t status = created->set_permissions(access);
        if (status == DOCA_SUCCESS)
            *mmap = doca_mmap::add_program_reference(created);
        return status;
    });
}

/// Calls @p body with the map as an OlderMmap. Fails for a map of another kind, which has one range for life.
template <typename Body>
doca_error_t call_older(doca_mmap *mmap, Body &&body)
{
    return call({mmap}, [&]() -> Status {
        // Maps of 2.2 are of the base class.
        auto *const older = dynamic_cast<OlderMmap *>(mmap);
        if (older == nullptr) {
            LOG_ERR("the memory map was imported, or made by a function of another DOCA: it has one range for good");
            return DOCA_ERROR_NOT_PERMITTED;
        }
        return body(*older);
    });
}

/// Imports a descriptor as text or in binary form.
doca_error_t import(doca_data data, const void *bytes, std::size_t size, doca_dev *dev, doca_mmap **mmap)
{
    if (size == 0)
        return DOCA_ERROR_INVALID_VALUE;
    return call({bytes, dev, mmap}, [&] {
        const std::span given(static_cast<const std::byte *>(bytes), size);
        const std::vector<std::byte> of_text = opendoca::v2::from_text_descriptor(given);
        return doca_mmap::create_from_export(data, of_text.empty() ? given : std::span(of_text), *dev, *mmap);
    });
}

const opendoca::MemoryRange &exported_range(const doca_mmap &mmap)
{
    const auto *const older = dynamic_cast<const OlderMmap *>(&mmap);
    return older != nullptr ? older->exported_range() : mmap.range();
}

/// Copies to memory of malloc(), which the program frees.
template <typename Byte>
doca_error_t give_copy(const void *bytes, std::size_t size, Byte *&copy, std::size_t &copy_size)
{
    void *const memory = std::malloc(size);
    if (memory == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    std::memcpy(memory, bytes, size);
    copy = static_cast<Byte *>(memory);
    copy_size = size;
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t opendoca_mmap_create_1_3(const char *, struct doca_mmap **mmap)
{
    return create({}, access_up_to_1_5, mmap);
}

doca_error_t opendoca_mmap_create_1_5(const union doca_data *user_data, struct doca_mmap **mmap)
{
    return create(value_of(user_data), access_up_to_1_5, mmap);
}

doca_error_t opendoca_mmap_create_2_0(const union doca_data *user_data, struct doca_mmap **mmap)
{
    return create(value_of(user_data), DOCA_ACCESS_LOCAL_READ_WRITE, mmap);
}

doca_error_t opendoca_mmap_create_from_export_1_3(const char *, const void *export_desc, size_t export_desc_len,
                                                  struct doca_dev *dev, struct doca_mmap **mmap)
{
    return import({}, export_desc, export_desc_len, dev, mmap);
}

doca_error_t opendoca_mmap_create_from_export_1_5(const union doca_data *user_data, const void *export_desc,
                                                  size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap)
{
    return import(value_of(user_data), export_desc, export_desc_len, dev, mmap);
}

doca_error_t opendoca_mmap_export_1_3(struct doca_mmap *mmap, const struct doca_dev *dev, uint8_t **export_desc,
                                      size_t *export_desc_len)
{
    // The text is made here, from the binary descriptor: the map itself has one form.
    return call({mmap, dev, export_desc, export_desc_len}, [&]() -> Status {
        const void *descriptor = nullptr;
        std::size_t size = 0;
        if (const Status status = mmap->export_to(ExportKind::dpu, *dev, descriptor, size); status != DOCA_SUCCESS)
            return status;
        const std::string text =
            opendoca::v2::to_text_descriptor({static_cast<const std::byte *>(descriptor), size}, exported_range(*mmap));
        // With its NUL: programs use the descriptor as a string.
        return give_copy(text.c_str(), text.size() + 1, *export_desc, *export_desc_len);
    });
}

doca_error_t opendoca_mmap_export_1_5(struct doca_mmap *mmap, const struct doca_dev *dev, void **export_desc,
                                      size_t *export_desc_len)
{
    return call({mmap, dev, export_desc, export_desc_len}, [&]() -> Status {
        const void *descriptor = nullptr;
        std::size_t size = 0;
        if (const Status status = mmap->export_to(ExportKind::dpu, *dev, descriptor, size); status != DOCA_SUCCESS)
            return status;
        return give_copy(descriptor, size, *export_desc, *export_desc_len);
    });
}

doca_error_t opendoca_mmap_property_set_1_3(struct doca_mmap *mmap, unsigned property, const uint8_t *value,
                                            uint32_t size)
{
    if (mmap == nullptr || value == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    std::uint64_t count = 0;
    if (property != property_max_num_chunks || (size != sizeof(std::uint32_t) && size != sizeof(count))) {
        LOG_ERR("a memory map has no property %u of %u bytes", property, size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // The older header allows 4 and 8 bytes. Little-endian, so the upper half of a short value stays 0.
    std::memcpy(&count, value, size);
    if (count > UINT32_MAX) {
        LOG_ERR("%llu ranges are too many", static_cast<unsigned long long>(count));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return opendoca_mmap_set_max_num_chunks_1_3(mmap, static_cast<std::uint32_t>(count));
}

doca_error_t opendoca_mmap_set_max_num_chunks_1_3(struct doca_mmap *mmap, uint32_t max_num_chunks)
{
    return call_older(mmap, [&](OlderMmap &older) { return older.set_max_num_ranges(max_num_chunks); });
}

doca_error_t opendoca_mmap_get_max_num_chunks_1_3(struct doca_mmap *mmap, uint32_t *max_num_chunks)
{
    if (max_num_chunks == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return call_older(mmap, [&](const OlderMmap &older) {
        *max_num_chunks = older.max_num_ranges();
        return DOCA_SUCCESS;
    });
}

doca_error_t opendoca_mmap_populate_1_3(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
                                        doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
    if (addr == nullptr || len == 0)
        return DOCA_ERROR_INVALID_VALUE;
    // The page size is checked and otherwise ignored.
    if (pg_sz < min_page_size || !std::has_single_bit(pg_sz)) {
        LOG_ERR("a page of %zu bytes: its size is a power of two, and at least %zu", pg_sz, min_page_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return call_older(
        mmap, [&](OlderMmap &older) { return older.populate(static_cast<std::byte *>(addr), len, free_cb, opaque); });
}
