// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "function.hpp"

#include <endian.h>

#include "../../log.hpp"
#include "device.hpp"
#include "provider.hpp"
#include "trials.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_FUNCTION);

namespace opendoca::mlx5 {

std::shared_ptr<verbs::VerbsFunction> make_function(ibv_context &context, const ibv_device_attr_ex &attributes,
                                                    std::uint32_t port)
{
    constexpr std::uint32_t mellanox = 0x02c9; // as ibv_query_device() has it: not the number on the PCI bus
    if (attributes.orig_attr.vendor_id != mellanox)
        return nullptr;
    const Library *const library = load_library();
    if (library == nullptr || !library->is_supported(context.device))
        return nullptr;
    DeviceCapabilities capabilities;
    if (const Outcome outcome = Commands(*library, context).query_capabilities(capabilities); !outcome.is_good()) {
        LOG_INFO("device %s takes no commands, and is used as a plain RDMA device: %s",
                 ibv_get_device_name(context.device), outcome.to_text().c_str());
        return nullptr;
    }
    return std::make_shared<Mlx5Function>(*library, context, attributes, port, capabilities);
}

Mlx5Function::Mlx5Function(const Library &library, ibv_context &context, const ibv_device_attr_ex &attributes,
                           std::uint32_t port, const DeviceCapabilities &capabilities)
    : VerbsFunction(context, attributes, port),
      library_(library),
      capabilities_(capabilities),
      card_guid_(be64toh(attributes.orig_attr.sys_image_guid))
{
    provider = "mlx5";
    can.representors_net = capabilities.manages_eswitch;
}

doca_error_t Mlx5Function::open(std::unique_ptr<Device> &device) const
{
    return Mlx5Device::open(*this, device);
}

bool Mlx5Function::can_export_dpu() const noexcept
{
    return sharing_of(*this).way != Sharing::Way::none;
}

bool Mlx5Function::can_import_dpu() const noexcept
{
    return sharing_of(*this).imports;
}

std::vector<std::string> Mlx5Function::remarks() const
{
    std::vector<std::string> lines;
    const auto add = [&](std::string text, const std::string &reason) {
        text += reason;
        lines.push_back(std::move(text));
    };
    if (const Engine &engine = engine_of(*this); engine.works)
        add("copies by the DMA engine", "");
    else
        add("copies by RDMA loopback: ", engine.reason);
    const Sharing &sharing = sharing_of(*this);
    switch (sharing.way) {
    case Sharing::Way::none:
        add("no memory across the PCIe: ", sharing.reason);
        break;
    case Sharing::Way::indirect:
        add("memory across the PCIe by indirect keys", "");
        break;
    case Sharing::Way::direct:
        add("memory across the PCIe by direct keys", "");
        break;
    }
    if (sharing.way != Sharing::Way::none && !sharing.imports)
        add("no memory of others: ", sharing.reason);
    if (can.representors_net)
        add("not to be learnt: the PCI addresses of the host's VFs, and VUIDs of SFs", "");
    return lines;
}

} // namespace opendoca::mlx5
