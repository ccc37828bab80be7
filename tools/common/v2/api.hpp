// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The functions and types that differ between the generations, under names that all tools use: the API of DOCA 2.2. v3/
// has a header of the same name; the build chooses one of them by its include path.
#pragma once

#include <doca_dev.h>
#include <doca_error.h>

namespace opendoca::tools::api {

inline constexpr auto name_of_error = doca_get_error_name;
inline constexpr auto text_of_error = doca_get_error_string;
inline constexpr auto create_list = doca_devinfo_list_create;
inline constexpr auto destroy_list = doca_devinfo_list_destroy;
inline constexpr auto create_rep_list = doca_devinfo_rep_list_create;
inline constexpr auto destroy_rep_list = doca_devinfo_rep_list_destroy;
using RepFilter = doca_dev_rep_filter;
inline constexpr RepFilter rep_net = DOCA_DEV_REP_FILTER_NET;
inline constexpr RepFilter rep_emulated = DOCA_DEV_REP_FILTER_EMULATED;
inline constexpr auto can_list_net = doca_devinfo_rep_get_is_list_net_supported;
inline constexpr auto can_list_emulated = doca_devinfo_rep_get_is_list_emulated_supported;
inline constexpr auto type_pf = DOCA_PCI_FUNC_PF;
inline constexpr auto type_vf = DOCA_PCI_FUNC_VF;
inline constexpr auto type_sf = DOCA_PCI_FUNC_SF;

} // namespace opendoca::tools::api
