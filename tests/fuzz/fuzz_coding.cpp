// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: the matrices and tasks of erasure coding. What was lost and can be recovered is what it was, and tasks
// succeed exactly if their lengths suit the matrix.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_erasure_coding.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "target.hpp"

namespace {

constexpr std::size_t max_data = 20, max_redundancy = 10, max_block = 3 * 64;

/// A running context with memory for one task. Lives as long as the process.
struct World {
    World()
    {
        doca_devinfo **list = nullptr;
        std::uint32_t count = 0;
        must(doca_devinfo_create_list(&list, &count));
        for (std::uint32_t i = 0; i != count && dev == nullptr; ++i) {
            if (doca_ec_cap_task_galois_mul_is_supported(list[i]) == DOCA_SUCCESS)
                must(doca_dev_open(list[i], &dev));
        }
        must(doca_devinfo_destroy_list(list));
        if (dev == nullptr)
            return; // a build without ISA-L
        must(doca_mmap_create(&map));
        must(doca_mmap_add_dev(map, dev));
        must(doca_mmap_set_memrange(map, memory.data(), memory.size()));
        must(doca_mmap_start(map));
        must(doca_buf_inventory_create(64, &inventory));
        must(doca_buf_inventory_start(inventory));
        must(doca_pe_create(&pe));
        must(doca_ec_create(dev, &ec));
        must(doca_ec_task_galois_mul_set_conf(ec, ended, ended, 1));
        must(doca_ctx_set_user_data(doca_ec_as_ctx(ec), {.ptr = this}));
        must(doca_pe_connect_ctx(pe, doca_ec_as_ctx(ec)));
        must(doca_ctx_start(doca_ec_as_ctx(ec)));
    }

    static void ended(doca_ec_task_galois_mul *task, doca_data, doca_data ctx_data)
    {
        auto &self = *static_cast<World *>(ctx_data.ptr);
        self.status = doca_task_get_status(doca_ec_task_galois_mul_as_task(task));
        self.is_over = true;
    }

    doca_dev *dev = nullptr;
    doca_mmap *map = nullptr;
    doca_buf_inventory *inventory = nullptr;
    doca_pe *pe = nullptr;
    doca_ec *ec = nullptr;
    bool is_over = false;
    doca_error_t status = DOCA_SUCCESS;
    std::vector<std::byte> memory = std::vector<std::byte>(4 * (max_data + max_redundancy) * max_block);
};

/// Makes a list of buffers of [from, from + size), cut where the input says.
doca_buf *list_of(World &world, Numbers &numbers, std::byte *from, std::size_t size, bool has_data)
{
    doca_buf *head = nullptr;
    for (std::size_t done = 0, pieces = 0; done != size || pieces == 0; ++pieces) {
        const std::size_t left = size - done;
        const std::size_t length = pieces == 7 ? left : std::min<std::size_t>(left, 4 * numbers.next(256));
        doca_buf *buf = nullptr;
        must(doca_buf_inventory_buf_get_by_args(world.inventory, world.map, from + done, length, from + done,
                                                has_data ? length : 0, &buf));
        if (head == nullptr)
            head = buf;
        else
            must(doca_buf_chain_list(head, buf));
        done += length;
    }
    return head;
}

/// Multiplies the bytes at the beginning of the memory, and puts the products behind @p gap of them.
doca_error_t multiply(World &world, Numbers &numbers, const doca_ec_matrix *matrix, std::size_t size, std::size_t gap,
                      std::size_t room)
{
    doca_buf *const source = list_of(world, numbers, world.memory.data(), size, true);
    doca_buf *const destination = list_of(world, numbers, &world.memory[gap], room, false);
    doca_ec_task_galois_mul *task = nullptr;
    must(doca_ec_task_galois_mul_allocate_init(world.ec, matrix, source, destination, {}, &task));
    world.is_over = false;
    must(doca_task_submit(doca_ec_task_galois_mul_as_task(task)));
    while (!world.is_over)
        (void)doca_pe_progress(world.pe);
    doca_task_free(doca_ec_task_galois_mul_as_task(task));
    must(doca_buf_dec_refcount(source, nullptr));
    must(doca_buf_dec_refcount(destination, nullptr));
    return world.status;
}

/// Loses the blocks that the input says, and recovers them if there is a matrix for it.
void recover(World &world, Numbers &numbers, const doca_ec_matrix *coding, std::vector<std::byte> all, std::size_t k,
             std::size_t m, std::size_t block)
{
    std::vector<std::uint32_t> missing(numbers.next(max_redundancy));
    for (std::uint32_t &index : missing)
        index = numbers.next(max_data + max_redundancy);
    if (numbers.next(8) != 0)
        std::ranges::sort(missing);
    missing.push_back(0); // so that there is an address
    doca_ec_matrix *matrix = nullptr;
    if (doca_ec_matrix_create_recover(world.ec, coding, missing.data(), missing.size() - 1, &matrix) != DOCA_SUCCESS)
        return;
    missing.pop_back();
    require(!missing.empty() && missing.size() <= m && missing.back() < k + m, "the indices are valid");
    std::size_t num_available = 0;
    for (std::uint32_t i = 0; i != k + m && num_available != k; ++i) {
        if (!std::ranges::binary_search(missing, i))
            std::memcpy(&world.memory[num_available++ * block], &all[i * block], block);
    }
    const std::size_t gap = k * block;
    must(multiply(world, numbers, matrix, gap, gap, missing.size() * block));
    for (std::size_t n = 0; n != missing.size(); ++n)
        require(std::memcmp(&world.memory[gap + n * block], &all[missing[n] * block], block) == 0,
                "a recovered block is what it was");
    must(doca_ec_matrix_destroy(matrix));
}

} // namespace

