// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

namespace opendoca {

/// The base of an object that a program creates and destroys by its address, while other objects may use it for longer:
/// they share() it. The program's reference is stored in the object itself. What must take effect when the program
/// destroys the object is done by the object's own function (such as close()), which then drops the program's
/// reference. The memory is freed with the last reference.
template <typename Object>
class Shareable : public std::enable_shared_from_this<Object> {
public:
    /// Adds the program's reference to @p object, and returns the address for the program.
    [[nodiscard]] static Object *add_program_reference(std::shared_ptr<Object> object) noexcept
    {
        Object *const address = object.get();
        address->program_reference_ = std::move(object);
        return address;
    }
    /// Drops the program's reference, after which this object may not exist any more. The reference is moved out first,
    /// so that the destructor does not run inside of the assignment to its own member.
    void drop_program_reference() noexcept { const auto last = std::move(program_reference_); }

    [[nodiscard]] std::shared_ptr<Object> share() noexcept { return this->shared_from_this(); }

private:
    std::shared_ptr<Object> program_reference_;
};

} // namespace opendoca
