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

/// A host's process, as far as it codes memory that the DPU has exported: the imported memory, memory of its own, and a
/// context.
class Host {
public:
    explicit Host(std::span<const std::byte> descriptor)
    {
        must(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, remote.out()));
        void *range = nullptr;
        std::size_t length = 0;
        must(doca_mmap_get_memrange(remote, &range, &length));
        there = static_cast<std::byte *>(range);
        must(doca_pe_create(pe.out()));
        must(doca_ec_create(dev, ec.out()));
        must(doca_ec_task_create_set_conf(ec, ended, ended, 1));
        must(doca_ctx_set_user_data(doca_ec_as_ctx(ec), {.ptr = this}));
        must(doca_pe_connect_ctx(pe, doca_ec_as_ctx(ec)));
        must(doca_ctx_start(doca_ec_as_ctx(ec)));
        must(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, num_data, num_redundancy, matrix.out()));
    }
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;
    ~Host() { EXPECT_EQ(doca_ctx_stop(doca_ec_as_ctx(ec)), DOCA_SUCCESS); }

    BufHandle data(doca_mmap *map, std::byte *addr, std::size_t size)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, addr, size, buf.out()));
        return buf;
    }
    BufHandle room(doca_mmap *map, std::byte *addr)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, addr, redundancy_size, buf.out()));
        return buf;
    }
    /// Runs a task, and returns its status.
    doca_error_t code(const doca_buf *src, doca_buf *dst)
    {
        doca_ec_task_create *task = nullptr;
        must(doca_ec_task_create_allocate_init(ec, matrix, src, dst, {}, &task));
        must(doca_task_submit(doca_ec_task_create_as_task(task)));
        for (is_over = false; !is_over;)
            (void)doca_pe_progress(pe);
        doca_task_free(doca_ec_task_create_as_task(task));
        return status;
    }

    static void ended(doca_ec_task_create *task, doca_data, doca_data ctx_data)
    {
        auto &self = *static_cast<Host *>(ctx_data.ptr);
        self.status = doca_task_get_status(doca_ec_task_create_as_task(task));
        self.is_over = true;
    }

    DevHandle dev = open_device("soft_pf0");
    MmapHandle remote;
    std::byte *there = nullptr;
    std::vector<std::byte> memory = std::vector<std::byte>(redundancy_size + block);
    MmapHandle local = map_of(dev, memory);
    InventoryHandle inventory = inventory_of(8);
    PeHandle pe;
    EcHandle ec;
    MatrixHandle matrix;
    bool is_over = false;
    doca_error_t status = DOCA_SUCCESS;
};

/// Computes the redundancy of the exported data, first to memory of this process, then to the exported memory, from a
/// source of which one block is memory of this process. Returns the status of the second task.
doca_error_t code_memory_of_the_dpu(std::span<const std::byte> descriptor)
{
    Host host(descriptor);
    const BufHandle all = host.data(host.remote, host.there, data_size);
    const BufHandle own = host.room(host.local, host.memory.data());
    must(host.code(all, own));
    // The last block as memory of this process, where the redundancy was.
    const Block last(block, 0x77);
    std::memcpy(&host.memory[redundancy_size], last.data(), block);
    Blocks blocks;
    for (std::size_t i = 0; i != num_data; ++i)
        blocks.emplace_back(block, static_cast<std::uint8_t>(i + 1));
    const Blocks expected = reference_blocks(reference_cauchy(num_data, num_redundancy), blocks);
    for (std::size_t j = 0; j != num_redundancy; ++j) {
        if (std::memcmp(&host.memory[j * block], expected[j].data(), block) != 0)
            return DOCA_ERROR_UNEXPECTED;
    }
    const BufHandle most = host.data(host.remote, host.there, data_size - block);
    BufHandle tail = host.data(host.local, &host.memory[redundancy_size], block);
    must(doca_buf_chain_list(most, tail));
    tail.release();
    const BufHandle theirs = host.room(host.remote, host.there + data_size);
    const doca_error_t status = host.code(most, theirs);
    if (data_len_of(theirs) != (status == DOCA_SUCCESS ? redundancy_size : 0))
        return DOCA_ERROR_UNEXPECTED;
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
        GTEST_SKIP() << "the device does no erasure coding";
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

TEST(ErasureCodingImport, MemoryThatIsNoLongerExportedFailsTheTask)
{
    if (!has_device("soft_pf0") || !has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device's two sides";
    if (doca_ec_cap_task_create_is_supported(doca_dev_as_devinfo(open_device("soft_pf0"))) != DOCA_SUCCESS)
        GTEST_SKIP() << "the device does no erasure coding";
    const Memory memory(true);
    const DevHandle dpu = open_device("soft_p0");
    const MmapHandle map =
        map_of(dpu, memory.bytes(), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const void *descriptor = nullptr;
    std::size_t size = 0;
    ASSERT_EQ(doca_mmap_export_pci(map, dpu, &descriptor, &size), DOCA_SUCCESS);
    Host host({static_cast<const std::byte *>(descriptor), size});
    const BufHandle all = host.data(host.remote, host.there, data_size);
    const BufHandle own = host.room(host.local, host.memory.data());
    EXPECT_EQ(host.code(all, own), DOCA_SUCCESS);
    must(doca_buf_reset_data_len(own));
    ASSERT_EQ(doca_mmap_stop(map), DOCA_SUCCESS);
    EXPECT_EQ(host.code(all, own), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(data_len_of(own), 0u);
    EXPECT_EQ(state_of(doca_ec_as_ctx(host.ec)), DOCA_CTX_STATE_RUNNING);
}

} // namespace
} // namespace doca_test
