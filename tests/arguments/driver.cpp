// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Calls every public function with NULL, 0, large values and other objects for each argument, in each state. No call
// may crash, hang or take much memory; NULL for what is required is refused; outputs are as before after an error.
//
// Child processes make the calls, one after the other until one has changed what the next ones need, or has crashed.
// The parent goes on with the call after that one, in another child.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arguments.hpp"

using namespace arguments;

namespace {

constexpr std::size_t memory_size = 16384;
constexpr std::size_t max_arguments = 16;
constexpr std::byte pattern{0xa5};
constexpr unsigned seconds_for_a_call = 60;
constexpr useconds_t patience_with_waits = 50'000;
constexpr long most_kilobytes = 512L * 1024; ///< that one call may add to the peak

alignas(4096) std::array<std::array<std::byte, memory_size>, max_arguments> memory;
std::string long_text(70000, 'x');

/// One value of an argument, of which there is a number for each argument.
struct Choice {
    static constexpr int good = -1;
    static constexpr int null = -2; ///< 0 for numbers
    std::size_t argument;           ///< all others are good
    int what;                       ///< or the number of a wrong value
};

struct Call {
    const Function *function;
    Choice choice;
    bool all_null = false;
};

/// What the parent sees of a child.
struct Progress {
    std::atomic<std::size_t> call; ///< in which the child is, or was
    std::atomic<bool> is_built;    ///< the objects are there
    std::atomic<bool> is_winding_down;
    std::atomic<bool> is_done;
    std::atomic<std::size_t> num_calls;
};
Progress *progress;
int report = -1; ///< what the children append failures to

constexpr int max_wrong_values = 4;
constexpr int max_wrong_objects = 24;

bool is_pointer(Kind kind)
{
    return kind != Kind::number && kind != Kind::enumeration;
}

int num_wrong(const Argument &argument)
{
    if (argument.is_undefined)
        return 0;
    switch (argument.kind) {
    case Kind::object:
        return max_wrong_objects; // those that are there
    case Kind::text:
        return 2;
    case Kind::number:
    case Kind::enumeration:
        return max_wrong_values;
    default:
        return 0;
    }
}

std::vector<Call> calls_of(const Function &function)
{
    std::vector<Call> calls;
    const bool may_be_null = std::ranges::none_of(function.arguments, [](const Argument &argument) {
        return is_pointer(argument.kind) && argument.is_undefined;
    });
    if (may_be_null && !function.arguments.empty())
        calls.push_back({&function, {0, Choice::null}, true});
    for (std::size_t i = 0; i != function.arguments.size(); ++i) {
        const Argument &argument = function.arguments[i];
        if (!argument.is_undefined)
            calls.push_back({&function, {i, Choice::null}});
        for (int wrong = 0; wrong != num_wrong(argument); ++wrong)
            calls.push_back({&function, {i, wrong}});
    }
    calls.push_back({&function, {0, Choice::good}});
    return calls;
}

Word word_of(std::size_t index, const Argument &argument, int what, const World &world, bool &exists)
{
    if (what == Choice::null)
        return 0;
    switch (argument.kind) {
    case Kind::object: {
        const auto place = world.objects.find(argument.type);
        if (place == world.objects.end())
            return argument.is_output ? reinterpret_cast<Word>(memory[index].data()) : 0;
        const std::size_t number = what == Choice::good ? 0 : static_cast<std::size_t>(what) + 1;
        exists = exists && number < place->second.size();
        return exists ? reinterpret_cast<Word>(place->second[number]) : 0;
    }
    case Kind::slot: {
        const auto place = world.objects.find(std::string(argument.type) + " **");
        if (!argument.is_output && place != world.objects.end())
            return reinterpret_cast<Word>(place->second[0]);
        return reinterpret_cast<Word>(memory[index].data());
    }
    case Kind::memory:
        return reinterpret_cast<Word>(memory[index].data());
    case Kind::text:
        return reinterpret_cast<Word>(what == Choice::good ? "zz" : what == 0 ? "" : long_text.c_str());
    case Kind::callback:
        return 1;
    case Kind::number: {
        constexpr Word values[max_wrong_values] = {UINTPTR_MAX, 1, 0x7fffffff, UINT32_MAX};
        return what == Choice::good ? 8 : values[what];
    }
    case Kind::enumeration: {
        constexpr Word values[max_wrong_values] = {0x7fffffff, 2, 77, UINTPTR_MAX};
        return what == Choice::good ? 1 : values[what];
    }
    }
    return 0;
}

std::string text_of(const Call &call, State state)
{
    std::string text = call.function->name;
    if (call.all_null)
        text += "(all NULL or 0)";
    else if (call.choice.what == Choice::good)
        text += "(good arguments)";
    else
        text += std::string("(") + call.function->arguments[call.choice.argument].name + " = " +
                (call.choice.what == Choice::null ? "NULL or 0" : "wrong value " + std::to_string(call.choice.what)) +
                ")";
    return text + " while " + state_names[static_cast<int>(state)];
}

void fail(const Call &call, State state, const std::string &what)
{
    const std::string line = text_of(call, state) + ": " + what + "\n";
    (void)!write(report, line.data(), line.size());
}

/// Whether what others need may have gone, or the state may have changed.
bool consumes(const Function &function, const Outcome &outcome)
{
    static const std::regex names("destroy|free|refcount|_rm|close|stop|chain|disconnect|submit|start|init|set_data|"
                                  "reuse|_add_|connect|listen|progress|set_memrange|export|create");
    // Setters of tasks change no other object.
    static const std::regex queries("_cap_|_get_|_is_|task_.*_set_");
    static const std::regex takers("argp_(cmd_)?register_(param|cmd)"); // take what they are given also when they fail
    if (std::regex_search(function.name, takers))
        return true;
    if (outcome.of == Outcome::Of::error && outcome.value != DOCA_SUCCESS && outcome.value != DOCA_ERROR_IN_PROGRESS)
        return false;
    return std::regex_search(function.name, names) && !std::regex_search(function.name, queries);
}

bool is_untouched(std::size_t index)
{
    return std::ranges::all_of(memory[index], [](std::byte byte) { return byte == pattern; });
}

void check(const Call &call, State state, const std::vector<Word> &words, const Outcome &outcome)
{
    const Function &function = *call.function;
    const bool is_error = outcome.of == Outcome::Of::error && outcome.value != DOCA_SUCCESS;
    bool lacks = false;
    bool lacks_object = false;
    for (std::size_t i = 0; i != words.size(); ++i) {
        const Argument &argument = function.arguments[i];
        lacks = lacks || (argument.is_required && words[i] == 0);
        lacks_object = lacks_object || (i == 0 && argument.is_required && words[i] == 0 && !argument.is_output);
        if (is_error && argument.is_output && words[i] == reinterpret_cast<Word>(memory[i].data()) && !is_untouched(i))
            fail(call, state,
                 "error " + std::to_string(outcome.value) + ", and output '" + argument.name + "' was written");
    }
    if (outcome.of == Outcome::Of::error && lacks && outcome.value != DOCA_ERROR_INVALID_VALUE &&
        !(function.refuses_all && is_error))
        fail(call, state, "a required pointer is NULL, and the answer is " + std::to_string(outcome.value));
    if (outcome.of == Outcome::Of::value && lacks_object && outcome.value != 0)
        fail(call, state, "the object is NULL, and the answer is " + std::to_string(outcome.value));
}

long peak_kilobytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/// In a child: makes calls from @p first on, as many as the objects are good for.
[[noreturn]] void run(const std::vector<Call> &calls, std::size_t first, State state)
{
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO);
    if (std::getenv("ARGUMENTS_SHOW_LOG") == nullptr)
        dup2(nowhere, STDERR_FILENO);
    alarm(seconds_for_a_call);
    World world;
    build(world, state);
    progress->is_built = true;
    for (std::size_t i = first; i != calls.size(); ++i) {
        const Call &call = calls[i];
        const Function &function = *call.function;
        progress->call = i;
        std::vector<Word> words(std::max<std::size_t>(function.arguments.size(), 1));
        words.resize(function.arguments.size());
        bool exists = true;
        for (std::size_t j = 0; j != words.size(); ++j) {
            memory[j].fill(pattern);
            const int what = call.all_null || j == call.choice.argument ? call.choice.what : Choice::good;
            words[j] = word_of(j, function.arguments[j], what, world, exists);
        }
        if (!exists)
            continue;
        const long before = peak_kilobytes();
        alarm(seconds_for_a_call);
        if (function.waits)
            ualarm(patience_with_waits, 0);
        const Outcome outcome = function.call(words.data());
        alarm(seconds_for_a_call);
        ++progress->num_calls;
        if (peak_kilobytes() - before > most_kilobytes)
            fail(call, state, "took " + std::to_string((peak_kilobytes() - before) / 1024) + " MiB");
        check(call, state, words, outcome);
        if (consumes(function, outcome)) {
            progress->call = i + 1;
            break;
        }
        progress->call = i + 1;
        if (i + 1 != calls.size() && std::string_view(function.header) != calls[i + 1].function->header)
            break;
    }
    progress->is_winding_down = true;
    if (std::string_view(calls[progress->call - 1].function->name).find("destroy") == std::string_view::npos)
        wind_down(world);
    progress->is_done = true;
    _exit(0);
}

