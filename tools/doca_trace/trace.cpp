// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Preloaded into a program, stands in front of the DOCA libraries: each call of theirs is written down with its
// arguments, what it gave, its thread and its time. doca_trace sets the environment that says how and where.
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

constexpr std::size_t longest_text = 128;

// The public structures of 2.2 that are shown in full.
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

// Text between quotes, as JSON wants it, which is readable, too.
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

// Where the lines go. Each is one write to a file that is open for appending, so that threads and processes that share
// the file do not mix theirs.
class Output {
public:
    Output()
    {
        const char *format = std::getenv("DOCA_TRACE_FORMAT");
        const char *path = std::getenv("DOCA_TRACE_FILE");

        is_json_ = format != nullptr && std::strcmp(format, "json") == 0;
        // Out of the way of descriptors that programs expect to be the lowest free ones.
        const int fd = path != nullptr ? ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : STDERR_FILENO;
        fd_ = fd >= 0 ? ::fcntl(fd, F_DUPFD_CLOEXEC, 512) : -1;
        if (fd_ < 0 && fd >= 0)
            fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (path != nullptr && fd >= 0)
            ::close(fd);
        if (fd_ < 0)
            std::fprintf(stderr, "doca_trace: %s: %s\n", path != nullptr ? path : "stderr", std::strerror(errno));
    }
    bool is_json() const { return is_json_; }
    void write(const std::string &line) const
    {
        // What can't be written is lost: a trace is no reason for a program to fail.
        if (fd_ >= 0 && ::write(fd_, line.data(), line.size()) < 0)
            return;
    }

private:
    bool is_json_ = false;
    int fd_ = -1;
};

// Kept to the end of the process: threads may call in any order with the destructors.
const Output &output()
{
    static const Output *const only = new Output;
    return *only;
}

std::span<const Function> functions()
{
    static const bool has_progress_engines = ::dlsym(RTLD_NEXT, "doca_pe_create") != nullptr;
    return has_progress_engines ? functions_of_3 : functions_of_2;
}

using Real = std::uintptr_t (*)(std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t,
                                std::uintptr_t, std::uintptr_t, std::uintptr_t);

Real real_function(std::size_t index)
{
    // Kept to the end of the process as well: programs' own destructors call.
    static std::atomic<Real> *const found = new std::atomic<Real>[num_names]();
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

template <typename T>
T at(std::uintptr_t address)
{
    T value;
    std::memcpy(&value, reinterpret_cast<const void *>(address), sizeof(value));
    return value;
}

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

void append_callback(std::string &text, std::uintptr_t value)
{
    Dl_info info{};

    if (value != 0 && ::dladdr(reinterpret_cast<void *>(value), &info) != 0 && info.dli_sname != nullptr)
        text += info.dli_sname;
    else
        append_pointer(text, value);
}

void append_text(std::string &text, std::uintptr_t value)
{
    if (value == 0)
        text += "NULL";
    else
        append_quoted(text, {reinterpret_cast<const char *>(value),
                             ::strnlen(reinterpret_cast<const char *>(value), longest_text)});
}

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

// What a successful call has left where the argument points to; false when there is nothing to show.
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

bool is_error_code(const Function &function)
{
    return function.returned == Shown::enumeration && !function.values.empty() &&
           std::strcmp(function.values.front().name, "DOCA_SUCCESS") == 0;
}

// A polling program calls thousands of times without a result: such calls are counted and reported by one line.
struct Polling {
    const Function *function = nullptr;
    std::uint64_t count = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
};

bool found_nothing(const Function &function, std::uintptr_t result)
{
    constexpr std::uint32_t error_again = 5;
    const std::string_view name{function.name};

    if (is_error_code(function))
        return static_cast<std::uint32_t>(result) == error_again;
    return name == "doca_pe_progress" && (result & 0xff) == 0;
}

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

// Result, and what was written for the caller: " = DOCA_SUCCESS [mmap = 0x...]".
void append_result(std::string &text, const Call &call)
{
    const Function &function = call.function;

    if (function.returned != Shown::nothing) {
        text += " = ";
        append_value(text, function.returned, call.result, function.values);
    }
    if (is_error_code(function) && static_cast<std::uint32_t>(call.result) != 0)
        return;
    // What was an output of the function that made it is an input here, and has gone.
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

// The last polls of a thread are reported when it calls something else, or ends.
struct ThreadPolling : Polling {
    ~ThreadPolling() { write_polling(*this); }
};

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
    const std::uintptr_t result = real(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    const std::uint64_t end_ns = monotonic_ns();
    const int error = errno;

    if (const Function &function = functions()[index]; function.name != nullptr)
        write_call({function, a, result, begin_ns, end_ns});
    errno = error;
    return result;
}

} // namespace trace
