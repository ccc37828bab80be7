// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Names and texts of error codes: one table for both generations, of which 3.0 has a few codes more.
#include <doca_error.h>

#include "../base/error_text.hpp"

const char *doca_error_get_name(doca_error_t error)
{
    return opendoca::text_of(error, DOCA_ERROR_DEVICE_FATAL_ERROR).name;
}

const char *doca_error_get_descr(doca_error_t error)
{
    return opendoca::text_of(error, DOCA_ERROR_DEVICE_FATAL_ERROR).text;
}
