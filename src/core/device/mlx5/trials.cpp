// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "trials.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "../../log/log.hpp"
#include "../../process/fork.hpp"
#include "device.hpp"
#include "dma_poster.hpp"
#include "function.hpp"
#include "shared_key.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_TRIALS);

namespace opendoca::mlx5 {

namespace {

/// Results by device name, one per device for the life of the process. Never destroyed, since exit handlers may use
/// them. The lock is held during a trial, so that threads that query at the same time wait for its result.
template <typename Result>
struct ResultCache {
    ForkSafeMutex lock;
    const ForkRegistration fork_registration{lock, LockRank::findings};
    std::map<std::string, Result> results;
    const Result none{}; ///< the result if there is no memory for an entry
    static ResultCache &all;
};

template <typename Result>
ResultCache<Result> &ResultCache<Result>::all = *new ResultCache;

/// Returns the result for @p function's device. The first call for a device calls @p try_it to determine it.
template <typename Result, typename Try>
const Result &try_once(const Mlx5Function &function, Try &&try_it) noexcept
{
    ResultCache<Result> &cache = ResultCache<Result>::all;
    const std::lock_guard guard(cache.lock);
    const Result *found = &cache.none;
    const doca_error_t status = guarded([&] {
        // References to elements of a std::map stay valid, so callers keep them without the lock.
        const auto [place, is_new] = cache.results.try_emplace(function.ibdev_name);
        found = &place->second;
        if (is_new)
            try_it(place->second);
        return DOCA_SUCCESS;
    });
    if (status != DOCA_SUCCESS)
        LOG_ERR("device %s: its abilities could not be determined: out of memory", function.name.c_str());
    return *found;
}

/// A function instead of a constant: ibv_reg_mr() is a macro that would mix enumerations for a constant.
int local_access() noexcept
{
    return IBV_ACCESS_LOCAL_WRITE;
}

/// Memory for trials. Static where it is used, so that a device that fails to stop cannot write into freed memory.
struct TestMemory {
    alignas(64) std::array<std::byte, 64> bytes{};

    [[nodiscard]] MemoryRange range() noexcept { return {bytes.data(), bytes.size()}; }
};

/// Shares a key with this function itself: first an indirect key, then a direct one. The first way that works is used,
/// and importing an alias of that key is tried as well.
void try_sharing(const Mlx5Function &function, Sharing &sharing)
{
    // Without the capability bits, the commands are not tried. With them, they still may fail.
    if (!function.device_capabilities().reports_shared_keys) {
        sharing.reason = "the device reports no keys that other functions may use";
        return;
    }
    static constinit TestMemory memory;
    verbs::OpenContext opened;
    if (verbs::OpenContext::open(function, opened) != DOCA_SUCCESS) {
        sharing.reason = "the device can't be opened";
        return;
    }
    const verbs::Handle<ibv_mr> region(
        ibv_reg_mr(opened.pd.get(), memory.bytes.data(), memory.bytes.size(), local_access()));
    if (region == nullptr) {
        sharing.reason = "memory can't be registered";
        return;
    }
    const Commands commands(function.library(), *opened.context);
    for (const Sharing::Way way : {Sharing::Way::indirect, Sharing::Way::direct}) {
        SharedKey shared;
        Outcome outcome = shared.create(commands, *opened.pd, way, region.get(), memory.range(), true);
        if (!outcome.is_good()) {
            sharing.reason = std::string("the device reports shared keys, but sharing one fails: ") + outcome.to_text();
            continue;
        }
        sharing.way = way;
        DeviceKey alias;
        // This function imports its own key: the other side of the PCIe need not exist.
        outcome = commands.create_alias(*opened.pd, function.device_capabilities().vhca_id, shared.key().index(),
                                        shared.access_key(), alias);
        sharing.imports = outcome.is_good();
        sharing.reason = sharing.imports ? "" : "a shared key cannot be imported: " + outcome.to_text();
        return;
    }
}

/// Determines whether the DMA engine works, by copying a few bytes.
void try_engine(const Mlx5Function &function, Engine &engine)
{
    constexpr auto timeout = std::chrono::seconds(1);
    // The engine's limit comes first: 0 means that the device has none.
    mlx5dv_context attributes{};
    attributes.comp_mask = MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH;
    std::unique_ptr<Device> opened;
    if (function.open(opened) != DOCA_SUCCESS) {
        engine.reason = "the device can't be opened";
        return;
    }
    const auto &device = static_cast<const Mlx5Device &>(*opened);
    if (function.library().query_device(&device.context(), &attributes) != 0 || attributes.max_wr_memcpy_length == 0) {
        engine.reason = "the device reports no DMA engine";
        return;
    }
    static constinit TestMemory memories[2];
    const verbs::Handle<ibv_mr> region(ibv_reg_mr(&device.pd(), memories, sizeof(memories), local_access()));
    DmaQueuePair queue_pair;
    if (region == nullptr || queue_pair.create(device, 1, false) != DOCA_SUCCESS) {
        engine.reason = "the device reports a DMA engine, but creating a queue pair for it fails";
        return;
    }
    // A pattern that differs from the zeros at the destination.
    memories[0].bytes.fill(std::byte{0x5a});
    ibv_qp_ex &sender = queue_pair.connection().sender();
    ibv_wr_start(&sender);
    queue_pair.copy(0, region->lkey, reinterpret_cast<std::uintptr_t>(&memories[1]), region->lkey,
                    reinterpret_cast<std::uintptr_t>(&memories[0]), sizeof(TestMemory));
    // The status if no completion arrives in time.
    ibv_wc_status status = IBV_WC_RESP_TIMEOUT_ERR;
    if (ibv_wr_complete(&sender) == 0) {
        ibv_cq_ex &completions = queue_pair.completions().extended_cq();
        const auto end = std::chrono::steady_clock::now() + timeout;
        while (std::chrono::steady_clock::now() < end) {
            if (!verbs::VerbsCompletions::begin_poll(completions))
                continue;
            status = completions.status;
            verbs::VerbsCompletions::end_poll(completions);
            break;
        }
    }
    engine.works = status == IBV_WC_SUCCESS && memories[1].bytes == memories[0].bytes;
    engine.max_length = attributes.max_wr_memcpy_length;
    if (!engine.works)
        engine.reason =
            std::string("the device reports a DMA engine, but a copy by it fails: ") + ibv_wc_status_str(status);
}

} // namespace

const Engine &engine_of(const Mlx5Function &function) noexcept
{
    return try_once<Engine>(function, [&](Engine &engine) {
        try_engine(function, engine);
        LOG_DBG("device %s copies by %s", function.name.c_str(),
                engine.works ? "its DMA engine" : ("RDMA loopback: " + engine.reason).c_str());
    });
}

const Sharing &sharing_of(const Mlx5Function &function) noexcept
{
    return try_once<Sharing>(function, [&](Sharing &sharing) {
        try_sharing(function, sharing);
        LOG_DBG("device %s: %s", function.name.c_str(),
                sharing.way == Sharing::Way::none       ? sharing.reason.c_str()
                : sharing.way == Sharing::Way::indirect ? "memory across the PCIe by indirect keys"
                                                        : "memory across the PCIe by direct keys");
    });
}

} // namespace opendoca::mlx5
