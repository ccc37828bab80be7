// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Provider contract: what a device must implement. A provider is a subfolder of this one and one line in providers.cpp.
// A device that does not support an operation inherits the base class's version, which returns NOT_SUPPORTED.
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

#include "../base/guard.hpp"
#include "../base/memory_range.hpp"
#include "../base/public_values.hpp"

struct ibv_pd;
struct rdma_cm_id;

namespace opendoca {

class BridgedLink;
class CompletionOrder;
class CompletionQueue;
class Connector;
class CopyEngine;
class Counter;
class DeviceFunction;
class Dmabuf;
class DoorbellPage;
class MemoryCopier;
class QueuePair;
class ReceiveQueue;
class UserMemory;
struct CounterSetup;
enum class ConnectionState : std::uint8_t;
enum class DoorbellAccess : std::uint8_t;
struct QueuePairSettings;

/// The importer that the descriptor of a memory map is for.
enum class ExportKind : std::uint8_t {
    dpu,  ///< the other side of the PCIe
    rdma, ///< the peer of a connection
};

/// The clocks of a device.
enum class DeviceClock : std::uint8_t {
    free_running, ///< counts from an undefined start, at a rate of the device's own
    real_time,    ///< nanoseconds since 1970
};

/// What a device may do with a memory range: a set of bits.
struct KeyUse {
    static constexpr std::uint32_t dma_source = 1;
    static constexpr std::uint32_t dma_destination = 2;
    static constexpr std::uint32_t copied_here = 4; ///< the CPU can copy it as memory of this process
    static constexpr std::uint32_t rdma_local = 8;
    static constexpr std::uint32_t rdma_remote = 16;
    static constexpr std::uint32_t by_fast_path = 1u << 15; ///< not a use of a key: see doca_buf::fast_path_uses

    /// Returns the uses of a range of this process. RDMA requires Access::local_read_write.
    [[nodiscard]] static constexpr std::uint32_t of_own(std::uint32_t access) noexcept
    {
        return dma_source | ((access & Access::local_read_write) != 0 ? dma_destination | rdma_local : 0);
    }
};

/// The registration of one memory range with one device. Owned by the memory map; immutable, so any thread may read it.
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

    [[nodiscard]] bool can(std::uint32_t required) const noexcept { return (uses & required) == required; }

    /// Writes a descriptor that another process or the DPU can import.
    [[nodiscard]] virtual doca_error_t export_to(ExportKind kind, std::vector<std::byte> &descriptor);
    /// Returns the lkey or rkey for work requests of rdma-core.
    [[nodiscard]] virtual doca_error_t mkey(std::uint32_t &key) const;

    const std::uint32_t uses;   ///< bits of KeyUse
    const std::uint64_t number; ///< the device's number for the key, or 0
};

/// An open device. Creates memory keys, copy engines, queue pairs and counters, which it must outlive. Owned by a
/// doca_dev and shared by the contexts that use it. Thread-safe. Functions that create an object set the output only on
/// success.
class OPENDOCA_INTERNAL Device {
public:
    explicit Device(const DeviceFunction &function) noexcept : function_(function) {}
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    virtual ~Device();

