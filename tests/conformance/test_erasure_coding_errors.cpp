// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding: capabilities, refused arguments, jobs that fail, and memory of another process.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/environment.hpp"
#include "support/erasure_coding_fixture.hpp"
#include "support/topology_file.hpp"

using namespace doca_test;

// Capabilities

TEST(EcDevices, OtherThanSoftwareDevicesSupportNothingUnlessTheCpuStandsIn)
{
    const char *const text = std::getenv("DOCA_SOFT_ENGINES");
    const bool stands_in = text != nullptr && std::string(text) == "1";
    for (const DeviceParam &device : devices_that(exists)) {
        const DevHandle dev = open_device(device);
        doca_devinfo *const info = doca_dev_as_devinfo(dev);
        const bool can = can_code(info);
        if (!device.is_soft() && !stands_in) {
            EXPECT_FALSE(can) << device;
        }
        const doca_error_t expected = can ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
        for (const doca_ec_job_types type : ec_job_types)
            EXPECT_EQ(doca_ec_job_get_supported(info, type), expected) << device;
        std::uint32_t number = 0;
        EXPECT_EQ(doca_ec_get_max_list_buf_num_elem(info, &number), expected);
        EcHandle ec;
        if (doca_ec_create(ec.out()) == DOCA_ERROR_NOT_SUPPORTED)
            GTEST_SKIP() << "this build has no ISA-L";
        EXPECT_EQ(doca_ctx_dev_add(doca_ec_as_ctx(ec), dev), expected) << device;
        ec.reset();
    }
}

TEST(EcDevices, SoftwareDevicesAnswerAsTheCardOfTheTopology)
{
    const TopologyFile file(R"({"functions": [
        {"name": "any",  "side": "dpu", "type": "pf", "pci": "03:00.0"},
        {"name": "bf2",  "side": "dpu", "type": "pf", "pci": "03:00.1", "engines": "bluefield-2"},
        {"name": "bf3",  "side": "dpu", "type": "pf", "pci": "03:00.2", "engines": "bluefield-3"},
        {"name": "none", "side": "dpu", "type": "pf", "pci": "03:00.3", "engines": "none"}
    ]})");
    const Environment soft("DOCA_SOFT", "1");
    const Environment topology("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    std::string names;
    for (const DeviceParam &device : devices_that([](doca_devinfo *info) { return is_soft(info) && can_code(info); }))
        names += device.ibdev + ' ';
    if (names.empty())
        GTEST_SKIP() << "this build has no ISA-L";
    EXPECT_EQ(names, "soft_any soft_bf3 ");
}

class EcErrorTest : public EcTest {
protected:
    void SetUp() override { coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2); }

    /// Expects jobs of each type to be refused with @p status.
    void expect_refused(doca_matrix *by, const doca_buf *src, doca_buf *dst, doca_error_t status)
    {
        const std::size_t before = dst == nullptr ? 0 : data_len_of(dst);
        for (const doca_ec_job_types type : ec_job_types)
            engine.expect_refused(engine.job(type, by, src, dst).base(), status);
        EXPECT_EQ(dst == nullptr ? 0 : data_len_of(dst), before);
    }

    MatrixHandle coding;
};
INSTANTIATE_FOR_DEVICES(EcErrorTest, can_code);

TEST_P(EcErrorTest, CapabilitiesHaveTheLimitsAndRefuseBadValues)
{
    std::uint32_t number = 77;
    EXPECT_EQ(doca_ec_get_max_list_buf_num_elem(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_get_max_list_buf_num_elem(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_job_get_supported(nullptr, DOCA_EC_JOB_CREATE), DOCA_ERROR_INVALID_VALUE);
    for (const int type : {0, int{DOCA_EC_JOB_GALOIS_MUL} - 1, int{DOCA_EC_JOB_RECOVER} + 1})
        EXPECT_EQ(doca_ec_job_get_supported(info, static_cast<doca_ec_job_types>(type)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(number, 77u);
    EXPECT_EQ(doca_ec_get_max_list_buf_num_elem(info, &number), DOCA_SUCCESS);
    EXPECT_EQ(number, 1024u);
}

TEST_P(EcErrorTest, LifeOfAContext)
{
    EXPECT_EQ(doca_ec_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_as_ctx(nullptr), nullptr);

    EcHandle ec;
    ASSERT_EQ(doca_ec_create(ec.out()), DOCA_SUCCESS);
    doca_ctx *const ctx = doca_ec_as_ctx(ec);
    EXPECT_EQ(doca_ec_as_ctx(ec), ctx);
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_INVALID_VALUE) << "it has no device";
    EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_SUCCESS);
    for (const DeviceParam &device : devices_that(can_code)) {
        const DevHandle other = open_device(device);
        EXPECT_EQ(doca_ctx_dev_add(ctx, other),
                  other.get() == dev.get() ? DOCA_ERROR_IN_USE : DOCA_ERROR_NOT_SUPPORTED);
    }
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ec_destroy(ec), DOCA_ERROR_IN_USE);
    std::uint8_t can_sleep = 0;
    EXPECT_EQ(doca_ctx_get_event_driven_supported(ctx, &can_sleep), DOCA_SUCCESS);
    EXPECT_EQ(can_sleep, 1);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(ctx, dev), DOCA_SUCCESS);
}

