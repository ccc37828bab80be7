// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "vpd.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "../../process/fork.hpp"

namespace opendoca::mlx5 {

namespace {

using Bytes = std::span<const unsigned char>;

constexpr unsigned char large = 0x80;     ///< flag in a resource's tag: a 16-bit length follows
constexpr unsigned char read_only = 0x90; ///< tag of the read-only fields
constexpr unsigned char end = 0x78;       ///< tag of the end of the data
constexpr std::size_t field_header = 3;   ///< a keyword of two letters, and the field's length
constexpr std::size_t longest = 128;      ///< bytes of a VUID

/// Finds the keyword VU among the fields of a resource: each has a keyword of two letters, a length of one byte, and
/// its content. Lengths beyond the data are cut, since the data comes from the device.
std::string find_vuid(Bytes fields)
{
    while (fields.size() >= field_header) {
        const std::size_t length = std::min<std::size_t>(fields[2], fields.size() - field_header);
        const Bytes content = fields.subspan(field_header, length);
        if (fields[0] == 'V' && fields[1] == 'U')
            return {content.begin(), std::find(content.begin(), content.end(), 0)};
        fields = fields.subspan(field_header + length);
    }
    return {};
}

} // namespace

std::string vuid_in_vpd(Bytes data)
{
    while (!data.empty() && data[0] != end) {
        // A small resource has its length, 0 to 7 bytes, in its tag. A large one has it in the two bytes after the tag,
        // little endian.
        const bool is_large = (data[0] & large) != 0;
        const std::size_t header = is_large ? 3 : 1;
        if (data.size() < header)
            break;
        const std::size_t length = is_large ? data[1] | std::size_t{data[2]} << 8 : data[0] & 7u;
        const Bytes content = data.subspan(header, std::min(length, data.size() - header));
        if (data[0] == read_only) {
            if (std::string vuid = find_vuid(content); !vuid.empty() && vuid.size() <= longest)
                return vuid;
        }
        data = data.subspan(header + content.size());
    }
    return {};
}

static constinit ForkSafeMutex cache_lock;
static const ForkRegistration cache_lock_registration(cache_lock, LockRank::findings);

std::string vuid_by_vpd(const std::string &pci_address)
{
    // Never destroyed, since exit handlers may list devices.
    static auto *const cache = new std::map<std::string, std::string>;
    const std::lock_guard guard(cache_lock);
    if (const auto found = cache->find(pci_address); found != cache->end())
        return found->second;
    std::ifstream file("/sys/bus/pci/devices/" + pci_address + "/vpd", std::ios::binary);
    // Without the right to read the file, the data is empty. The lock is held meanwhile, so that threads do not read
    // the same data at the same time.
    const std::vector<unsigned char> data{std::istreambuf_iterator<char>(file), {}};
    return (*cache)[pci_address] = vuid_in_vpd(data);
}

} // namespace opendoca::mlx5
