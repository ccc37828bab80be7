// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The provider contract: what a device must be able to do. A provider is a folder below this one and one line
// in providers.cpp. An operation that a device lacks is the one of the base class, which answers
// NOT_SUPPORTED.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doca_error.h>
#include <doca_types.h>

#include "../guard.hpp"
#include "../memory_range.hpp"
#include "../public_values.hpp"

struct ibv_pd;

namespace opendoca {

class CompletionQueue;
class Connector;
class CopyEngine;
class Counter;
class DeviceFunction;
class Dmabuf;
class DoorbellPage;
class QueuePair;
class ReceiveQueue;
class UserMemory;
struct CounterSetup;
enum class ConnectionState : std::uint8_t;
enum class DoorbellAccess : std::uint8_t;
struct QueuePairSettings;

/// Who may import an export descriptor.
enum class ExportKind : std::uint16_t {
    dpu = 1, ///< the other side of the PCIe
    rdma = 2,
    receive = 3,      ///< nobody: a device's own, for the messages of a connection
    counter = 4,      ///< the DPU, as a sync event
    counter_word = 5, ///< the same, for a counter outside of the device's own memory
    host = 6,         ///< the functions behind a port of the DPU, and the port: the software device's memory of the DPU
};

/// What a device may do with a memory range: bits, of which a range can have any.
struct KeyUse {
    static constexpr std::uint32_t dma_source = 1;
    static constexpr std::uint32_t dma_destination = 2;
    static constexpr std::uint32_t copied_here = 4; ///< DMA is done by the CPU, as any memory of this process
    static constexpr std::uint32_t rdma_local = 8;
    static constexpr std::uint32_t rdma_remote = 16;
    static constexpr std::uint32_t by_fast_path = 1u << 15; ///< of no key: see doca_buf::fast_path_uses

    /// Of a range of this process. RDMA needs Access::local_read_write.
    [[nodiscard]] static constexpr std::uint32_t of_own(std::uint32_t access) noexcept
    {
        return dma_source | ((access & Access::local_read_write) != 0 ? dma_destination | rdma_local : 0);
    }
};

/// What makes a memory range usable by one device.
class OPENDOCA_INTERNAL MemoryKey {
public:
    explicit MemoryKey(std::uint32_t possible_uses, std::uint64_t key_number = 0) noexcept
        : uses(possible_uses),
          number(key_number)
    {
    }
    MemoryKey(const MemoryKey &) = delete;
    MemoryKey &operator=(const MemoryKey &) = delete;
    virtual ~MemoryKey();

    [[nodiscard]] bool can(std::uint32_t wanted) const noexcept { return (uses & wanted) == wanted; }

    /// Writes the descriptor that another process, or the DPU, imports.
    [[nodiscard]] virtual doca_error_t export_to(ExportKind kind, std::vector<std::byte> &descriptor);
    /// The key as rdma-core's own work requests take it.
    [[nodiscard]] virtual doca_error_t mkey(std::uint32_t &key) const;

    const std::uint32_t uses;   ///< of struct KeyUse
    const std::uint64_t number; ///< by which the device knows it, or 0
};

/// A device that this process has open.
class OPENDOCA_INTERNAL Device {
public:
    explicit Device(const DeviceFunction &function) noexcept : function_(function) {}
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    virtual ~Device();

    [[nodiscard]] virtual doca_error_t register_memory(const MemoryRange &range, std::uint32_t access,
                                                       std::unique_ptr<MemoryKey> &key);
    [[nodiscard]] virtual doca_error_t register_dmabuf(const Dmabuf &dmabuf, std::uint32_t access,
                                                       std::unique_ptr<MemoryKey> &key);
    [[nodiscard]] virtual doca_error_t import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                                     std::unique_ptr<MemoryKey> &key);
    /// Copies whose ends go to @p completions.
    [[nodiscard]] virtual doca_error_t create_copy_engine(CompletionQueue &completions,
                                                          std::unique_ptr<CopyEngine> &engine);
    /// One end of a connection, which keeps @p state up to date.
    [[nodiscard]] virtual doca_error_t create_queue_pair(const QueuePairSettings &settings,
                                                         std::atomic<ConnectionState> &state,
                                                         std::unique_ptr<QueuePair> &queue_pair);
    /// For at most @p size receives of at most @p chain_length buffers each, which queue pairs then share.
    [[nodiscard]] virtual doca_error_t create_receive_queue(CompletionQueue &completions, std::uint32_t size,
                                                            std::uint32_t chain_length,
                                                            std::unique_ptr<ReceiveQueue> &queue);
    /// For connections by address, where the device has a way of its own to ask for them. NOT_SUPPORTED, without a word
    /// in the log, where it has none: the library then uses TCP.
    [[nodiscard]] virtual doca_error_t create_connector(std::unique_ptr<Connector> &connector);
    [[nodiscard]] virtual doca_error_t create_counter(const CounterSetup &setup,
                                                      std::unique_ptr<Counter> &counter);
    /// A handle of a counter that another process, the host, has exported.
    [[nodiscard]] virtual doca_error_t import_counter(std::span<const std::byte> descriptor,
                                                      std::unique_ptr<Counter> &counter);
    /// For queues that the program makes itself: its memory, and a page of doorbells.
    [[nodiscard]] virtual doca_error_t create_user_memory(const MemoryRange &range, std::uint32_t access,
                                                          std::unique_ptr<UserMemory> &memory);
    [[nodiscard]] virtual doca_error_t create_doorbell_page(DoorbellAccess access,
                                                            std::unique_ptr<DoorbellPage> &page);
    /// What memory is registered in; null where a device is none of libibverbs.
    [[nodiscard]] virtual ibv_pd *protection_domain() const noexcept;

