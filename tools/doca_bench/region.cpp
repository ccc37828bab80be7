// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "region.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>

namespace opendoca::tools {

Region::~Region() = default;

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20; ///< alignment that allows huge pages

/// Memory that this process has mapped: its own, or a memfd of the peer. Owns the mapping.
class MappedRegion final : public Region {
public:
    /// @p fd is the object to map, or -1 for private memory of this process.
    MappedRegion(std::size_t size, int fd) : mapped_size_(size + huge_page)
    {
        const int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
        mapped_ = mmap(nullptr, fd >= 0 ? size : mapped_size_, PROT_READ | PROT_WRITE, flags, fd, 0);
        if (mapped_ == MAP_FAILED)
            throw std::runtime_error(std::string("mapping memory: ") + std::strerror(errno));
        here_ = static_cast<std::byte *>(mapped_);
        if (fd >= 0) {
            mapped_size_ = size;
            return;
        }
        // Huge pages if available, so that the time of page walks is not part of what is measured.
        here_ += -reinterpret_cast<std::uintptr_t>(mapped_) % huge_page;
        (void)madvise(here_, size, MADV_HUGEPAGE);
        std::memset(here_, 0, size);
    }
    ~MappedRegion() override
    {
        map_.reset();
        munmap(mapped_, mapped_size_);
    }

    /// Sets the map for jobs, and the region's address in the process that owns it.
    void set_map(MmapHandle map, std::byte *addr)
    {
        map_ = std::move(map);
        addr_ = addr;
    }

    void put(std::size_t offset, std::span<const std::byte> bytes) override
    {
        std::memcpy(here_ + offset, bytes.data(), bytes.size());
    }
    void get(std::size_t offset, std::span<std::byte> bytes) const override
    {
        std::memcpy(bytes.data(), here_ + offset, bytes.size());
    }

private:
    void *mapped_;
    std::size_t mapped_size_;
};

/// Ordinary memory of the peer, which this process reaches only through the kernel. The peer owns the memory.
class DistantRegion final : public Region {
public:
    DistantRegion(pid_t pid, MmapHandle map, std::byte *addr) : pid_(pid)
    {
        map_ = std::move(map);
        addr_ = addr;
    }

    void put(std::size_t offset, std::span<const std::byte> bytes) override
    {
        ProcessWrite{pid_}(addr_ + offset, bytes.data(), bytes.size());
    }
    void get(std::size_t offset, std::span<std::byte> bytes) const override
    {
        ProcessRead{pid_}(bytes.data(), addr_ + offset, bytes.size());
    }

private:
    pid_t pid_;
};

} // namespace

std::unique_ptr<Region> make_local_region(const DmaSession &session, std::size_t size)
{
    auto region = std::make_unique<MappedRegion>(size, -1);
    region->set_map(session.map({region->here(), size}), region->here());
    return region;
}

std::unique_ptr<Region> make_peer_region(const DmaSession &session, Peer &peer, MemoryKind kind, std::size_t size,
                                         const std::string &exporter)
{
    const PeerMemory memory = peer.export_memory(kind, size, exporter);
    MmapHandle map = session.import(memory.descriptor);
    if (kind == MemoryKind::ordinary)
        return std::make_unique<DistantRegion>(peer.pid(), std::move(map), memory.addr);
    // The peer's memfd is opened by its descriptor there. The mapping stays valid after the descriptor is closed.
    const std::string path = "/proc/" + std::to_string(peer.pid()) + "/fd/" + std::to_string(memory.memfd);
    const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd.is_open())
        throw std::runtime_error(path + ": " + std::strerror(errno));
    auto region = std::make_unique<MappedRegion>(size, fd.get());
    region->set_map(std::move(map), memory.addr);
    return region;
}

} // namespace opendoca::tools