    /// Registers memory of this process. @p access: bits of Access. The range must stay mapped as long as the key
    /// exists.
    [[nodiscard]] virtual doca_error_t register_memory(const MemoryRange &range, std::uint32_t access,
                                                       std::unique_ptr<MemoryKey> &key);
    /// Registers memory that a dmabuf describes, for example that of a GPU.
    [[nodiscard]] virtual doca_error_t register_dmabuf(const Dmabuf &dmabuf, std::uint32_t access,
                                                       std::unique_ptr<MemoryKey> &key);
    /// Imports memory that another process or the host has exported. @p descriptor is untrusted. Sets @p range to the
    /// exporter's range, which may be an address in another process. INVALID_VALUE, logged, if the descriptor is not
    /// valid.
    [[nodiscard]] virtual doca_error_t import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                                     std::unique_ptr<MemoryKey> &key);
    /// Creates an engine for copies that complete on @p completions.
    [[nodiscard]] virtual doca_error_t create_copy_engine(CompletionQueue &completions,
                                                          std::unique_ptr<CopyEngine> &engine);
    /// Creates a copier for work that the CPU does on imported memory. NOT_SUPPORTED, without a log message, if the
    /// device cannot copy at once.
    [[nodiscard]] virtual doca_error_t create_memory_copier(std::unique_ptr<MemoryCopier> &copier);
    /// Creates one end of a connection. It stores its state in @p state.
    [[nodiscard]] virtual doca_error_t create_queue_pair(const QueuePairSettings &settings,
                                                         std::atomic<ConnectionState> &state,
                                                         std::unique_ptr<QueuePair> &queue_pair);
    /// Creates a queue of at most @p size receives of at most @p chain_length buffers each, for queue pairs to share.
    [[nodiscard]] virtual doca_error_t create_receive_queue(CompletionQueue &completions, std::uint32_t size,
                                                            std::uint32_t chain_length,
                                                            std::unique_ptr<ReceiveQueue> &queue);
    /// Creates a connector for connections by address. NOT_SUPPORTED, without a log message, if the device has no
    /// connection manager of its own; the library then uses TCP.
    [[nodiscard]] virtual doca_error_t create_connector(std::unique_ptr<Connector> &connector);
    /// Creates the link of a connection that the program establishes by @p id, and lets rdma_cm use @p queue_pair,
    /// which must outlive the link. INVALID_VALUE, logged, if @p id belongs to another device.
    [[nodiscard]] virtual doca_error_t bridge(rdma_cm_id &id, QueuePair &queue_pair,
                                              std::unique_ptr<BridgedLink> &link);
    /// Creates a counter in memory of this process.
    [[nodiscard]] virtual doca_error_t create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter);
    /// Creates a handle of a counter that a process of the host has exported.
    [[nodiscard]] virtual doca_error_t import_counter(std::span<const std::byte> descriptor,
                                                      std::unique_ptr<Counter> &counter);
    /// Reads a clock of the device, without blocking. NOT_SUPPORTED, without a log message, if it has none.
    [[nodiscard]] virtual doca_error_t read_clock(DeviceClock clock, std::uint64_t &value) noexcept;
    /// For device queues that the program creates itself: registers its memory (a UMEM), and maps a doorbell page (a
    /// UAR).
    [[nodiscard]] virtual doca_error_t create_user_memory(const MemoryRange &range, std::uint32_t access,
                                                          std::unique_ptr<UserMemory> &memory);
    [[nodiscard]] virtual doca_error_t create_doorbell_page(DoorbellAccess access, std::unique_ptr<DoorbellPage> &page);
    /// Returns the protection domain in which memory is registered, or null if the device is not a libibverbs device.
    [[nodiscard]] virtual ibv_pd *protection_domain() const noexcept;

    /// Returns the function that this device was opened by, which outlives it.
    [[nodiscard]] const DeviceFunction &function() const noexcept { return function_; }

private:
    const DeviceFunction &function_; ///< outlives the device
};

/// A global identifier of an RDMA port.
using Gid = std::array<std::uint8_t, 16>;
using MacAddress = std::array<std::uint8_t, 6>;
using Ipv4Address = std::array<std::uint8_t, 4>;
using Ipv6Address = std::array<std::uint8_t, 16>;

// Sizes of the buffers that programs provide, including the terminating NUL; equal in all generations of the API.
inline constexpr std::size_t max_ibdev_name = 64;
inline constexpr std::size_t max_vuid = 128;

/// Abilities for which reason_against() explains why a device lacks them.
enum class Ability : std::uint8_t {
    copy,
    hash_by_engine,
    compress,
    erasure_coding,
    encrypt, ///< AES-GCM
    connect,
    atomics,
    protection_domain,
    message_channel, ///< Comm Channel and Comch to the other side of the PCIe, in either role
    message_service, ///< the same as a server
    export_memory,
    import_memory,
    export_counter,
    import_counter,
    list_representors,
    list_emulated,
    manage_hotplug,
};

/// The rules of the software device's strict mode that checks of the libraries enforce; see docs/strict.md.
enum class StrictRule : std::uint8_t {
    max_list_length,     ///< buffers in a list of DMA or SHA
    dpu_port_is_no_host, ///< a port of the DPU acts for no function of the host
    late_destination,    ///< destinations are written after the submission
    ended_process,       ///< memory of a process that has ended is refused at once
};

/// What a function supports for connections. Limits are those of one connection.
struct RdmaCapabilities {
    bool reliable_connection = false; ///< all operations except atomics
    /// May be set without reliable_connection: then only the library's own loopback queue pairs use them.
    bool atomics = false;
    bool event_driven = false;
    bool shared_receives = false; ///< connections can share a receive queue
    bool is_ethernet = true;
    std::uint32_t max_queue_size = 0;   ///< from the device's attributes; see DeviceFunction::max_queue_size()
    std::uint32_t max_message_size = 0; ///< bytes
    std::uint32_t max_chain_length = 0; ///< most buffers on the local side of an operation
    doca_mtu_size active_mtu = DOCA_MTU_SIZE_1K_BYTES;
    std::vector<Gid> gids; ///< by index; unused entries are all zero

    [[nodiscard]] bool atomics_of_connections() const noexcept { return reliable_connection && atomics; }
};

/// A card whose engines the CPU stands in for, with the tasks and limits that users report of it.
enum class EngineProfile : std::uint8_t { all, none, bluefield_2, bluefield_3 };

