// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The flags that a command line may have: the program's own, and those that every DOCA program has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "param.hpp"

namespace opendoca::argp
{

enum class GeneralFlag { help, version, log_level, json, grpc_address };

/// A DOCA flag with the names that the program has left to it.
struct GeneralFlagInfo {
    GeneralFlag flag;
    std::string short_name;
    std::string long_name;
    std::string arguments;
    std::string description;
};

/// What a name on the command line stands for: a flag of the program, or a DOCA flag, or neither.
struct FoundFlag {
    const doca_argp_param *param = nullptr;
    const GeneralFlagInfo *general = nullptr;

    [[nodiscard]] bool is_known() const { return param != nullptr || general != nullptr; }
};

class FlagSet
{
public:
    FlagSet();

    /// Takes @p param, which has passed its own check, unless another parameter has one of its names.
    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_param> param);

    void add_grpc_address();

    [[nodiscard]] FoundFlag find_short(std::string_view name) const;
    [[nodiscard]] FoundFlag find_long(std::string_view name) const;
    [[nodiscard]] bool contains(const doca_argp_param *param) const;

    [[nodiscard]] const std::vector<std::unique_ptr<doca_argp_param>> &params() const { return params_; }
    [[nodiscard]] const std::vector<GeneralFlagInfo> &general() const { return general_; }
    [[nodiscard]] bool has_grpc_address() const { return has_grpc_address_; }

private:
    void give_up_names(const doca_argp_param &param);

    std::vector<std::unique_ptr<doca_argp_param>> params_;
    std::vector<GeneralFlagInfo> general_;
    bool has_grpc_address_ = false;
};

} // namespace opendoca::argp