std::size_t num_processes = 0;

/// Returns false when the objects could not be made.
bool run_all(const std::vector<Call> &calls, State state)
{
    std::size_t next = 0;
    while (next != calls.size()) {
        progress->call = next;
        progress->is_built = progress->is_winding_down = progress->is_done = false;
        ++num_processes;
        const pid_t child = fork();
        if (child == 0)
            run(calls, next, state);
        int status = 0;
        waitpid(child, &status, 0);
        if (!progress->is_built) {
            std::printf("the objects could not be made, state '%s', status 0x%x\n",
                        state_names[static_cast<int>(state)], static_cast<unsigned>(status));
            return false;
        }
        const std::size_t reached = progress->call;
        if (progress->is_done) {
            next = reached;
            continue;
        }
        const Call &last = calls[progress->is_winding_down ? reached - 1 : reached];
        const bool is_wait = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM && !progress->is_winding_down;
        const bool is_exit = WIFEXITED(status) && last.function->ends_process;
        if (!(is_wait && last.function->waits) && !is_exit) {
            std::string what = progress->is_winding_down ? "what was done after the call " : "";
            if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
                what += "hung";
            else if (WIFSIGNALED(status))
                what += std::string("ended with signal ") + std::to_string(WTERMSIG(status));
            else
                what += "ended the process with status " + std::to_string(WEXITSTATUS(status));
            fail(last, state, what);
        }
        next = progress->is_winding_down ? reached : reached + 1;
    }
    return true;
}

