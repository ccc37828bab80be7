// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One ioctl of a uverbs file. Attributes are copied from the program's memory once, so the program cannot change them
// between check and use. Inputs that they point to, and the places of results, stay in the program's memory: a program
// that passes wrong addresses damages only itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "../wire.hpp"
#include "card.hpp"

namespace opendoca::card {

/// An ioctl while it is carried out. Created on the stack of the event loop for each request; the functions below read
/// their inputs and store their outputs through it. Inputs and outputs are named by their attribute ids, as in the
/// kernel's headers (rdma/*_ioctl_cmds.h). Attributes may come in any order, and unknown ones are ignored.
class Command {
public:
    Command(OpenFile &its_file, std::shared_ptr<Process> its_process, std::uint64_t address)
        : file(its_file),
          process(std::move(its_process)),
          address_(address)
    {
    }

    /// Copies the header and the attributes. Returns an errno, or 0.
    [[nodiscard]] int load();
    [[nodiscard]] std::uint32_t method() const { return method_; }
    /// Combines the object's and the method's number into one key of the command table.
    static constexpr std::uint32_t method_key(unsigned object, unsigned method) { return object << 16 | method; }

    [[nodiscard]] bool has(unsigned id) const { return find(id) != nullptr; }
    /// Returns the length in bytes of an input, or of the room for an output; 0 if the attribute is absent.
    [[nodiscard]] std::size_t length(unsigned id) const;
    /// Copies an input, and zeroes the bytes beyond its length. Returns false if the attribute is absent or the
    /// program's memory cannot be read.
    [[nodiscard]] bool get(unsigned id, void *to, std::size_t size) const;
    template <typename T>
    [[nodiscard]] bool get(unsigned id, T &to) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return get(id, &to, sizeof(to));
    }
    /// Returns an input of at most 8 bytes; 0 if the attribute is absent.
    [[nodiscard]] std::uint64_t number(unsigned id) const;
    [[nodiscard]] std::uint32_t number32(unsigned id) const { return static_cast<std::uint32_t>(number(id)); }
    /// Returns the object with the handle in the attribute. Returns null if this file has no such object of this type,
    /// or if it was created by DEVX.
    template <typename T>
    [[nodiscard]] T *object(unsigned id) const
    {
        return has(id) ? object_of<T>(number32(id)) : nullptr;
    }
    template <typename T>
    [[nodiscard]] T *object_of(std::uint32_t handle) const
    {
        T *found = file.card.objects.find<T>(handle, file);
        return found != nullptr && !found->is_created_by_devx ? found : nullptr;
    }

    /// Stores an output. Returns an errno, or 0, also if the program did not pass the attribute.
    int put(unsigned id, const void *from, std::size_t size) const;
    template <typename T>
    int put(unsigned id, const T &from) const
    {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
        return put(id, &from, sizeof(from));
    }
    int put_number(unsigned id, std::uint64_t value) const { return put(id, value); }
    /// Stores `size` bytes at an offset of an output. The attribute must be present and large enough.
    int put_part(unsigned id, std::size_t offset, const void *from, std::size_t size) const;
    /// Stores the handle of a new object. Destroys the object if the handle cannot be stored, since no program could
    /// ever free it.
    int put_handle(unsigned id, Object &object) const;
    /// Attaches a new descriptor to the reply. The preloaded library stores its number in the attribute itself.
    int put_descriptor(unsigned id, UniqueFd descriptor);
    /// As put_descriptor(), with the number stored where the attribute points.
    int put_descriptor_indirect(unsigned id, UniqueFd descriptor);

    OpenFile &file;
    const std::shared_ptr<Process> process; ///< process that has sent the request, which may be one of several
    UniqueFd attached;                      ///< descriptor of the program that came with the request, if any
    std::int32_t wanted_descriptor = -1;    ///< number in the program of the one that should have come; -1: none
    UniqueFd new_descriptor;                ///< attached to the reply if the command succeeds
    DescriptorSlot descriptor_slot{};       ///< place for the number of `new_descriptor`

private:
    static constexpr std::size_t max_attributes = 64; ///< far more than any command of libibverbs has
    /// Returns the first attribute with this id, or null.
    [[nodiscard]] const ib_uverbs_attr *find(unsigned id) const;
    /// Returns the address of an attribute in the program's memory.
    [[nodiscard]] std::uint64_t address_of(const ib_uverbs_attr &attribute) const;

    std::uint64_t address_; ///< address of the ioctl's header in the program's memory
    std::uint32_t method_ = 0;
    std::size_t count_ = 0;
    std::array<ib_uverbs_attr, max_attributes> attributes_{};
};

/// Result of a command that waits for the other side of the card. It has changed nothing and must be run again later,
/// which counts once more for requested faults.
inline constexpr int command_pending = -1;
/// Reads a command and carries it out. Returns an errno, 0 or `command_pending`.
int run_command(Command &command);
/// Returns whether a command has this name, as used by the fault `refuse`.
bool is_command_name(std::string_view name);

// Implementations of the commands, grouped by object. Each returns an errno, or 0. A command that is refused
// leaves no new object behind and changes no existing one.
int get_context(Command &command);
int query_context(Command &command);
int query_port(Command &command);
int query_mlx5_port(Command &command);
int query_gid_entry(Command &command);
int query_gid_table(Command &command);
int create_event_file(Command &command);
int query_device(Command &command);
int query_device_ex(Command &command);
int create_channel(Command &command);

int alloc_pd(Command &command);
int query_pd(Command &command);
int destroy_pd(Command &command);
int create_ah(Command &command);
int destroy_ah(Command &command);
int open_xrcd(Command &command);
int close_xrcd(Command &command);
int alloc_uar(Command &command);
int destroy_uar(Command &command);

int create_cq(Command &command);
int resize_cq(Command &command);
int destroy_cq(Command &command);
int create_srq(Command &command);
int modify_srq(Command &command);
int query_srq(Command &command);
int destroy_srq(Command &command);
int create_qp(Command &command);
int modify_qp(Command &command);
int modify_qp_ex(Command &command);
int query_qp(Command &command);
int destroy_qp(Command &command);

int reg_mr(Command &command);
int rereg_mr(Command &command);
int query_mr(Command &command);
int advise_mr(Command &command);
int dereg_mr(Command &command);
int alloc_mw(Command &command);
int dealloc_mw(Command &command);

int alloc_dm(Command &command);
int free_dm(Command &command);
int query_dm(Command &command);
int map_dm_operation(Command &command);
int reg_dm_mr(Command &command);
/// Opens the pages of the device memory that begins with this page of the function, for a mapping of `length` bytes.
/// Returns an errno, or 0.
int map_device_memory(const OpenFile &file, std::size_t page, std::uint64_t length, UniqueFd &pages);

int devx_general(Command &command);
int devx_query_eqn(Command &command);
int devx_query_uar(Command &command);
int devx_create(Command &command);
int devx_destroy(Command &command);
int devx_modify(Command &command);
int devx_query(Command &command);
int create_devx_channel(Command &command);
int subscribe_devx_events(Command &command);
int register_user_memory(Command &command);
int deregister_user_memory(Command &command);

} // namespace opendoca::card
