// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Names and texts of error codes: one table for both generations, of which 2.2 has the first part.
#include <doca_error.h>

#include "../base/error_text.hpp"

const char *doca_get_error_name(doca_error_t error)
{
    return opendoca::text_of(error, DOCA_ERROR_IN_PROGRESS).name;
}

const char *doca_get_error_string(doca_error_t error)
{
    return opendoca::text_of(error, DOCA_ERROR_IN_PROGRESS).text;
}