std::string read_report()
{
    std::string text(static_cast<std::size_t>(lseek(report, 0, SEEK_END)), '\0');
    (void)!pread(report, text.data(), text.size(), 0);
    return text;
}

} // namespace

/// Arguments: a regular expression of the functions to call, or nothing for all.
int main(int argc, char **argv)
{
    progress = static_cast<Progress *>(
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    report = memfd_create("report", 0);
    fcntl(report, F_SETFL, O_APPEND);
    const std::regex wanted(argc > 1 ? argv[1] : "");
    bool is_complete = true;
    for (const State state : {State::idle, State::running, State::in_flight, State::stopping, State::stopped}) {
        std::vector<Call> calls;
        for (const Function &function : functions) {
            if (std::regex_search(function.name, wanted)) {
                const std::vector<Call> more = calls_of(function);
                calls.insert(calls.end(), more.begin(), more.end());
            }
        }
        is_complete = run_all(calls, state) && is_complete;
    }
    const std::string failures = read_report();
    std::fputs(failures.c_str(), stdout);
    std::printf("%zu processes, ", num_processes);
    std::printf("%zu functions, %zu calls, %zu failures\n", functions.size(), progress->num_calls.load(),
                static_cast<std::size_t>(std::ranges::count(failures, '\n')));
    return is_complete && failures.empty() && progress->num_calls != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
