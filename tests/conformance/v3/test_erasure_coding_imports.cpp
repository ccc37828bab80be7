// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding on memory of another process: a process of the host codes what the DPU has exported.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "erasure_coding_fixture.hpp"

namespace doca_test {
namespace {

constexpr std::size_t num_data = 5, num_redundancy = 3;
constexpr std::size_t block = 3 * 65536; // more than a slice
constexpr std::size_t data_size = num_data * block, redundancy_size = num_redundancy * block;

/// The memory of this process that the blocks are in: of a memfd, which an importer can map, or ordinary memory, which
/// only the kernel can copy.
class Memory {
public:
    explicit Memory(bool is_mappable)
    {
        const int fd = is_mappable ? memfd_create("blocks", 0) : -1;
        if (is_mappable && ftruncate(fd, size) != 0)
            throw std::runtime_error("no memfd");
        addr_ =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, is_mappable ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
        if (addr_ == MAP_FAILED)
            throw std::runtime_error("no memory");
        if (fd >= 0)
            close(fd);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { munmap(addr_, size); }

    [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte *>(addr_), size}; }

    static constexpr std::size_t size = data_size + redundancy_size;

private:
    void *addr_ = nullptr;
};

/// The status of the last task, for its callbacks.
struct End {
    int count = 0;
    doca_error_t status = DOCA_SUCCESS;
};

void ended(doca_ec_task_create *task, doca_data, doca_data ctx_data)
{
    auto &end = *static_cast<End *>(ctx_data.ptr);
    ++end.count;
    end.status = doca_task_get_status(doca_ec_task_create_as_task(task));
}

/// Computes the redundancy of the exported data, first to memory of this process, then to the exported memory, from a
/// source of which one block is memory of this process. Returns the status of the second task.
doca_error_t code_memory_of_the_dpu(std::span<const std::byte> descriptor)
{
    const DevHandle dev = open_device("soft_pf0");
    MmapHandle remote;
    must(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, remote.out()));
    void *range = nullptr;
    std::size_t length = 0;
    must(doca_mmap_get_memrange(remote, &range, &length));
    auto *const there = static_cast<std::byte *>(range);
    std::vector<std::byte> memory(redundancy_size + block);
    const MmapHandle local = map_of(dev, memory);
    const InventoryHandle inventory = inventory_of(8);
    const auto data = [&](doca_mmap *map, std::byte *addr, std::size_t size) {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, addr, size, buf.out()));
        return buf;
    };
    const auto room = [&](doca_mmap *map, std::byte *addr) {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, addr, redundancy_size, buf.out()));
        return buf;
    };
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    EcHandle ec;
    must(doca_ec_create(dev, ec.out()));
    End end;
    must(doca_ec_task_create_set_conf(ec, ended, ended, 1));
    must(doca_ctx_set_user_data(doca_ec_as_ctx(ec), {.ptr = &end}));
    must(doca_pe_connect_ctx(pe, doca_ec_as_ctx(ec)));
    must(doca_ctx_start(doca_ec_as_ctx(ec)));
    MatrixHandle matrix;
    must(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, num_data, num_redundancy, matrix.out()));
    const auto code = [&](const doca_buf *src, doca_buf *dst) {
        doca_ec_task_create *task = nullptr;
        must(doca_ec_task_create_allocate_init(ec, matrix, src, dst, {}, &task));
        must(doca_task_submit(doca_ec_task_create_as_task(task)));
        const int before = end.count;
        while (end.count == before)
            (void)doca_pe_progress(pe);
        doca_task_free(doca_ec_task_create_as_task(task));
        return end.status;
    };
    const BufHandle all = data(remote, there, data_size), own = room(local, memory.data());
    must(code(all, own));
    // The last block as memory of this process, where the redundancy was.
    const Block last(block, 0x77);
    std::memcpy(&memory[redundancy_size], last.data(), block);
    Blocks blocks;
    for (std::size_t i = 0; i != num_data; ++i)
        blocks.emplace_back(block, static_cast<std::uint8_t>(i + 1));
    const Blocks expected = reference_blocks(reference_cauchy(num_data, num_redundancy), blocks);
    for (std::size_t j = 0; j != num_redundancy; ++j) {
        if (std::memcmp(&memory[j * block], expected[j].data(), block) != 0)
            return DOCA_ERROR_UNEXPECTED;
    }
    const BufHandle most = data(remote, there, data_size - block);
    BufHandle tail = data(local, &memory[redundancy_size], block);
    must(doca_buf_chain_list(most, tail));
    tail.release();
    const BufHandle theirs = room(remote, there + data_size);
    const doca_error_t status = code(most, theirs);
    if (data_len_of(theirs) != (status == DOCA_SUCCESS ? redundancy_size : 0))
        return DOCA_ERROR_UNEXPECTED;
    matrix.reset();
    must(doca_ctx_stop(doca_ec_as_ctx(ec)));
    return status;
}

