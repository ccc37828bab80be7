// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "provider.hpp"

#include <cstdint>
#include <memory>

#include "copy_engine.hpp"

namespace opendoca::skeleton {

namespace {

/// An open device (step 3). What it does not override returns NOT_SUPPORTED: exports, RDMA and sync events.
class SkeletonDevice final : public Device {
public:
    using Device::Device;

    /// Hardware would pin the range and get a key for it. The CPU needs none, so the key only has the uses.
    [[nodiscard]] doca_error_t register_memory(const MemoryRange &, std::uint32_t access,
                                               std::unique_ptr<MemoryKey> &key) override
    {
        constexpr std::uint32_t possible = KeyUse::dma_source | KeyUse::dma_destination;
        key = std::make_unique<MemoryKey>(KeyUse::of_own(access) & possible);
        return DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t create_copy_engine(CompletionQueue &completions,
                                                  std::unique_ptr<CopyEngine> &engine) override
    {
        engine = std::make_unique<SkeletonCopyEngine>(completions);
        return DOCA_SUCCESS;
    }
};

/// What is listed and can be opened (step 2). Capability queries of all libraries are answered from `can`.
class SkeletonFunction final : public DeviceFunction {
public:
    SkeletonFunction()
    {
        provider = "skeleton";
        name = ibdev_name = "skeleton0";
        pci_address = "0000:7f:00.0";
        can.dma_memcpy = true;
        can.dma_event_driven = true;
        can.dma_max_list_elements = 4;
        can.dma_max_size = 1000;
    }
    [[nodiscard]] doca_error_t open(std::unique_ptr<Device> &device) const override
    {
        device = std::make_unique<SkeletonDevice>(*this);
        return DOCA_SUCCESS;
    }
};

} // namespace

void list_functions(DeviceFunctions &functions)
{
    functions.push_back(std::make_shared<SkeletonFunction>());
}

} // namespace opendoca::skeleton
