// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One ioctl of a uverbs file. Its attributes are read from the program's memory once; what they point to, and
// where results go, is memory of the program, at addresses that are as good as the program is honest.
#pragma once

#include <array>
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

class Command {
public:
    Command(OpenFile &its_file, std::shared_ptr<Process> its_process, std::uint64_t address)
        : file(its_file),
          process(std::move(its_process)),
          address_(address)
    {
    }

    /// Reads header and attributes: an errno, or 0.
    [[nodiscard]] int load();
    [[nodiscard]] std::uint32_t method() const { return method_; }
    static constexpr std::uint32_t method_key(unsigned object, unsigned method)
    {
        return object << 16 | method;
    }

    [[nodiscard]] bool has(unsigned id) const { return find(id) != nullptr; }
    /// Bytes that the program gave or has room for; 0 without the attribute.
    [[nodiscard]] std::size_t length(unsigned id) const;
    /// Copies an input, and fills up with zeros. False where there is none, or the program's memory is not
    /// there.
    [[nodiscard]] bool get(unsigned id, void *to, std::size_t size) const;
    template <typename T>
    [[nodiscard]] bool get(unsigned id, T &to) const
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return get(id, &to, sizeof(to));
    }
    /// Small inputs: 0 without the attribute.
    [[nodiscard]] std::uint64_t number(unsigned id) const;
    [[nodiscard]] std::uint32_t number32(unsigned id) const { return static_cast<std::uint32_t>(number(id)); }
    /// An object of this file that verbs made, by the handle in an attribute. Null where there is none.
    template <typename T>
    [[nodiscard]] T *object(unsigned id) const
    {
        return has(id) ? object_of<T>(number32(id)) : nullptr;
    }
    template <typename T>
    [[nodiscard]] T *object_of(std::uint32_t handle) const
    {
        T *found = file.card.objects.find<T>(handle, file);
        return found != nullptr && !found->is_below_devx ? found : nullptr;
    }

    /// Outputs: an errno, or 0. An attribute that the program did not give is left out.
    int put(unsigned id, const void *from, std::size_t size) const;
    template <typename T>
    int put(unsigned id, const T &from) const
    {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
        return put(id, &from, sizeof(from));
    }
    int put_number(unsigned id, std::uint64_t value) const { return put(id, value); }
    /// Copies `size` bytes into the middle of an output.
    int put_part(unsigned id, std::size_t offset, const void *from, std::size_t size) const;
    /// A new object's handle. The object is destroyed where the program cannot get it.
    int put_handle(unsigned id, Object &object) const;
    /// A new descriptor: in the attribute itself, or behind its pointer.
    int put_descriptor(unsigned id, UniqueFd descriptor);
    int put_descriptor_behind(unsigned id, UniqueFd descriptor);

    OpenFile &file;
    const std::shared_ptr<Process> process;
    UniqueFd new_descriptor;
    DescriptorSlot descriptor_slot{};

private:
    static constexpr std::size_t most_attributes = 64;
    [[nodiscard]] const ib_uverbs_attr *find(unsigned id) const;
    [[nodiscard]] std::uint64_t address_of(const ib_uverbs_attr &attribute) const;

    std::uint64_t address_;
    std::uint32_t method_ = 0;
    std::size_t count_ = 0;
    std::array<ib_uverbs_attr, most_attributes> attributes_{};
};

/// Carries out a command: an errno, or 0.
int run_command(Command &command);
/// Is there a command of that name, as faults are asked for by?
bool is_command_name(std::string_view name);

// The commands, by what they are about. Each returns an errno, or 0.
int get_context(Command &command);
int query_context(Command &command);
int query_port(Command &command);
int query_mlx5_port(Command &command);
int query_gid_entry(Command &command);
int query_gid_table(Command &command);
int create_event_file(Command &command);
int query_device(Command &command);
int query_device_more(Command &command);
int create_channel(Command &command);

int alloc_pd(Command &command);
int query_pd(Command &command);
int destroy_pd(Command &command);
int create_ah(Command &command);
int destroy_ah(Command &command);
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
int modify_qp_more(Command &command);
int query_qp(Command &command);
int destroy_qp(Command &command);

int reg_mr(Command &command);
int rereg_mr(Command &command);
int query_mr(Command &command);
int dereg_mr(Command &command);
int alloc_mw(Command &command);
int dealloc_mw(Command &command);

int devx_general(Command &command);
int devx_query_eqn(Command &command);
int devx_query_uar(Command &command);
int devx_create(Command &command);
int devx_destroy(Command &command);
int devx_modify(Command &command);
int devx_query(Command &command);
int register_user_memory(Command &command);
int deregister_user_memory(Command &command);

} // namespace opendoca::card
