// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "error_text.hpp"

#include <array>
#include <cstring>

namespace opendoca {

namespace {

// In the order of the values, which index it.
constexpr std::array texts{
    ErrorText{"DOCA_SUCCESS", "Success"},
    ErrorText{"DOCA_ERROR_UNKNOWN", "Unknown error"},
    ErrorText{"DOCA_ERROR_NOT_PERMITTED", "Operation not permitted"},
    ErrorText{"DOCA_ERROR_IN_USE", "Resource is in use"},
    ErrorText{"DOCA_ERROR_NOT_SUPPORTED", "Operation not supported"},
    ErrorText{"DOCA_ERROR_AGAIN", "Nothing available yet, try again"},
    ErrorText{"DOCA_ERROR_INVALID_VALUE", "Invalid value"},
    ErrorText{"DOCA_ERROR_NO_MEMORY", "Out of memory or of queue entries"},
    ErrorText{"DOCA_ERROR_INITIALIZATION", "Initialization failed"},
    ErrorText{"DOCA_ERROR_TIME_OUT", "Timed out"},
    ErrorText{"DOCA_ERROR_SHUTDOWN", "Shutting down"},
    ErrorText{"DOCA_ERROR_CONNECTION_RESET", "Connection reset by the peer"},
    ErrorText{"DOCA_ERROR_CONNECTION_ABORTED", "Connection aborted"},
    ErrorText{"DOCA_ERROR_CONNECTION_INPROGRESS", "Connection in progress"},
    ErrorText{"DOCA_ERROR_NOT_CONNECTED", "Not connected"},
    ErrorText{"DOCA_ERROR_NO_LOCK", "Lock not acquired"},
    ErrorText{"DOCA_ERROR_NOT_FOUND", "Not found"},
    ErrorText{"DOCA_ERROR_IO_FAILED", "Input/output failed"},
    ErrorText{"DOCA_ERROR_BAD_STATE", "Object is in the wrong state"},
    ErrorText{"DOCA_ERROR_UNSUPPORTED_VERSION", "Unsupported version"},
    ErrorText{"DOCA_ERROR_OPERATING_SYSTEM", "Operating system call failed"},
    ErrorText{"DOCA_ERROR_DRIVER", "Driver call failed"},
    ErrorText{"DOCA_ERROR_UNEXPECTED", "Unexpected condition"},
    ErrorText{"DOCA_ERROR_ALREADY_EXIST", "Already exists"},
    ErrorText{"DOCA_ERROR_FULL", "Full"},
    ErrorText{"DOCA_ERROR_EMPTY", "Empty"},
    ErrorText{"DOCA_ERROR_IN_PROGRESS", "In progress"},
    // From DOCA 3.0 on.
    ErrorText{"DOCA_ERROR_TOO_BIG", "Too big"},
    ErrorText{"DOCA_ERROR_AUTHENTICATION", "Authentication failed"},
    ErrorText{"DOCA_ERROR_BAD_CONFIG", "Bad configuration"},
    ErrorText{"DOCA_ERROR_SKIPPED", "Earlier output was skipped"},
    ErrorText{"DOCA_ERROR_DEVICE_FATAL_ERROR", "Fatal error of the device"},
};

constexpr ErrorText unrecognized{"unrecognized error code", "unrecognized error code"};

} // namespace

const ErrorText &text_of(const doca_error_t &error, unsigned last) noexcept
{
    // Copied as bytes: reading a number outside of the enumeration's range as an enumeration would be undefined.
    unsigned code = 0;
    static_assert(sizeof(code) == sizeof(error));
    std::memcpy(&code, &error, sizeof(code));
    return code <= last && code < texts.size() ? texts[code] : unrecognized;
}

} // namespace opendoca