/// What a function supports, as device lists report it. A provider sets it before the list is complete.
struct Capabilities {
    bool hotplug_manager = false;
    bool export_dpu = false;      ///< as known at listing; see DeviceFunction::can_export_dpu()
    bool from_export_dpu = false; ///< as known at listing; see DeviceFunction::can_import_dpu()
    bool representors_net = false;
    bool representors_emulated = false;
    bool dma_memcpy = false;
    bool dma_event_driven = false;
    std::uint32_t dma_max_list_elements = 0;
    std::uint64_t dma_max_size = 0; ///< bytes
    bool sync_event = false;
    bool sync_event_event_driven = false;
    bool sync_event_export_dpu = false;      ///< as known at listing; see DeviceFunction::can_export_counter()
    bool sync_event_from_export_dpu = false; ///< as known at listing; see DeviceFunction::can_import_counter()
    bool sha_software = false;               ///< on the CPU, by OpenSSL
    bool sha_hardware = false;               ///< by an engine, or by the software device's emulation of one
    std::uint32_t sha_max_list_elements = 0;
    std::uint64_t sha_max_size = 0; ///< bytes
    bool compress_deflate = false;
    bool decompress_deflate = false;
    bool decompress_lz4 = false;                  ///< streams and blocks
    std::uint32_t compress_max_list_elements = 0; ///< of a source, and of a destination
    std::uint64_t compress_max_size = 0;          ///< bytes of a source, and of a result
    bool erasure_coding = false;                  ///< on the CPU, by ISA-L, if the library was built with it
    std::uint32_t ec_max_list_elements = 0;
    std::uint64_t ec_max_block_size = 0; ///< bytes
    bool aes_gcm = false;                ///< on the CPU, by OpenSSL
    std::uint32_t aes_gcm_max_list_elements = 0;
    std::uint64_t aes_gcm_max_size = 0; ///< bytes of a source, and of a result
    bool free_running_clock = false;    ///< see Device::read_clock()
    bool real_time_clock = false;
    bool comm_channel = false; ///< see DeviceFunction::services_at
    /// Comm Channel exchanges messages by queue pairs; see DeviceFunction::messages_by.
    bool messages_by_queue_pairs = false;
    bool queue_pairs_reach_peers = true; ///< false: only streams cross the PCIe, no packets
    RdmaCapabilities rdma;

    /// Adds what the CPU does without the device: sync events within one process, and SHA by OpenSSL.
    void add_work_of_cpu() noexcept
    {
        sync_event = true;
        sync_event_event_driven = true;
        sha_software = true;
        sha_max_list_elements = 1024;
        sha_max_size = std::uint64_t{1} << 31;
    }
    /// Adds what the CPU does in place of a card's engines: of all cards, or as one of @p profile has it.
    void add_engines_of_cpu(EngineProfile profile = EngineProfile::all) noexcept
    {
        if (profile == EngineProfile::none)
            return;
        compress_deflate = profile != EngineProfile::bluefield_3;
        decompress_deflate = true;
        decompress_lz4 = profile != EngineProfile::bluefield_2;
        compress_max_list_elements = 1024;
        compress_max_size = std::uint64_t{1} << (profile == EngineProfile::bluefield_3 ? 21 : 27);
        erasure_coding = profile != EngineProfile::bluefield_2;
        ec_max_list_elements = 1024;
        ec_max_block_size = std::uint64_t{1} << 27;
        aes_gcm = profile != EngineProfile::bluefield_2;
        aes_gcm_max_list_elements = 1024;
        aes_gcm_max_size = std::uint64_t{1} << 27; // programs allocate as much
    }
};

/// Identifies a function to the other side of the PCIe.
struct FunctionIdentity {
    std::string name;        ///< the name of the function or of its card
    std::string pci_address; ///< dddd:bb:dd.f, or the function's number on the card

    bool operator==(const FunctionIdentity &) const = default;
};

/// A representor of a function, as the device that has it lists it.
struct RepresentorInfo {
    std::string name;
    std::string pci_address;       ///< dddd:bb:dd.f
    std::vector<std::string> also; ///< further addresses that open it, not shown in lists
    std::string vuid;
    FunctionType type = FunctionType::pf;
    bool is_emulated = false;
    /// The identity that the represented function uses for itself, if it differs from name and pci_address.
    std::optional<FunctionIdentity> own_identity;
    std::string iface_name;               ///< the representor's network interface on this side; empty if there is none
    std::optional<std::uint16_t> vhca_id; ///< VHCA ID of the represented function, if the card reports it

    [[nodiscard]] FunctionIdentity identity() const
    {
        return own_identity.value_or(FunctionIdentity{name, pci_address});
    }
    bool operator==(const RepresentorInfo &) const = default;
};