    /// That it was opened by, and that outlives it.
    [[nodiscard]] const DeviceFunction &function() const noexcept { return function_; }

private:
    const DeviceFunction &function_;
};

/// A global identifier of an RDMA port.
using Gid = std::array<std::uint8_t, 16>;
using MacAddress = std::array<std::uint8_t, 6>;
using Ipv4Address = std::array<std::uint8_t, 4>;
using Ipv6Address = std::array<std::uint8_t, 16>;

// Bytes that programs have room for, with the NUL. Equal in all generations of the API.
inline constexpr std::size_t max_ibdev_name = 64;
inline constexpr std::size_t max_vuid = 128;

/// What people ask about a device that lacks it.
enum class Ability : std::uint8_t {
    copy,
    hash_by_engine,
    connect,
    atomics,
    protection_domain,
    message_channel, ///< to the other side of the PCIe, as either end
    message_service, ///< the same as the end that listens
    export_memory,
    import_memory,
    export_counter,
    import_counter,
    list_representors,
    list_emulated,
    manage_hotplug,
};

struct RdmaCapabilities {
    bool reliable_connection = false; ///< with all operations but atomics
    bool atomics = false; ///< also of a port that cannot connect: for the library's own queue pairs, within the device
    bool event_driven = false;
    bool shared_receives = false; ///< connections can have their receives in common
    bool is_ethernet = true;
    std::uint32_t max_queue_size = 0; ///< as the device's attributes have it, see DeviceFunction::max_queue_size()
    std::uint32_t max_message_size = 0; ///< bytes
    std::uint32_t max_chain_length = 0; ///< buffers on the local side of a job
    doca_mtu_size active_mtu = DOCA_MTU_SIZE_1K_BYTES;
    std::vector<Gid> gids; ///< by index; empty entries are all zero

    [[nodiscard]] bool atomics_of_connections() const noexcept { return reliable_connection && atomics; }
};

struct Capabilities {
    bool hotplug_manager = false;
    bool export_dpu = false;      ///< as far as listing knows, see DeviceFunction::can_export_dpu()
    bool from_export_dpu = false; ///< the same
    bool representors_net = false;
    bool representors_emulated = false;
    bool dma_memcpy = false;
    bool dma_event_driven = false;
    std::uint32_t dma_max_list_elements = 0;
    std::uint64_t dma_max_size = 0; ///< bytes
    bool sync_event = false;
    bool sync_event_event_driven = false;
    bool sync_event_export_dpu = false;      ///< as far as listing knows, see DeviceFunction::can_export_counter()
    bool sync_event_from_export_dpu = false; ///< the same
    bool sha_software = false; ///< on the CPU, by OpenSSL
    bool sha_hardware = false; ///< by an engine, or by the software device's emulation of one
    std::uint32_t sha_max_list_elements = 0;
    std::uint64_t sha_max_size = 0; ///< bytes
    bool comm_channel = false;      ///< see DeviceFunction::services_at
    bool messages_by_queue_pairs = false; ///< of Comm Channel: see DeviceFunction::messages_by
    RdmaCapabilities rdma;

    /// What the CPU does and needs no device for: sync events that stay in their process, and OpenSSL.
    void add_work_of_cpu() noexcept
    {
        sync_event = true;
        sync_event_event_driven = true;
        sha_software = true;
        sha_max_list_elements = 1024;
        sha_max_size = std::uint64_t{1} << 31;
    }
};

/// What the other side of the PCIe knows a function by.
struct FunctionIdentity {
    std::string name;        ///< or that of its card
    std::string pci_address; ///< dddd:bb:dd.f, or what stands for it on the card

    bool operator==(const FunctionIdentity &) const = default;
};

