// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <array>
#include <cstring>

#include <doca_error.h>

namespace {

struct Description {
    const char *name;
    const char *text;
};

// In the order of the values.
constexpr std::array descriptions{
    Description{"DOCA_SUCCESS", "Success"},
    Description{"DOCA_ERROR_UNKNOWN", "Unknown error"},
    Description{"DOCA_ERROR_NOT_PERMITTED", "Operation not permitted"},
    Description{"DOCA_ERROR_IN_USE", "Resource is in use"},
    Description{"DOCA_ERROR_NOT_SUPPORTED", "Operation not supported"},
    Description{"DOCA_ERROR_AGAIN", "Nothing available yet, try again"},
    Description{"DOCA_ERROR_INVALID_VALUE", "Invalid value"},
    Description{"DOCA_ERROR_NO_MEMORY", "Out of memory or of queue entries"},
    Description{"DOCA_ERROR_INITIALIZATION", "Initialization failed"},
    Description{"DOCA_ERROR_TIME_OUT", "Timed out"},
    Description{"DOCA_ERROR_SHUTDOWN", "Shutting down"},
    Description{"DOCA_ERROR_CONNECTION_RESET", "Connection reset by the peer"},
    Description{"DOCA_ERROR_CONNECTION_ABORTED", "Connection aborted"},
    Description{"DOCA_ERROR_CONNECTION_INPROGRESS", "Connection in progress"},
    Description{"DOCA_ERROR_NOT_CONNECTED", "Not connected"},
    Description{"DOCA_ERROR_NO_LOCK", "Lock not acquired"},
    Description{"DOCA_ERROR_NOT_FOUND", "Not found"},
    Description{"DOCA_ERROR_IO_FAILED", "Input/output failed"},
    Description{"DOCA_ERROR_BAD_STATE", "Object is in the wrong state"},
    Description{"DOCA_ERROR_UNSUPPORTED_VERSION", "Unsupported version"},
    Description{"DOCA_ERROR_OPERATING_SYSTEM", "Operating system call failed"},
    Description{"DOCA_ERROR_DRIVER", "Driver call failed"},
    Description{"DOCA_ERROR_UNEXPECTED", "Unexpected condition"},
    Description{"DOCA_ERROR_ALREADY_EXIST", "Already exists"},
    Description{"DOCA_ERROR_FULL", "Full"},
    Description{"DOCA_ERROR_EMPTY", "Empty"},
    Description{"DOCA_ERROR_IN_PROGRESS", "In progress"},
};
static_assert(descriptions.size() == DOCA_ERROR_IN_PROGRESS + 1);

constexpr Description unrecognized{"unrecognized error code", "unrecognized error code"};

const Description &describe(const doca_error_t &error) noexcept
{
    // Programs pass any number here; to read one as an enumeration of this range would be undefined.
    unsigned code = 0;
    static_assert(sizeof(code) == sizeof(error));
    std::memcpy(&code, &error, sizeof(code));
    return code < descriptions.size() ? descriptions[code] : unrecognized;
}

} // namespace

const char *doca_get_error_name(doca_error_t error)
{
    return describe(error).name;
}

const char *doca_get_error_string(doca_error_t error)
{
    return describe(error).text;
}