/// One function of a device, as device lists show it. Immutable once the list is complete, and shared by all lists and
/// open devices that refer to it. Thread-safe.
class OPENDOCA_INTERNAL DeviceFunction {
public:
    DeviceFunction() = default;
    DeviceFunction(const DeviceFunction &) = delete;
    DeviceFunction &operator=(const DeviceFunction &) = delete;
    virtual ~DeviceFunction();

    /// Opens the device. Each call opens it anew.
    [[nodiscard]] virtual doca_error_t open(std::unique_ptr<Device> &device) const = 0;
    /// Lists the representors of functions behind this port. May query the device at each call, since functions can
    /// be added and removed.
    [[nodiscard]] virtual std::vector<RepresentorInfo> representors() const;
    /// Returns how many sends, and as many receives, a connection can have in flight: a power of two, or 0 if the
    /// function cannot connect. The first call may try it on the device. Thread-safe.
    [[nodiscard]] virtual std::uint32_t max_queue_size() const noexcept;
    /// Return whether memory can be exported to the DPU, and whether memory that the host has exported can be imported.
    /// The first call may try it on the device. Thread-safe.
    [[nodiscard]] virtual bool can_export_dpu() const noexcept;
    [[nodiscard]] virtual bool can_import_dpu() const noexcept;
    /// The same for sync events.
    [[nodiscard]] virtual bool can_export_counter() const noexcept;
    [[nodiscard]] virtual bool can_import_counter() const noexcept;
    /// Returns lines for doca_caps: which engines the device uses, and what it does not support or report, with
    /// reasons. May try it on the device.
    [[nodiscard]] virtual std::vector<std::string> remarks() const;
    /// Returns a user-readable reason why the function lacks @p ability, which it must lack. May try it on the device.
    [[nodiscard]] virtual std::string reason_against(Ability ability) const;

    /// Returns a suffix for the log message that @p rule was not kept: " (strict: max-list-length)". Empty unless the
    /// function is a strict one of the software device.
    [[nodiscard]] virtual const char *strict_suffix(StrictRule rule) const noexcept;
    /// Returns the order of operations of @p what that must not be carried out within their submission, by strict mode;
    /// logs that. Null for others. Throws std::bad_alloc.
    [[nodiscard]] virtual std::unique_ptr<CompletionOrder> order_of_late(const char *what) const;

    /// Returns a text for log messages: "p0 (0000:03:00.0)".
    [[nodiscard]] std::string description() const;

    std::string provider;          ///< "soft", "verbs", "mlx5"
    std::string name;              ///< unique within the provider
    std::string pci_address;       ///< dddd:bb:dd.f, or empty
    std::vector<std::string> also; ///< further addresses that open it, not shown in lists
    std::string ibdev_name;
    std::string iface_name;
    std::string vuid; ///< empty if unknown
    FunctionType type = FunctionType::pf;
    std::optional<MacAddress> mac;
    std::optional<Ipv4Address> ipv4;
    std::optional<Ipv6Address> ipv6;
    std::optional<std::uint16_t> lid;
    std::optional<std::uint64_t> active_rate; ///< bits per second; only while the port is up
    std::optional<std::uint16_t> vhca_id;     ///< the card's number for the function
    std::optional<std::uint32_t> sf_number;   ///< the number that a subfunction was created with
    bool is_port_active = true;
    Capabilities can;
    /// The identity under which this function connects to services, if it is behind a port of a DPU. A port can stand
    /// for one of the functions behind it. Empty if there is none.
    std::optional<FunctionIdentity> behind_port;
    /// Address of the DPU's services: a numeric address with or without a port. Empty: services are processes of this
    /// machine.
    std::string services_at;
    /// Another function of the card with queue pairs that carry messages across the PCIe, because this function's port
    /// has no usable address; null: this function's own queue pairs carry them.
    std::shared_ptr<const DeviceFunction> messages_by;
    std::string port; ///< the DPU's port that this function is behind; empty for a port itself, or if unknown
};

using DeviceFunctions = std::vector<std::shared_ptr<const DeviceFunction>>;

/// Lists the functions of all providers that this process may use, real devices first.
[[nodiscard]] doca_error_t list_functions(DeviceFunctions &functions);

/// Returns whether DOCA_SOFT_ENGINES=1 in the environment lets the CPU stand in for the engines of cards.
[[nodiscard]] bool has_soft_engines() noexcept;

/// Opens a device on a protection domain of the program.
[[nodiscard]] doca_error_t open_from_pd(ibv_pd &pd, std::shared_ptr<const DeviceFunction> &function,
                                        std::unique_ptr<Device> &device);

/// Returns a suffix, beginning with "; ", for the log message that no listed device has @p pci_address, if the topology
/// or the environment of the software devices explains why; otherwise an empty string. @p lists_soft: the list contains
/// software devices.
[[nodiscard]] std::string explain_missing(const std::string &pci_address, bool lists_soft);

} // namespace opendoca
