// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device_state.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../base/unique_fd.hpp"
#include "../../../log/log.hpp"
#include "../../../process/fork.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_STATE);

namespace opendoca::soft {

namespace {

constexpr char page_magic[8] = {'O', 'P', 'E', 'N', 'D', 'E', 'V', 'S'};
constexpr std::uint32_t page_version = 1;

/// The file. The head is constant from its creation on.
struct StatePage {
    char magic[8];
    std::uint32_t version;
    std::uint32_t num_functions;
    std::uint64_t key; ///< of the topology
    FunctionState functions[DeviceStates::max_functions];
};

/// Returns a number that differs, but for accidents, from that of any other topology: FNV-1a of what identifies its
/// functions.
std::uint64_t key_of(const Topology &topology)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](std::string_view text) {
        for (const char c : text)
            hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
        hash = (hash ^ 0xff) * 0x100000001b3; // ends the text: no byte of UTF-8
    };
    for (const TopologyFunction &function : topology) {
        for (const std::string &text : {function.name, function.pci_address, function.parent, function.vuid})
            add(text);
    }
    return hash;
}

/// Returns whether @p fd is of @p type and of this user, and nobody else has access.
bool is_private(int fd, mode_t type, struct stat &info)
{
    return fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == type && info.st_uid == geteuid() &&
           (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// Opens the user's directory for files of opendoca, which is made if it does not exist. Not open, logged, if there is
/// none that only this user can write.
UniqueFd open_directory(std::string &path)
{
    const char *const runtime = std::getenv("XDG_RUNTIME_DIR");
    path = runtime != nullptr && *runtime == '/' ? std::string(runtime) + "/opendoca"
                                                 : "/tmp/opendoca-" + std::to_string(geteuid());
    if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        LOG_ERR("DOCA_SOFT_CONTROL: %s can't be made: %s", path.c_str(), std::strerror(errno));
        return {};
    }
    UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (directory.is_open() && is_private(directory.get(), S_IFDIR, info))
        return directory;
    LOG_ERR("DOCA_SOFT_CONTROL: %s is not a directory that user %u alone can enter", path.c_str(),
            static_cast<unsigned>(geteuid()));
    return {};
}

/// Writes the head of a file that is new, under the file's lock; a file with a head is left as it is. Returns false,
/// logged, if it is not the file of this topology.
bool prepare(int fd, const std::string &path, std::uint64_t key, std::size_t num_functions)
{
    struct stat info {};
    if (!is_private(fd, S_IFREG, info)) {
        LOG_ERR("DOCA_SOFT_CONTROL: %s is not a file that user %u alone can open", path.c_str(),
                static_cast<unsigned>(geteuid()));
        return false;
    }
    StatePage head{};
    std::memcpy(head.magic, page_magic, sizeof(page_magic));
    head.version = page_version;
    head.num_functions = static_cast<std::uint32_t>(num_functions);
    head.key = key;
    constexpr std::size_t head_size = offsetof(StatePage, functions);
    if (info.st_size == 0) {
        if (posix_fallocate(fd, 0, sizeof(StatePage)) == 0 &&
            pwrite(fd, &head, head_size, 0) == static_cast<ssize_t>(head_size))
            return true;
        LOG_ERR("DOCA_SOFT_CONTROL: %s can't be written: is the file system full?", path.c_str());
        (void)!ftruncate(fd, 0);
        return false;
    }
    char found[head_size];
    if (info.st_size == static_cast<off_t>(sizeof(StatePage)) &&
        pread(fd, found, head_size, 0) == static_cast<ssize_t>(head_size) && std::memcmp(found, &head, head_size) == 0)
        return true;
    LOG_ERR("DOCA_SOFT_CONTROL: %s, of %lld bytes, is not of this release and topology; remove it", path.c_str(),
            static_cast<long long>(info.st_size));
    return false;
}

/// The states that this process uses, by the topology's key. Never destroyed.
struct Registry {
    std::map<std::pair<std::uint64_t, bool>, std::unique_ptr<DeviceStates>> states;
};

constinit ForkSafeMutex states_lock;
const ForkRegistration states_registration(states_lock, LockRank::pages);
Registry *const registry = new Registry;

} // namespace

doca_error_t DeviceStates::find(const Topology &topology, bool is_needed, DeviceStates *&states)
{
    const char *const text = std::getenv("DOCA_SOFT_CONTROL");
    const std::string_view value = text != nullptr && *text != '\0' ? text : "0";
    if (value != "0" && value != "1") {
        LOG_ERR("DOCA_SOFT_CONTROL is '%s': it can be 0 or 1", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (value == "1")
        return open_file(topology, states);
    states = nullptr;
    if (!is_needed)
        return DOCA_SUCCESS;
    const std::lock_guard guard(states_lock);
    const std::uint64_t key = key_of(topology);
    states = known(key, false);
    if (states == nullptr)
        states = keep(key, false,
                      std::unique_ptr<DeviceStates>(
                          new DeviceStates(new FunctionState[max_functions]{}, topology, "this process")));
    return DOCA_SUCCESS;
}

doca_error_t DeviceStates::open_file(const Topology &topology, DeviceStates *&states)
{
    const std::lock_guard guard(states_lock);
    const std::uint64_t key = key_of(topology);
    states = known(key, true);
    if (states != nullptr)
        return DOCA_SUCCESS;
    std::string path;
    const UniqueFd directory = open_directory(path);
    if (!directory.is_open())
        return DOCA_ERROR_NOT_PERMITTED;
    const std::string name = file_name_of(topology);
    path += "/" + name;
    // The lock is the kernel's, so that a process that is killed leaves none.
    const UniqueFd file(
        openat(directory.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file.is_open() || flock(file.get(), LOCK_EX) != 0) {
        LOG_ERR("DOCA_SOFT_CONTROL: %s can't be opened: %s", path.c_str(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    if (!prepare(file.get(), path, key, topology.size()))
        return DOCA_ERROR_NOT_PERMITTED;
    // Not by closing: a mapping keeps the open file, and with it the lock.
    (void)flock(file.get(), LOCK_UN);
    void *const mapped = mmap(nullptr, sizeof(StatePage), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (mapped == MAP_FAILED) {
        LOG_ERR("DOCA_SOFT_CONTROL: %s can't be mapped: %s", path.c_str(), std::strerror(errno));
        return DOCA_ERROR_NO_MEMORY;
    }
    states = keep(
        key, true,
        std::unique_ptr<DeviceStates>(new DeviceStates(static_cast<StatePage *>(mapped)->functions, topology, path)));
    return DOCA_SUCCESS;
}

std::string DeviceStates::file_name_of(const Topology &topology)
{
    char name[40];
    std::snprintf(name, sizeof(name), "soft-devices-%016llx", static_cast<unsigned long long>(key_of(topology)));
    return name;
}

DeviceStates *DeviceStates::known(std::uint64_t key, bool is_file)
{
    const auto found = registry->states.find({key, is_file});
    return found != registry->states.end() ? found->second.get() : nullptr;
}

DeviceStates *DeviceStates::keep(std::uint64_t key, bool is_file, std::unique_ptr<DeviceStates> made)
{
    return (registry->states[{key, is_file}] = std::move(made)).get();
}

} // namespace opendoca::soft
