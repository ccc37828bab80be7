// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about memory keys, and about aliases: keys that stand for a key of another function of the card.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "access.hpp"
#include "big_endian.hpp"
#include "devx.hpp"
#include "limits.hpp"
#include "link.hpp"

namespace opendoca::card {

namespace {

/// Reads the translation entries of an indirect key, which follow the key context. All entries of a KSM have the same
/// length.
prm::Status read_entries(const Mailbox &mailbox, bool is_ksm, std::span<const std::uint8_t> context,
                         std::vector<KeyEntry> &entries)
{
    using namespace prm::create_mkey;
    const std::uint64_t count = mailbox.get(actual_size);
    if (count > max_key_entries || count * entry_bytes > mailbox.in.size() - entries_at)
        return prm::Status::bad_input_length;
    const std::uint64_t log_length = prm::get(context, prm::mkey::log_entity_size);
    const std::uint64_t ksm_length =
        log_length != 0 ? std::uint64_t{1} << log_length : prm::get(context, prm::mkey::length);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint8_t *entry = &mailbox.in[entries_at + i * entry_bytes];
        if (be32(entry + 4) != 0) // programs pad the list to a multiple of four entries with zero keys
            entries.push_back({is_ksm ? ksm_length : be32(entry), be32(entry + 4), be64(entry + 8)});
    }
    return prm::Status::ok;
}

/// Attaches a registered user memory to a direct key.
prm::Status fill_direct(const Mailbox &mailbox, MemoryKey &key)
{
    using namespace prm::create_mkey;
    auto *memory = mailbox.card().objects.find<UserMemory>(mailbox.get32(umem_id), mailbox.file);
    const std::uint64_t offset = mailbox.get(umem_offset);
    if (memory == nullptr)
        return prm::Status::bad_resource;
    constexpr std::uint32_t writes = right::local_write | right::remote_write | right::remote_atomic;
    if (offset > memory->length || key.length > memory->length - offset ||
        ((key.access & writes) != 0 && !memory->is_writable))
        return prm::Status::bad_parameter;
    key.process = memory->process;
    key.start = memory->start + offset;
    key.user_memory = Use(memory);
    return prm::Status::ok;
}

/// Returns whether the modelled card accepts this key in ALLOW_OTHER_VHCA_ACCESS.
bool may_be_shared(const Card &card, const MemoryKey &key)
{
    if (key.alias_of != 0 || card.faults.refuses_shared_keys)
        return false;
    return key.is_indirect ? card.profile.shares_indirect_keys && !card.faults.refuses_indirect_keys
                           : card.profile.shares_direct_keys;
}

/// What an alias needs to have of its target.
struct AliasTarget {
    std::uint32_t access = 0;
    std::uint64_t serial = 0;              ///< of a key of this place
    std::uint32_t session = 0, handle = 0; ///< of a key of the other side
    std::shared_ptr<Process> process;
};

/// Finds the target of a new alias, also at the other side of the card. Returns nothing if there is none with this
/// access key, or if the other side has not replied yet, which Mailbox::is_pending shows.
std::optional<AliasTarget> find_alias_target(Mailbox &mailbox)
{
    using namespace prm::alias;
    Card &card = mailbox.card();
    const auto access_key = mailbox.in.subspan(access_key_at, access_key_bytes);
    const std::uint64_t owner = mailbox.get(vhca_id);
    const Function *function = card.function_of_vhca(static_cast<std::uint32_t>(owner));
    if (function == nullptr || !card.is_elsewhere(*function)) {
        const MemoryKey *target = find_shared_key(card, owner, mailbox.get32(object_id), access_key);
        return target == nullptr ? std::nullopt
                                 : std::optional(AliasTarget{target->access, target->serial, 0, 0, target->process});
    }
    LinkOpen wanted{static_cast<std::uint16_t>(owner), mailbox.get32(object_id), {}};
    std::ranges::copy(access_key, wanted.access_key.begin());
    const auto opened = card.link->requester().open(mailbox.file, wanted);
    mailbox.is_pending = opened && opened->handle == 0;
    if (!opened || mailbox.is_pending)
        return std::nullopt;
    return AliasTarget{opened->access, 0, card.link->session(), opened->handle, mailbox.process};
}

/// Creates an alias of another function's key.
prm::Status create_alias(Mailbox &mailbox)
{
    using namespace prm::alias;
    Card &card = mailbox.card();
    if (!card.profile.reports_alias_keys || mailbox.get(prm::general_object::type) != prm::general_object::type_mkey)
        return prm::Status::bad_parameter;
    if (mailbox.in.size() < 80)
        return prm::Status::bad_input_length;
    const auto *own_pd = card.objects.by_number<ProtectionDomain>(mailbox.get32(pd));
    // One status for everything that is wrong with the remote object, so that a guessing program learns nothing about
    // it.
    const std::optional<AliasTarget> target = find_alias_target(mailbox);
    if (!target)
        return prm::Status::bad_parameter;
    const bool is_own_pd = own_pd != nullptr && &own_pd->file == &mailbox.file;
    MemoryKey *const alias = is_own_pd ? card.objects.create_key<MemoryKey>(mailbox.file, card.keys) : nullptr;
    if (alias == nullptr) {
        if (target->handle != 0)
            card.link->requester().close(target->session, target->handle);
        return is_own_pd ? prm::Status::no_resources : prm::Status::bad_resource;
    }
    alias->key &= ~0xffu; // an alias key has the variant 0
    alias->process = target->process;
    alias->pd_number = own_pd->number();
    alias->access = target->access;
    alias->alias_of = mailbox.get32(object_id);
    alias->alias_serial = target->serial;
    alias->remote_session = target->session;
    alias->remote_handle = target->handle;
    mailbox.set(prm::general_object::id, alias->key >> 8);
    mailbox.created = alias;
    return prm::Status::ok;
}

} // namespace

