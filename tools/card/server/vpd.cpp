// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "vpd.hpp"

#include <numeric>

namespace opendoca::card {

namespace {

/// Builds a large resource of PCI: tag, length in two bytes, content.
std::string resource(unsigned tag, const std::string &content)
{
    std::string result;
    result += static_cast<char>(tag);
    result += static_cast<char>(content.size() & 0xff);
    result += static_cast<char>(content.size() >> 8);
    return result + content;
}

/// Builds one field of a resource: keyword, length in one byte, content.
std::string keyword(const char *name, const std::string &content)
{
    return name + std::string(1, static_cast<char>(content.size())) + content;
}

} // namespace

std::string vital_product_data(const Profile &profile, const std::string &vuid)
{
    constexpr unsigned name_tag = 0x82, read_only_tag = 0x90, end_tag = 0x78;
    std::string data = resource(name_tag, "opendoca software card " + std::string(profile.name));
    std::string fields =
        keyword("PN", std::string(profile.board)) + keyword("SN", "MT2347X00001") + keyword("VU", vuid) + "RV" + '\1';
    const std::string before_checksum = data + resource(read_only_tag, fields + '\0');
    // The checksum byte makes the sum of all bytes up to it 0.
    const unsigned sum = std::accumulate(before_checksum.begin(), before_checksum.end(), 0u,
                                         [](unsigned total, char c) { return total + static_cast<unsigned char>(c); });
    fields += static_cast<char>(-sum & 0xff);
    data += resource(read_only_tag, fields);
    data += static_cast<char>(end_tag);
    return data;
}

} // namespace opendoca::card
