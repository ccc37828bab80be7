// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The functions and types that differ between the generations, under names that all tools use: the API of DOCA 3.0. v2/
// has a header of the same name; the build chooses one of them by its include path.
#pragma once

#include <doca_dev.h>
#include <doca_error.h>

namespace opendoca::tools::api {

inline constexpr auto name_of_error = doca_error_get_name;
inline constexpr auto text_of_error = doca_error_get_descr;
inline constexpr auto create_list = doca_devinfo_create_list;
inline constexpr auto destroy_list = doca_devinfo_destroy_list;
inline constexpr auto create_rep_list = doca_devinfo_rep_create_list;
inline constexpr auto destroy_rep_list = doca_devinfo_rep_destroy_list;
using RepFilter = doca_devinfo_rep_filter;
inline constexpr RepFilter rep_net = DOCA_DEVINFO_REP_FILTER_NET;
inline constexpr RepFilter rep_emulated = DOCA_DEVINFO_REP_FILTER_EMULATED;
inline constexpr auto can_list_net = doca_devinfo_rep_cap_is_filter_net_supported;
inline constexpr auto can_list_emulated = doca_devinfo_rep_cap_is_filter_emulated_supported;
inline constexpr auto type_pf = DOCA_PCI_FUNC_TYPE_PF;
inline constexpr auto type_vf = DOCA_PCI_FUNC_TYPE_VF;
inline constexpr auto type_sf = DOCA_PCI_FUNC_TYPE_SF;

} // namespace opendoca::tools::api