TEST_P(EcErrorTest, MatricesNeedNoStartedContextAndOutliveTheirs)
{
    EcHandle other;
    must(doca_ec_create(other.out()));
    MatrixHandle made;
    ASSERT_EQ(doca_ec_matrix_create(other, DOCA_CODING_MATRIX_CAUCHY, 3, 2, made.out()), DOCA_SUCCESS);
    other.reset();
    const Blocks blocks = random_blocks(3, 64);
    EXPECT_EQ(result(DOCA_EC_JOB_CREATE, made, blocks, 2), reference_blocks(reference_cauchy(3, 2), blocks));
}

// Jobs

TEST_P(EcErrorTest, LengthsThatDoNotSuitTheMatrixFailTheJob)
{
    const BufHandle dst = room(4096);
    for (const std::size_t length : {0, 64, 3 * 64 - 1, 3 * 64 + 1, 4 * 64, 5 * 64, 3 * 32, 3 * 100}) {
        const BufHandle src = data(length);
        for (const doca_ec_job_types type : ec_job_types)
            EXPECT_EQ(engine.run(type, coding, src, dst), DOCA_ERROR_IO_FAILED) << length;
        EXPECT_EQ(data_len_of(dst), 0u);
    }
    // A source of twice as many blocks has blocks of twice the size, for which there is no room.
    const BufHandle src = data(6 * 64), small = room(2 * 64), fitting = room(4 * 64);
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, src, small), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(data_len_of(small), 0u);
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, src, fitting), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(fitting), 4 * 64u);
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, src, fitting), DOCA_ERROR_IO_FAILED) << "no room is left";
    EXPECT_EQ(data_len_of(fitting), 4 * 64u);
}

TEST_P(EcErrorTest, JobThatFailsChangesNothing)
{
    const BufHandle src = data(3 * 64), small = room(2 * 64 - 1);
    std::memset(memory.data(), 0x5a, used);
    const std::vector<std::byte> before = memory;
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, src, small), DOCA_ERROR_IO_FAILED);
    EXPECT_TRUE(memory == before);
}

