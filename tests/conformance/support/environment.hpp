// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace doca_test {

/// Sets, or with null unsets, an environment variable for as long as it lives. Not while threads run.
class Environment {
public:
    Environment(const char *name, const char *value) : name_(name)
    {
        if (const char *const before = std::getenv(name); before != nullptr)
            before_ = before;
        set(value);
    }
    Environment(const Environment &) = delete;
    Environment &operator=(const Environment &) = delete;
    ~Environment() { set(before_ ? before_->c_str() : nullptr); }

private:
    void set(const char *value)
    {
        if (value != nullptr)
            setenv(name_, value, 1);
        else
            unsetenv(name_);
    }

    const char *name_;
    std::optional<std::string> before_;
};

} // namespace doca_test
