// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <vector>

#include "remote_importer.hpp"
#include "remote_memory.hpp"

namespace doca_test {

/// A process that exports, and this one, which imports and copies the whole range.
class Peers {
public:
    Peers(const DevicePair &pair, const RemoteMemory::Options &options)
        : remote(pair.exporter, options),
          dev(open_device(pair.importer)),
          memory(options.size),
          map(dev, memory)
    {
        must(remote.status());
        import();
    }

    void import() { must(remote.import(dev, mmap.out())); }

    [[nodiscard]] BufHandle source(RemoteImporter::Direction direction) const
    {
        return direction == RemoteImporter::Direction::from_export ? inventory.full(mmap, remote.addr(), memory.size())
                                                                   : inventory.full(map, memory.data(), memory.size());
    }
    [[nodiscard]] BufHandle destination(RemoteImporter::Direction direction) const
    {
        return direction == RemoteImporter::Direction::from_export
                   ? inventory.empty(map, memory.data(), memory.size())
                   : inventory.empty(mmap, remote.addr(), memory.size());
    }
    [[nodiscard]] doca_error_t copy(RemoteImporter::Direction direction) const
    {
        const BufHandle src = source(direction);
        const BufHandle dst = destination(direction);
        const doca_error_t status = engine.copy(dst, src);
        EXPECT_EQ(data_len_of(dst), status == DOCA_SUCCESS ? memory.size() : 0);
        return status;
    }
    [[nodiscard]] doca_error_t copy_until_failure(RemoteImporter::Direction direction) const
    {
        doca_error_t status = DOCA_SUCCESS;
        while (status == DOCA_SUCCESS)
            status = copy(direction);
        return status;
    }

    RemoteMemory remote;
    DevHandle dev;
    mutable std::vector<std::byte> memory;
    LocalMap map;
    MmapHandle mmap;
    Inventory inventory{8};
    DmaEngine engine{dev};
};

} // namespace doca_test