TEST_P(EcErrorTest, MissingPartsAndUnknownTypesAreRefused)
{
    const BufHandle src = data(3 * 64), dst = room(2 * 64);
    expect_refused(nullptr, src, dst, DOCA_ERROR_INVALID_VALUE);
    expect_refused(coding, nullptr, dst, DOCA_ERROR_INVALID_VALUE);
    expect_refused(coding, src, nullptr, DOCA_ERROR_INVALID_VALUE);
    for (const int type : {0, -1, int{DOCA_EC_JOB_GALOIS_MUL} - 1, int{DOCA_EC_JOB_RECOVER} + 1})
        engine.expect_refused(engine.job(type, coding, src, dst).base(), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(EcErrorTest, BuffersThatCannotBeUsedAreRefused)
{
    const BufHandle src = data(3 * 64), dst = room(2 * 64);
    // The member of a list that is not its head.
    BufHandle head = data(64);
    doca_buf *const member = room(2 * 64).release();
    append(head, BufHandle(member));
    expect_refused(coding, src, member, DOCA_ERROR_INVALID_VALUE);
    // Read-only memory is enough for a source, but no destination.
    std::vector<std::byte> own(3 * 64);
    const LocalMap read_only(dev, own, DOCA_ACCESS_LOCAL_READ_ONLY), of_no_device({}, own);
    const BufHandle unwritable = inventory.empty(read_only, own.data(), own.size()),
                    readable = inventory.full(read_only, own.data(), own.size()),
                    foreign = inventory.full(of_no_device, own.data(), own.size());
    expect_refused(coding, src, unwritable, DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, readable, dst), DOCA_SUCCESS);
    expect_refused(coding, foreign, dst, DOCA_ERROR_INVALID_VALUE);
    expect_refused(coding, src, foreign, DOCA_ERROR_INVALID_VALUE);
    // Data outside of its buffer.
    must(doca_buf_set_data(src, data_of(src) + 1, 3 * 64));
    expect_refused(coding, src, dst, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(EcErrorTest, ListsAndBlocksHaveLimits)
{
    std::uint32_t most = 0;
    must(doca_ec_get_max_list_buf_num_elem(info, &most));
    const MatrixHandle one = matrix(DOCA_CODING_MATRIX_CAUCHY, 1, 1);
    const BufHandle dst = room((most + 1) * 64);
    BufHandle list;
    for (std::uint32_t i = 0; i != most; ++i)
        append(list, data(64));
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, one, list, dst), DOCA_SUCCESS);
    append(list, data(std::size_t{0}));
    must(doca_buf_reset_data_len(dst));
    expect_refused(one, list, dst, DOCA_ERROR_INVALID_VALUE);
    // A block of 64 bytes more than 128 MiB.
    const RepeatedMemory huge((std::size_t{1} << 27) + 64);
    const LocalMap huge_map(dev, huge.bytes());
    const BufHandle large = inventory.full(huge_map, huge.data(), (std::size_t{1} << 27) + 64);
    expect_refused(one, large, dst, DOCA_ERROR_INVALID_VALUE);
}

// Matrices

TEST_P(EcErrorTest, MatricesAreRefusedForNumbersOutOfRange)
{
    doca_ec *const ec = engine.library();
    doca_matrix *made = nullptr;
    std::uint8_t raw[] = {1};
    const auto create = [&](int type, std::size_t k, std::size_t m) {
        const doca_error_t status = doca_ec_matrix_create(ec, static_cast<doca_ec_matrix_types>(type), k, m, &made);
        if (status == DOCA_SUCCESS)
            must(doca_ec_matrix_destroy(std::exchange(made, nullptr)));
        return status;
    };
    for (const int type : {0, 3})
        EXPECT_EQ(create(type, 2, 2), DOCA_ERROR_INVALID_VALUE);
    for (const doca_ec_matrix_types type : matrix_types) {
        EXPECT_EQ(create(type, 0, 2), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, 2, 0), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, 256, 1), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, 1, 256), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, SIZE_MAX, 2), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(create(type, 2, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(create(DOCA_CODING_MATRIX_CAUCHY, 200, 56), DOCA_SUCCESS);
    EXPECT_EQ(create(DOCA_CODING_MATRIX_CAUCHY, 200, 57), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(create(DOCA_CODING_MATRIX_VANDERMONDE, 255, 57), DOCA_SUCCESS);
    EXPECT_EQ(doca_ec_matrix_from_raw(ec, raw, 0, 1, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_matrix_from_raw(ec, raw, 1, 256, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(made, nullptr) << "outputs are set only on success";
}

TEST_P(EcErrorTest, MatricesAreRefusedForIndicesOutOfRange)
{
    doca_ec *const ec = engine.library();
    doca_matrix *made = nullptr;
    std::uint32_t index = 0;
    EXPECT_EQ(doca_ec_recover_matrix_create(coding, ec, &index, 0, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_recover_matrix_create(coding, ec, &index, SIZE_MAX, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_update_matrix_create(coding, ec, &index, 0, &made), DOCA_ERROR_INVALID_VALUE);
    using Indices = std::vector<std::uint32_t>;
    for (Indices indices : {Indices{5}, {0, 5}, {0, 1, 2}, {1, 0}, {1, 1}, {UINT32_MAX}})
        EXPECT_EQ(doca_ec_recover_matrix_create(coding, ec, indices.data(), indices.size(), &made),
                  DOCA_ERROR_INVALID_VALUE)
            << indices[0];
    for (Indices indices : {Indices{3}, {0, 3}, {0, 1, 2, 3}, {2, 1}, {2, 2}, {UINT32_MAX}})
        EXPECT_EQ(doca_ec_update_matrix_create(coding, ec, indices.data(), indices.size(), &made),
                  DOCA_ERROR_INVALID_VALUE)
            << indices[0];
    // An update matrix that has more inputs than a coding matrix can have.
    const MatrixHandle wide = matrix(DOCA_CODING_MATRIX_VANDERMONDE, 1, 255), of_wide = update_matrix(wide, {0});
    EXPECT_EQ(doca_ec_recover_matrix_create(of_wide, ec, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ec_update_matrix_create(of_wide, ec, &index, 1, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(made, nullptr) << "outputs are set only on success";
}

// Memory of another process

/// The importer's device works on memory that the exporter's has exported.
class EcImportTest : public testing::TestWithParam<DevicePair> {
protected:
    static constexpr std::size_t block = 4096, num_data = 3, num_redundancy = 2;

    void SetUp() override
    {
        if (!can_code(doca_dev_as_devinfo(dev)))
            GTEST_SKIP() << "the importer does no erasure coding";
    }
    void import(std::uint32_t rights)
    {
        exported_map = std::make_unique<LocalMap>(host, exported, DOCA_ACCESS_LOCAL_READ_WRITE | rights);
        const void *descriptor = nullptr;
        std::size_t length = 0;
        must(doca_mmap_export_dpu(*exported_map, host, &descriptor, &length));
        must(doca_mmap_create_from_export(nullptr, descriptor, length, dev, imported.out()));
        for (std::size_t i = 0; i != num_data; ++i) {
            std::memset(&exported[i * block], static_cast<int>(i + 1), block);
            std::memset(&own[i * block], static_cast<int>(i + 1), block);
        }
    }
    /// Whether the redundancy of the blocks that import() has made is at @p at.
    static bool is_redundancy(const std::byte *at)
    {
        const Blocks blocks = {Block(block, 1), Block(block, 2), Block(block, 3)};
        const Blocks expected = reference_blocks(reference_cauchy(num_data, num_redundancy), blocks);
        return std::memcmp(at, expected[0].data(), block) == 0 &&
               std::memcmp(at + block, expected[1].data(), block) == 0;
    }
    static MatrixHandle coding_of(const EcEngine &engine)
    {
        MatrixHandle made;
        must(doca_ec_matrix_create(engine.library(), DOCA_CODING_MATRIX_CAUCHY, num_data, num_redundancy, made.out()));
        return made;
    }

    static constexpr std::size_t size = (num_data + num_redundancy) * block;
    const DevHandle host = open_device(GetParam().exporter), dev = open_device(GetParam().importer);
    std::vector<std::byte> exported = std::vector<std::byte>(size), own = std::vector<std::byte>(size);
    const LocalMap own_map{dev, own};
    std::unique_ptr<LocalMap> exported_map;
    MmapHandle imported;
    const Inventory inventory{8};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EcImportTest);
INSTANTIATE_TEST_SUITE_P(pair, EcImportTest, testing::ValuesIn(few_device_pairs()), pair_name);

TEST_P(EcImportTest, SourceAndDestinationMayBeImported)
{
    import(DOCA_ACCESS_DPU_READ_WRITE);
    const EcEngine engine(dev);
    const MatrixHandle coding = coding_of(engine);
    const BufHandle remote = inventory.full(imported, exported.data(), num_data * block),
                    local = inventory.full(own_map, own.data(), num_data * block),
                    remote_room = inventory.empty(imported, &exported[num_data * block], num_redundancy * block),
                    local_room = inventory.empty(own_map, &own[num_data * block], num_redundancy * block);
    if (!GetParam().importer.is_soft()) {
        engine.expect_refused(engine.job(DOCA_EC_JOB_CREATE, coding, remote, local_room).base(),
                              DOCA_ERROR_NOT_PERMITTED);
        engine.expect_refused(engine.job(DOCA_EC_JOB_CREATE, coding, local, remote_room).base(),
                              DOCA_ERROR_NOT_PERMITTED);
        return;
    }
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, remote, local_room), DOCA_SUCCESS);
    EXPECT_TRUE(is_redundancy(&own[num_data * block]));
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, local, remote_room), DOCA_SUCCESS);
    EXPECT_TRUE(is_redundancy(&exported[num_data * block]));
}

TEST_P(EcImportTest, MemoryExportedForReadingIsNotWritten)
{
    import(DOCA_ACCESS_DPU_READ_ONLY);
    const EcEngine engine(dev);
    const MatrixHandle coding = coding_of(engine);
    const BufHandle src = inventory.full(own_map, own.data(), num_data * block),
                    dst = inventory.empty(imported, &exported[num_data * block], num_redundancy * block);
    engine.expect_refused(engine.job(DOCA_EC_JOB_CREATE, coding, src, dst).base(), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(exported[num_data * block], std::byte{0});
}

TEST_P(EcImportTest, MemoryThatIsNoLongerExportedFailsTheJob)
{
    if (!GetParam().importer.is_soft())
        GTEST_SKIP() << "imported memory is refused";
    import(DOCA_ACCESS_DPU_READ_WRITE);
    const EcEngine engine(dev);
    const MatrixHandle coding = coding_of(engine);
    const BufHandle src = inventory.full(imported, exported.data(), num_data * block),
                    dst = inventory.empty(own_map, &own[num_data * block], num_redundancy * block);
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, src, dst), DOCA_SUCCESS);
    must(doca_buf_reset_data_len(dst));
    must(doca_mmap_stop(*exported_map));
    EXPECT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, src, dst), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(data_len_of(dst), 0u);
}
