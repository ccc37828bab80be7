// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

namespace opendoca {

/// An object that a program creates and destroys by its address, and that other objects may go on using after
/// that: they share() it. What the program must see at once when it destroys the object is done then, by the
/// object's own close(); the memory is freed with the last reference.
template <typename Object>
class Shareable : public std::enable_shared_from_this<Object> {
public:
    /// The address for the program, which holds a share of its own from now on.
    [[nodiscard]] static Object *give_to_program(std::shared_ptr<Object> object) noexcept
    {
        Object *const address = object.get();
        address->share_of_program_ = std::move(object);
        return address;
    }
    /// The program has destroyed it. Ends the object when nobody else shares it.
    void take_from_program() noexcept { const auto last = std::move(share_of_program_); }

    [[nodiscard]] std::shared_ptr<Object> share() noexcept { return this->shared_from_this(); }

private:
    std::shared_ptr<Object> share_of_program_;
};

} // namespace opendoca
