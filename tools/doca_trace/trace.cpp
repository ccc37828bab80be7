// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The library that doca_trace preloads. Its stubs take the place of the functions of the DOCA libraries: each calls the
// real function and writes a line or event with arguments, result, output parameters, thread and time. doca_trace sets
// DOCA_TRACE_FORMAT and DOCA_TRACE_FILE, which choose the format and the file.
//
// The code runs inside of arbitrary programs. It links with no DOCA library, takes no lock of its own, never fails a
// call and leaves errno as the real function set it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "trace.hpp"

namespace trace {
namespace {

constexpr std::size_t longest_text = 128; // bytes of a string argument that are shown

// The layouts of the public structures of 2.2 that are shown with their members: doca_job and doca_event. Copied, since
// the headers of both generations can't be included at once.
struct Job {
    int type;
    int flags;
    void *ctx;
    std::uint64_t user_data;
};

struct Event {
    int type;
    std::uint64_t user_data;
    std::uint64_t result;
};

// Appends formatted text; a piece is cut after 511 bytes. Long values are appended by other functions.
void append(std::string &text, const char *format, ...) __attribute__((format(printf, 2, 3)));

void append(std::string &text, const char *format, ...)
{
    char piece[512];
    std::va_list arguments;

    va_start(arguments, format);
    const int length = std::vsnprintf(piece, sizeof(piece), format, arguments);
    va_end(arguments);
    if (length > 0)
        text.append(piece, std::min(static_cast<std::size_t>(length), sizeof(piece) - 1));
}

// Appends text in quotes with the escapes of JSON, which the text format uses as well. Bytes beyond ASCII are escaped
// one by one: they need not be UTF-8.
void append_quoted(std::string &text, std::string_view shown)
{
    text += '"';
    for (const char c : shown) {
        if (c == '"' || c == '\\')
            (text += '\\') += c;
        else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f)
            append(text, "\\u%04x", static_cast<unsigned char>(c));
        else
            text += c;
    }
    text += '"';
}

std::uint64_t monotonic_ns()
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// The file that receives the trace: one object for the process, never destroyed. Each line is a single write()
// to a descriptor opened with O_APPEND, so that lines of threads and processes that share the file do not mix. Constant
// after construction, so any thread may use it without a lock.
class Output {
public:
    Output()
    {
        const char *format = std::getenv("DOCA_TRACE_FORMAT");
        const char *path = std::getenv("DOCA_TRACE_FILE");

        is_json_ = format != nullptr && std::strcmp(format, "json") == 0;
        // A high number keeps the low ones free: programs may expect the lowest free descriptors. 3 and above is the
        // fallback if the limit of descriptors is lower.
        const int fd = path != nullptr ? ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : STDERR_FILENO;
        fd_ = fd >= 0 ? ::fcntl(fd, F_DUPFD_CLOEXEC, 512) : -1;
        if (fd_ < 0 && fd >= 0)
            fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (path != nullptr && fd >= 0)
            ::close(fd);
        if (fd_ < 0)
            std::fprintf(stderr, "doca_trace: %s: %s\n", path != nullptr ? path : "stderr", std::strerror(errno));
    }
    // Returns whether to write trace events instead of text.
    bool is_json() const { return is_json_; }
    // Writes one complete line.
    void write(const std::string &line) const
    {
        // An error loses the line: a trace is no reason for a program to fail.
        if (fd_ >= 0 && ::write(fd_, line.data(), line.size()) < 0)
            return;
    }

private:
    bool is_json_ = false;
    int fd_ = -1;
};

// Never destroyed: other threads and destructors of the program may still call functions at exit.
const Output &output()
{
    static const Output *const only = new Output;
    return *only;
}

// Returns the table of the generation that the program uses. Only libraries of 3.0 have progress engines. Both tables
// have the same order, so an index of a stub is valid in either.
std::span<const Function> functions()
{
    static const bool has_progress_engines = ::dlsym(RTLD_NEXT, "doca_pe_create") != nullptr;
    return has_progress_engines ? functions_of_3 : functions_of_2;
}

// The type by which all functions are called. Superfluous arguments are in registers, or on the stack, where the callee
// does not look for them.
using Real = std::uintptr_t (*)(std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t,
                                std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t);
static_assert(max_parameters == 10);

// Returns the function that the stub with this index replaces, found at the first call. Two threads may look it up at
// once; both store the same value. Aborts if no library has it, as the dynamic linker would have done without the stub.
Real real_function(std::size_t index)
{
    // Never destroyed, for the same reason as output().
    static std::atomic<Real> *const found = new std::atomic<Real>[num_names]();
    // Acquire: pairs with the release store below, by another thread.
    Real real = found[index].load(std::memory_order_acquire);

    if (real == nullptr) {
        real = reinterpret_cast<Real>(::dlsym(RTLD_NEXT, names[index]));
        if (real == nullptr) {
            std::fprintf(stderr, "doca_trace: no DOCA library here has %s\n", names[index]);
            std::abort();
        }
        found[index].store(real, std::memory_order_release);
    }
    return real;
}

// Loads an object from the caller's memory, which need not be aligned for it.
template <typename T>
T at(std::uintptr_t address)
{
    T value;
    std::memcpy(&value, reinterpret_cast<const void *>(address), sizeof(value));
    return value;
}

// Appends the name of a value, or the number if the enumeration does not have it.
void append_enumerator(std::string &text, std::int64_t value, std::span<const Value> values)
{
    for (const Value &known : values)
        if (known.value == value)
            return void(text += known.name);
    append(text, "%" PRId64, value);
}

void append_pointer(std::string &text, std::uintptr_t value)
{
    if (value == 0)
        text += "NULL";
    else
        append(text, "0x%" PRIxPTR, value);
}

// Appends the name of a function if its library exports it.
void append_callback(std::string &text, std::uintptr_t value)
{
    Dl_info info{};

    if (value != 0 && ::dladdr(reinterpret_cast<void *>(value), &info) != 0 && info.dli_sname != nullptr)
        text += info.dli_sname;
    else
        append_pointer(text, value);
}

// Appends at most longest_text bytes: the string may be long, or, in a buffer of the caller, not terminated.
void append_text(std::string &text, std::uintptr_t value)
{
    if (value == 0)
        text += "NULL";
    else
        append_quoted(text, {reinterpret_cast<const char *>(value),
                             ::strnlen(reinterpret_cast<const char *>(value), longest_text)});
}

// Appends an argument or a result. Narrow types are cut first, as the upper bits of their registers are undefined.
void append_value(std::string &text, Shown shown, std::uintptr_t value, std::span<const Value> values)
{
    switch (shown) {
    case Shown::boolean:
        text += (value & 0xff) != 0 ? "true" : "false";
        break;
    case Shown::unsigned8:
        append(text, "%u", static_cast<std::uint8_t>(value));
        break;
    case Shown::unsigned16:
        append(text, "%u", static_cast<std::uint16_t>(value));
        break;
    case Shown::unsigned32:
        append(text, "%" PRIu32, static_cast<std::uint32_t>(value));
        break;
    case Shown::unsigned64:
        append(text, "%" PRIuPTR, value);
        break;
    case Shown::signed32:
        append(text, "%" PRId32, static_cast<std::int32_t>(value));
        break;
    case Shown::signed64:
        append(text, "%" PRIdPTR, static_cast<std::intptr_t>(value));
        break;
    case Shown::hexadecimal:
        append(text, "0x%" PRIxPTR, value);
        break;
    case Shown::enumeration:
        append_enumerator(text, static_cast<std::int32_t>(value), values);
        break;
    case Shown::callback:
        append_callback(text, value);
        break;
    case Shown::text:
        append_text(text, value);
        break;
    case Shown::job:
        if (value != 0) {
            const auto job = at<Job>(value);
            append(text, "{type=0x%x, flags=0x%x, ctx=%p, user_data=0x%" PRIx64 "}", static_cast<unsigned>(job.type),
                   static_cast<unsigned>(job.flags), job.ctx, job.user_data);
            break;
        }
        [[fallthrough]];
    default:
        append_pointer(text, value);
        break;
    }
}

// Appends the value that a successful call has stored where an argument points to. Returns false if there is none: the
// pointer is null, or the parameter is an input.
bool append_output(std::string &text, const Parameter &parameter, std::uintptr_t address)
{
    if (address == 0)
        return false;
    switch (parameter.shown) {
    case Shown::buffer:
        append_text(text, address);
        return true;
    case Shown::event: {
        const auto event = at<Event>(address);
        append(text, "{type=0x%x, user_data=0x%" PRIx64 ", result=0x%" PRIx64 "}", static_cast<unsigned>(event.type),
               event.user_data, event.result);
        return true;
    }
    case Shown::out_boolean:
        append_value(text, Shown::boolean, at<std::uint8_t>(address), {});
        return true;
    case Shown::out_unsigned8:
        append_value(text, Shown::unsigned8, at<std::uint8_t>(address), {});
        return true;
    case Shown::out_unsigned16:
        append_value(text, Shown::unsigned16, at<std::uint16_t>(address), {});
        return true;
    case Shown::out_unsigned32:
        append_value(text, Shown::unsigned32, at<std::uint32_t>(address), {});
        return true;
    case Shown::out_signed32:
        append_value(text, Shown::signed32, at<std::uint32_t>(address), {});
        return true;
    case Shown::out_enumeration:
        append_value(text, Shown::enumeration, at<std::uint32_t>(address), parameter.values);
        return true;
    case Shown::out_unsigned64:
        append_value(text, Shown::unsigned64, at<std::uint64_t>(address), {});
        return true;
    case Shown::out_signed64:
        append_value(text, Shown::signed64, at<std::uint64_t>(address), {});
        return true;
    case Shown::out_hexadecimal:
        append_value(text, Shown::hexadecimal, at<std::uint64_t>(address), {});
        return true;
    case Shown::out_pointer:
        append_value(text, Shown::pointer, at<std::uint64_t>(address), {});
        return true;
    default:
        return false;
    }
}

// Returns whether the function returns doca_error_t.
bool is_error_code(const Function &function)
{
    return function.returned == Shown::enumeration && !function.values.empty() &&
           std::strcmp(function.values.front().name, "DOCA_SUCCESS") == 0;
}

// Consecutive calls of one function by one thread that found nothing. A polling program makes thousands of them; one
// line with their number replaces them. @c count is 0 when there are none to report.
struct Polling {
    const Function *function = nullptr;
    std::uint64_t count = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
};

// Returns whether a call polled without success: DOCA_ERROR_AGAIN (5 in both generations), or no progress of an engine.
bool found_nothing(const Function &function, std::uintptr_t result)
{
    constexpr std::uint32_t error_again = 5;
    const std::string_view name{function.name};

    if (is_error_code(function))
        return static_cast<std::uint32_t>(result) == error_again;
    return name == "doca_pe_progress" && (result & 0xff) == 0;
}

// One call to report. Refers to the stub's arguments, so it must not outlive it.
struct Call {
    const Function &function;
    const Arguments &arguments;
    std::uintptr_t result;
    std::uint64_t begin_ns;
    std::uint64_t end_ns;
};

std::string time_of_day()
{
    timespec now{};
    tm parts{};
    char text[32];

    ::clock_gettime(CLOCK_REALTIME, &now);
    ::localtime_r(&now.tv_sec, &parts);
    std::snprintf(text, sizeof(text), "%02d:%02d:%02d.%06ld", parts.tm_hour, parts.tm_min, parts.tm_sec,
                  now.tv_nsec / 1000);
    return text;
}

long thread_id()
{
    static thread_local const long id = ::syscall(SYS_gettid);
    return id;
}

// Appends the result and the output parameters: " = DOCA_SUCCESS [mmap = 0x...]". After an error outputs are undefined,
// so they are left out.
void append_result(std::string &text, const Call &call)
{
    const Function &function = call.function;

    if (function.returned != Shown::nothing) {
        text += " = ";
        append_value(text, function.returned, call.result, function.values);
    }
    if (is_error_code(function) && static_cast<std::uint32_t>(call.result) != 0)
        return;
    // A pointer that other functions return through a parameter is an input here, and refers to freed memory after the
    // call.
    if (std::strstr(function.name, "destroy") != nullptr)
        return;
    bool is_first = true;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        std::string value;
        if (!append_output(value, function.parameters[i], call.arguments[i]))
            continue;
        text += is_first ? " [" : ", ";
        (text += function.parameters[i].name) += " = ";
        text += value;
        is_first = false;
    }
    if (!is_first)
        text += ']';
}