void test_input(Input input)
{
    static World world;
    if (world.dev == nullptr)
        return;
    Numbers numbers(input);
    const std::size_t k = numbers.next(max_data + 1), m = numbers.next(max_redundancy + 1);
    const unsigned type = numbers.next(4); // one that does not exist among them, and raw coefficients
    doca_ec_matrix *coding = nullptr;
    doca_error_t status = DOCA_SUCCESS;
    if (type == 3) {
        std::vector<std::uint8_t> raw(k * m + 1);
        for (std::uint8_t &coefficient : raw)
            coefficient = static_cast<std::uint8_t>(numbers.next(256));
        status = doca_ec_matrix_create_from_raw(world.ec, raw.data(), k, m, &coding);
    } else {
        status = doca_ec_matrix_create(world.ec, static_cast<doca_ec_matrix_type>(type), k, m, &coding);
    }
    require((status == DOCA_SUCCESS) == (k != 0 && m != 0 && type != 0), "a matrix has blocks and a kind");
    if (coding == nullptr)
        return;
    const std::size_t block = (1 + numbers.next(3)) * 64;
    const std::size_t size = k * block + (numbers.next(4) != 0 ? 0 : numbers.next(64));
    const std::size_t room = m * block - (numbers.next(4) != 0 ? 0 : numbers.next(64));
    for (std::size_t i = 0; i != size; ++i)
        world.memory[i] = static_cast<std::byte>(i < 256 ? numbers.next(256) : i * 7);
    const std::size_t gap = (k + 1) * max_block;
    status = multiply(world, numbers, coding, size, gap, room);
    const bool fits = size == k * block && room == m * block;
    // With a longer source the blocks may be larger, which needs more room than there is.
    require((status == DOCA_SUCCESS) == fits, "a task succeeds if its lengths suit the matrix");
    if (fits) {
        std::vector<std::byte> all(world.memory.begin(), world.memory.begin() + static_cast<std::ptrdiff_t>(size));
        all.insert(all.end(), world.memory.begin() + static_cast<std::ptrdiff_t>(gap),
                   world.memory.begin() + static_cast<std::ptrdiff_t>(gap + room));
        recover(world, numbers, coding, std::move(all), k, m, block);
    }
    must(doca_ec_matrix_destroy(coding));
}