prm::Status prm_create_mkey(Mailbox &mailbox)
{
    const auto context = mailbox.in.subspan(prm::mkey::at / 8);
    const auto *pd = mailbox.card().objects.by_number<ProtectionDomain>(
        static_cast<std::uint32_t>(prm::get(context, prm::mkey::pd)));
    if (pd == nullptr || &pd->file != &mailbox.file)
        return prm::Status::bad_resource;
    const std::uint64_t mode = prm::get(context, prm::mkey::mode_low);
    auto *key = mailbox.card().objects.create_key<MemoryKey>(mailbox.file, mailbox.card().keys);
    if (key == nullptr)
        return prm::Status::no_resources;
    key->process = mailbox.process;
    key->key = (key->key & ~0xffu) | static_cast<std::uint32_t>(prm::get(context, prm::mkey::variant));
    key->pd_number = pd->number();
    key->access = prm::access_of(context);
    key->iova = prm::get(context, prm::mkey::start);
    key->length = prm::get(context, prm::mkey::length64) != 0 ? ~0ull : prm::get(context, prm::mkey::length);
    key->is_indirect = mode != prm::mkey::mode_mtt;
    key->is_free = prm::get(context, prm::mkey::free) != 0;
    const prm::Status status = key->is_indirect
                                   ? read_entries(mailbox, mode == prm::mkey::mode_ksm, context, key->entries)
                                   : fill_direct(mailbox, *key);
    if (status != prm::Status::ok) {
        mailbox.card().objects.destroy(*key);
        return status;
    }
    mailbox.set(prm::create_mkey::index, key->key >> 8);
    mailbox.created = key;
    return prm::Status::ok;
}

prm::Status prm_allow_other_vhca_access(Mailbox &mailbox)
{
    using namespace prm::allow_other_vhca_access;
    MemoryKey *key = mailbox.card().keys.by_index(mailbox.get32(object_id));
    if (key == nullptr || &key->file != &mailbox.file)
        return prm::Status::bad_resource;
    if (!may_be_shared(mailbox.card(), *key))
        return prm::Status::bad_parameter;
    AliasPermission &permission = key->permission.emplace();
    std::copy_n(mailbox.in.begin() + access_key_at, permission.access_key.size(), permission.access_key.begin());
    return prm::Status::ok;
}

prm::Status prm_create_general_object(Mailbox &mailbox)
{
    // The capabilities report no other type of general object.
    return mailbox.get(prm::general_object::is_alias) != 0 ? create_alias(mailbox) : prm::Status::bad_parameter;
}

} // namespace opendoca::card