// Appends "NAME=VALUE, ..." as the caller passed them.
void append_arguments(std::string &text, const Call &call)
{
    for (std::size_t i = 0; i < call.function.parameters.size(); ++i) {
        const Parameter &parameter = call.function.parameters[i];
        if (i != 0)
            text += ", ";
        (text += parameter.name) += '=';
        append_value(text, parameter.shown, call.arguments[i], parameter.values);
    }
}

// Writes a complete event ("ph": "X") of the trace event format, with times in microseconds. Each ends with a comma;
// the script adds the last event and the bracket.
void write_event(const char *name, std::uint64_t begin_ns, std::uint64_t end_ns,
                 std::initializer_list<std::pair<const char *, std::string>> facts)
{
    std::string line;

    append(line,
           "{\"ph\": \"X\", \"name\": \"%s\", \"pid\": %d, \"tid\": %ld, \"ts\": %.3f, \"dur\": %.3f, \"args\": {",
           name, ::getpid(), thread_id(), static_cast<double>(begin_ns) / 1000,
           static_cast<double>(end_ns - begin_ns) / 1000);
    bool is_first = true;
    for (const auto &[key, value] : facts) {
        append(line, "%s\"%s\": ", is_first ? "" : ", ", key);
        append_quoted(line, value);
        is_first = false;
    }
    line += "}},\n";
    output().write(line);
}

