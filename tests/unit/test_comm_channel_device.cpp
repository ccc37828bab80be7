// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comm Channel on a device that is no software device.
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include <doca_comm_channel.h>

#include "../../src/core/objects/dev.hpp"
#include "../conformance/support/handle.hpp"
#include "../conformance/support/log_capture.hpp"

using namespace doca_test;

namespace {

class RealDevice final : public opendoca::Device {
    using Device::Device;
};

class RealFunction final : public opendoca::DeviceFunction {
public:
    RealFunction()
    {
        provider = "verbs";
        name = "mlx5_0";
        pci_address = "0000:03:00.0";
        ibdev_name = "mlx5_0";
        can.representors_net = true;
    }
    [[nodiscard]] doca_error_t open(std::unique_ptr<opendoca::Device> &device) const override
    {
        device = std::make_unique<RealDevice>(*this);
        return DOCA_SUCCESS;
    }
};

} // namespace

TEST(CommChannelDevice, RealDevicesSayNo)
{
    doca_devinfo info{std::make_shared<RealFunction>()};
    std::uint32_t value = 77;
    for (const auto query :
         {doca_comm_channel_get_max_message_size, doca_comm_channel_get_max_send_queue_size,
          doca_comm_channel_get_max_recv_queue_size, doca_comm_channel_get_service_max_num_connections}) {
        EXPECT_EQ(query(&info, &value), DOCA_ERROR_NOT_SUPPORTED);
    }
    EXPECT_EQ(value, 77u);
    DevHandle dev;
    ASSERT_EQ(doca_dev_open(&info, dev.out()), DOCA_SUCCESS);
    Handle<doca_comm_channel_ep_t, doca_comm_channel_ep_destroy> ep;
    ASSERT_EQ(doca_comm_channel_ep_create(ep.out()), DOCA_SUCCESS);
    const LogCapture log;
    EXPECT_EQ(doca_comm_channel_ep_set_device(ep, dev), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "device mlx5_0 (0000:03:00.0): Comm Channel has no path to the other side");
    doca_dev *set = untouched<doca_dev>();
    ASSERT_EQ(doca_comm_channel_ep_get_device(ep, &set), DOCA_SUCCESS);
    EXPECT_EQ(set, nullptr);
}