struct RepresentorInfo {
    std::string name;
    std::string pci_address;       ///< dddd:bb:dd.f
    std::vector<std::string> also; ///< further addresses that it answers to, which no list shows
    std::string vuid;
    FunctionType type = FunctionType::pf;
    bool is_emulated = false;
    /// Where its name and address are not what its function knows itself by.
    std::optional<FunctionIdentity> known_as;
    std::string iface_name; ///< its own interface, on this side; empty where there is none
    std::optional<std::uint16_t> vhca_id; ///< of the function, where the card tells it

    [[nodiscard]] FunctionIdentity identity() const
    {
        return known_as.value_or(FunctionIdentity{name, pci_address});
    }
    bool operator==(const RepresentorInfo &) const = default;
};

/// A function of a device, as a list of devices shows it.
class OPENDOCA_INTERNAL DeviceFunction {
public:
    DeviceFunction() = default;
    DeviceFunction(const DeviceFunction &) = delete;
    DeviceFunction &operator=(const DeviceFunction &) = delete;
    virtual ~DeviceFunction();

    [[nodiscard]] virtual doca_error_t open(std::unique_ptr<Device> &device) const = 0;
    [[nodiscard]] virtual std::vector<RepresentorInfo> representors() const;
    /// Sends, and at the same time receives, that a connection can have in flight: a power of two, or 0 when there can
    /// be no connection. The first question may take the time of trying it on the device. Thread-safe.
    [[nodiscard]] virtual std::uint32_t max_queue_size() const noexcept;
    /// Whether memory can be exported to the DPU, and whether what the host has exported can be imported. The first
    /// question may take the time of trying it on the device. Thread-safe.
    [[nodiscard]] virtual bool can_export_dpu() const noexcept;
    [[nodiscard]] virtual bool can_import_dpu() const noexcept;
    /// The same of sync events.
    [[nodiscard]] virtual bool can_export_counter() const noexcept;
    [[nodiscard]] virtual bool can_import_counter() const noexcept;
    /// Lines for people: by what the device does its work, and what it cannot do, or was not to be learnt of it, and
    /// why. May try, as the others.
    [[nodiscard]] virtual std::vector<std::string> remarks() const;
    /// For people: why the function lacks @p ability, which it does lack. May try, as the others.
    [[nodiscard]] virtual std::string reason_against(Ability ability) const;

    /// "p0 (0000:03:00.0)", for messages.
    [[nodiscard]] std::string description() const;

    std::string provider;    ///< "soft", "verbs", "mlx5"
    std::string name;        ///< unique within the provider
    std::string pci_address;       ///< dddd:bb:dd.f, or empty
    std::vector<std::string> also; ///< further addresses that it answers to, which no list shows
    std::string ibdev_name;
    std::string iface_name;
    std::string vuid; ///< or empty, where none is known
    FunctionType type = FunctionType::pf;
    std::optional<MacAddress> mac;
    std::optional<Ipv4Address> ipv4;
    std::optional<Ipv6Address> ipv6;
    std::optional<std::uint16_t> lid;
    std::optional<std::uint64_t> active_rate; ///< bits per second, of a port that is up
    std::optional<std::uint16_t> vhca_id; ///< by which the card knows the function
    std::optional<std::uint32_t> sf_number; ///< as a subfunction was created with
    bool is_port_active = true;
    Capabilities can;
    /// As which function behind a port of the DPU it connects to services. A port can act as one of those behind it;
    /// empty where there is none.
    std::optional<FunctionIdentity> behind_port;
    /// Where services of the DPU listen, and clients look for them: a numeric address, with or without a port. Empty:
    /// they are processes of this machine.
    std::string services_at;
    /// Another function of the card, by whose queue pairs messages across the PCIe go, since this one's port reaches
    /// nobody; null: by its own.
    std::shared_ptr<const DeviceFunction> messages_by;
    std::string port; ///< of the DPU, that it is behind; empty for a port itself, and where none is known
};

using DeviceFunctions = std::vector<std::shared_ptr<const DeviceFunction>>;

/// Every function of every provider that this process may see, in listing order.
[[nodiscard]] doca_error_t list_functions(DeviceFunctions &functions);

/// On a protection domain of the program, of the provider whose devices have such.
[[nodiscard]] doca_error_t open_from_pd(ibv_pd &pd, std::shared_ptr<const DeviceFunction> &function,
                                        std::unique_ptr<Device> &device);

/// The end of a message that nothing in a list has @p pci_address: what in the topology and the environment of
/// software devices explains it, from "; " on, or nothing. @p lists_soft: the list has software devices.
[[nodiscard]] std::string explain_missing(const std::string &pci_address, bool lists_soft);

} // namespace opendoca