// Writes the line of a polling sequence, and starts a new one.
void write_polling(Polling &polling)
{
    if (polling.count == 0)
        return;
    if (output().is_json()) {
        write_event(polling.function->name, polling.begin_ns, polling.end_ns,
                    {{"calls that found nothing", std::to_string(polling.count)}});
    } else {
        std::string line = time_of_day();
        append(line, " %ld %s: %" PRIu64 " calls found nothing <%.3f us>\n", thread_id(), polling.function->name,
               polling.count, static_cast<double>(polling.end_ns - polling.begin_ns) / 1000);
        output().write(line);
    }
    polling.count = 0;
}

// The polling sequence of a thread. It is reported when the thread calls another function or finds something, and at
// the end of the thread.
struct ThreadPolling : Polling {
    ~ThreadPolling() { write_polling(*this); }
};

// Writes one call, or counts it if it found nothing.
void write_call(const Call &call)
{
    static thread_local ThreadPolling polling;

    if (found_nothing(call.function, call.result)) {
        if (polling.function != &call.function)
            write_polling(polling);
        if (polling.count++ == 0)
            polling.begin_ns = call.begin_ns;
        polling.function = &call.function;
        polling.end_ns = call.end_ns;
        return;
    }
    write_polling(polling);

    std::string arguments;
    std::string result;
    append_arguments(arguments, call);
    append_result(result, call);
    if (output().is_json()) {
        write_event(call.function.name, call.begin_ns, call.end_ns,
                    {{"arguments", arguments}, {"result", result.starts_with(" = ") ? result.substr(3) : result}});
        return;
    }
    std::string line = time_of_day();
    append(line, " %ld %s(", thread_id(), call.function.name);
    line += arguments + ")" + result;
    append(line, " <%.3f us>\n", static_cast<double>(call.end_ns - call.begin_ns) / 1000);
    output().write(line);
}

} // namespace

std::uintptr_t call(std::size_t index, const Arguments &a)
{
    const Real real = real_function(index);
    const std::uint64_t begin_ns = monotonic_ns();
    const std::uintptr_t result = real(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
    const std::uint64_t end_ns = monotonic_ns();
    // Writing the trace changes errno, which programs may read after a call.
    const int error = errno;

    if (const Function &function = functions()[index]; function.name != nullptr)
        write_call({function, a, result, begin_ns, end_ns});
    errno = error;
    return result;
}

} // namespace trace