struct Case {
    const char *name;
    bool is_mappable;
    std::uint32_t right;
    doca_error_t status;
};

class ErasureCodingImports : public testing::TestWithParam<Case> {};

TEST_P(ErasureCodingImports, HostCodesMemoryThatTheDpuExports)
{
    if (!has_device("soft_pf0") || !has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device's two sides";
    if (doca_ec_cap_task_create_is_supported(doca_dev_as_devinfo(open_device("soft_pf0"))) != DOCA_SUCCESS)
        GTEST_SKIP() << "this build has no ISA-L";
    int to_child[2];
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        close(to_child[1]); // so that the parent's end ends the read
        std::byte descriptor[512];
        const ssize_t size = read(to_child[0], descriptor, sizeof(descriptor));
        int status = 255;
        try {
            status = code_memory_of_the_dpu({descriptor, static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
        } catch (const std::exception &error) {
            (void)std::fprintf(stderr, "the child: %s\n", error.what());
        }
        _exit(status);
    }
    close(to_child[0]);
    const Memory memory(GetParam().is_mappable);
    for (std::size_t i = 0; i != num_data; ++i)
        std::memset(&memory.bytes()[i * block], static_cast<int>(i + 1), block);
    const DevHandle dpu = open_device("soft_p0");
    const MmapHandle map = map_of(dpu, memory.bytes(), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | GetParam().right);
    const void *descriptor = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_mmap_export_pci(map, dpu, &descriptor, &size), DOCA_SUCCESS);
    EXPECT_EQ(write(to_child[1], descriptor, size), static_cast<ssize_t>(size));
    close(to_child[1]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), GetParam().status);
    Blocks blocks;
    for (std::size_t i = 0; i != num_data; ++i)
        blocks.emplace_back(block, static_cast<std::uint8_t>(i + 1 == num_data ? 0x77 : i + 1));
    const Blocks expected = reference_blocks(reference_cauchy(num_data, num_redundancy), blocks);
    for (std::size_t j = 0; j != num_redundancy; ++j) {
        const Block wanted = GetParam().status == DOCA_SUCCESS ? expected[j] : Block(block);
        EXPECT_EQ(std::memcmp(&memory.bytes()[data_size + j * block], wanted.data(), block), 0) << j;
    }
}

INSTANTIATE_TEST_SUITE_P(
    memory, ErasureCodingImports,
    testing::Values(Case{"mapped", true, DOCA_ACCESS_FLAG_PCI_READ_WRITE, DOCA_SUCCESS},
                    Case{"copied_by_the_kernel", false, DOCA_ACCESS_FLAG_PCI_READ_WRITE, DOCA_SUCCESS},
                    Case{"read_only", true, DOCA_ACCESS_FLAG_PCI_READ_ONLY, DOCA_ERROR_NOT_PERMITTED}),
    [](const auto &test) { return std::string(test.param.name); });

} // namespace
} // namespace doca_test
