// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: limits of a card, and where the mode is asked for.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <doca_sha.h>

#include "../conformance/support/topology_file.hpp"
#include "strict_fixture.hpp"

namespace doca_test {
namespace {

class StrictLimits : public StrictTest {
protected:
    static constexpr std::uint32_t longest = 64; ///< buffers in a list in strict mode

    /// Returns a list of @p count buffers of one byte each.
    [[nodiscard]] BufHandle list_of(std::size_t count) const
    {
        BufHandle list;
        for (std::size_t i = 0; i != count; ++i) {
            BufHandle buf;
            must(doca_buf_inventory_buf_get_by_data(inventory, src_map, &src[i], 1, buf.out()));
            if (i == 0)
                list = std::move(buf);
            else
                must(doca_buf_chain_list(list, buf.release()));
        }
        return list;
    }
    [[nodiscard]] BufHandle destination() const
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, dst_map, dst.data(), dst.size(), buf.out()));
        return buf;
    }

    mutable std::vector<std::byte> src = std::vector<std::byte>(256, std::byte{7});
    mutable std::vector<std::byte> dst = std::vector<std::byte>(256);
    MmapHandle src_map = map_of(dev, src);
    MmapHandle dst_map = map_of(dev, dst);
    InventoryHandle inventory = inventory_of(256);
};
INSTANTIATE_STRICT(StrictLimits);

TEST_P(StrictLimits, dma_takes_lists_of_64_buffers)
{
    std::uint32_t limit = 0;
    ASSERT_EQ(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(dev), &limit), DOCA_SUCCESS);
    EXPECT_EQ(limit, is_strict() ? longest : 1024);
    for (const std::uint32_t count : {longest, longest + 1}) {
        const bool fits = count <= longest || !is_strict();
        DmaContext dma(dev, pe, 1);
        must(doca_ctx_start(dma.ctx()));
        const BufHandle from = list_of(count), to = destination();
        Copy copy;
        must(dma.alloc(copy, from, to));
        ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
        run_until([&] { return copy.has_ended(); });
        EXPECT_EQ(copy.status, fits ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE) << count << " buffers";
        EXPECT_EQ(data_len_of(to), fits ? count : 0);
        doca_task_free(copy.as_task());
        (void)doca_ctx_stop(dma.ctx());
        run_until([&] { return dma.state() == DOCA_CTX_STATE_IDLE; });
    }
    expect_rule("max-list-length");
}

void ended(doca_sha_task_hash *, doca_data task_data, doca_data)
{
    *static_cast<bool *>(task_data.ptr) = true;
}

TEST_P(StrictLimits, sha_takes_lists_of_64_buffers)
{
    std::uint32_t limit = 0;
    ASSERT_EQ(doca_sha_cap_get_max_list_buf_num_elem(doca_dev_as_devinfo(dev), &limit), DOCA_SUCCESS);
    EXPECT_EQ(limit, is_strict() ? longest : 1024);
    Handle<doca_sha, doca_sha_destroy> sha;
    must(doca_sha_create(dev, sha.out()));
    must(doca_sha_task_hash_set_conf(sha, ended, ended, 1));
    must(doca_pe_connect_ctx(pe, doca_sha_as_ctx(sha)));
    must(doca_ctx_start(doca_sha_as_ctx(sha)));
    const BufHandle from = list_of(longest + 1), to = destination();
    bool has_ended = false;
    doca_sha_task_hash *task = nullptr;
    must(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, from, to, {.ptr = &has_ended}, &task));
    EXPECT_EQ(doca_task_try_submit(doca_sha_task_hash_as_task(task)),
              is_strict() ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS);
    if (!is_strict())
        run_until([&] { return has_ended; });
    doca_task_free(doca_sha_task_hash_as_task(task));
    EXPECT_EQ(doca_ctx_stop(doca_sha_as_ctx(sha)), DOCA_SUCCESS);
    expect_rule("max-list-length");
}

std::uint32_t longest_list(const std::string &ibdev)
{
    std::uint32_t limit = 0;
    must(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(open_device(ibdev)), &limit));
    return limit;
}

TEST(StrictMode, a_function_of_the_topology_is_strict_alone)
{
    const Environment not_all("DOCA_SOFT_STRICT", nullptr);
    const TopologyFile file(R"({"functions": [
        {"name": "a", "side": "dpu", "type": "pf", "pci": "03:00.0", "strict": true},
        {"name": "b", "side": "dpu", "type": "pf", "pci": "03:00.1"}]})");
    const Environment topology("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    EXPECT_EQ(longest_list("soft_a"), 64u);
    EXPECT_EQ(longest_list("soft_b"), 1024u);
    const Environment all("DOCA_SOFT_STRICT", "1");
    EXPECT_EQ(longest_list("soft_b"), 64u);
}

TEST(StrictMode, other_values_of_the_variable_are_refused)
{
    const LogCapture log;
    const Environment strict("DOCA_SOFT_STRICT", "yes");
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    EXPECT_EQ(doca_devinfo_create_list(&list, &size), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "DOCA_SOFT_STRICT is 'yes': it can be 0 or 1");
}

} // namespace
} // namespace doca_test
