// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "service_directory.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../core/log.hpp"
#include "../core/peer_process.hpp"
#include "../core/poll_one.hpp"
#include "limits.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_DIRECTORY);

namespace opendoca::comm_channel {

namespace {

constexpr std::string_view file_prefix = "cc-";
constexpr std::string_view lock_suffix = ".lock";

UniqueFd open_directory(const std::string &path)
{
    return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Whether nobody but this user can put anything into the directory.
bool is_own(int directory, mode_t forbidden)
{
    struct stat status {};
    return fstat(directory, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & forbidden) == 0;
}

/// The directories that services can be in, the one for new services first.
std::vector<std::string> candidates()
{
    std::vector<std::string> paths;
    const std::string user = std::to_string(geteuid());
    const char *const given = std::getenv("XDG_RUNTIME_DIR");
    for (const std::string &runtime : {std::string(given == nullptr ? "" : given), "/run/user/" + user}) {
        // A process that runs as another user than its login may have the other's variable.
        const UniqueFd directory = runtime.empty() ? UniqueFd() : open_directory(runtime);
        const std::string path = runtime + "/opendoca";
        if (directory.is_open() && is_own(directory.get(), S_IWGRP | S_IWOTH) &&
            (paths.empty() || paths[0] != path))
            paths.push_back(path);
    }
    paths.push_back("/tmp/opendoca-" + user);
    return paths;
}

/// Opens the directory and makes sure of whose it is. What is opened can't be exchanged for another one later. Not open,
/// with errno, where there is none, or none that can be used: then @p reason says why.
UniqueFd open_own(const std::string &path, std::string &reason)
{
    UniqueFd directory = open_directory(path);
    if (!directory.is_open()) {
        const int error = errno;
        if (error != ENOENT)
            reason = path + " cannot be opened as a directory: " + std::strerror(error);
        errno = error;
        return UniqueFd();
    }
    if (!is_own(directory.get(), S_IRWXG | S_IRWXO)) {
        reason = path + " is not a directory that user " + std::to_string(geteuid()) +
                 " alone can enter, and services are not looked for there";
        errno = EACCES;
        return UniqueFd();
    }
    return directory;
}

/// Of descriptors or memory, which no other place has either.
bool is_want(int error) noexcept
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

std::string file_name(const ServiceKey &key)
{
    char text[40];
    std::snprintf(text, sizeof(text), "%s%016llx%016llx", file_prefix.data(),
                  static_cast<unsigned long long>(key[0]), static_cast<unsigned long long>(key[1]));
    return text;
}

/// By the descriptor: whatever the length of the directory's path, the address is short enough.
sockaddr_un address_of(int directory, const std::string &name)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory, name.c_str());
    return address;
}

UniqueFd make_socket()
{
    return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// What the file of a lock says of the process that holds it. The kernel keeps the lock as long as a child of that process
/// has the descriptor, as one that was made by other means than fork() may.
struct Holder {
    std::uint64_t pid_namespace;
    std::uint64_t pid;
    std::uint64_t start_time; ///< in clock ticks since boot: tells it from a later process with the same id
};

/// All 0 where it cannot be found out.
Holder describe_process(const char *process)
{
    Holder holder{};
    struct stat info {};
    std::ifstream file("/proc/" + std::string(process) + "/stat");
    std::string text;
    if (stat("/proc/thread-self/ns/pid", &info) != 0 || !std::getline(file, text))
        return {};
    const std::size_t name_end = text.rfind(')'); // the name may hold anything
    std::istringstream fields(name_end == std::string::npos ? "" : text.substr(name_end + 1));
    std::string skipped;
    for (int i = 3; i < 22; ++i)
        fields >> skipped;
    if (!(fields >> holder.start_time))
        return {};
    holder.pid_namespace = info.st_ino;
    holder.pid = std::strtoull(text.c_str(), nullptr, 10);
    return holder;
}

void write_holder(int file)
{
    const Holder self = describe_process("self");
    (void)!pwrite(file, &self, sizeof(self), 0);
}

/// For certain.
bool has_holder_ended(int file)
{
    Holder holder{};
    if (pread(file, &holder, sizeof(holder), 0) != static_cast<ssize_t>(sizeof(holder)) || holder.pid == 0 ||
        holder.pid_namespace != describe_process("self").pid_namespace)
        return false;
    const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(holder.pid), 0)));
    if (!process.is_open())
        return errno == ESRCH;
    const Holder now = describe_process(std::to_string(holder.pid).c_str());
    return (now.pid != 0 && now.start_time != holder.start_time) ||
           poll_one(process.get(), POLLIN, std::chrono::milliseconds(0)) != 0;
}

/// Removes what services that were killed have left. The caller has locked the directory.
void sweep(int directory)
{
    UniqueFd opened(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto close_all = [](DIR *entries) { closedir(entries); };
    const std::unique_ptr<DIR, decltype(close_all)> entries(fdopendir(opened.get()));
    if (entries == nullptr)
        return;
    (void)opened.release(); // closedir() closes it
    while (const dirent *const entry = readdir(entries.get())) {
        const std::string lock = entry->d_name;
        if (!lock.starts_with(file_prefix) || !lock.ends_with(lock_suffix))
            continue;
        const UniqueFd file(openat(directory, lock.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
        if (!file.is_open() || (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && !has_holder_ended(file.get())))
            continue; // it lives
        unlinkat(directory, lock.substr(0, lock.size() - lock_suffix.size()).c_str(), 0);
        unlinkat(directory, lock.c_str(), 0);
    }
}

/// Waits for others that register just now, for which they take a moment. False when somebody keeps the directory locked:
/// one that was stopped in the middle, or a stranger.
bool lock_in_time(int directory)
{
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds patience(5);
    const Clock::time_point end = Clock::now() + patience;
    while (flock(directory, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR && errno != EWOULDBLOCK)
            return true; // there are no such locks here: the names' own are what counts
        if (Clock::now() >= end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace

ServiceKey make_service_key(std::string_view host_function, std::string_view pci_address,
                            std::string_view service)
{
    // FNV-1a, from two beginnings.
    ServiceKey key = {0xcbf29ce484222325, 0x84222325cbf29ce4};
    const auto add = [&](unsigned char byte) {
        for (std::uint64_t &half : key)
            half = (half ^ byte) * 0x100000001b3;
    };
    for (const std::string_view part : {host_function, pci_address, service}) {
        for (const char c : part)
            add(static_cast<unsigned char>(c));
        add(0);
    }
    return key;
}

Registration &Registration::operator=(Registration &&other) noexcept
{
    std::swap(directory_, other.directory_);
    std::swap(lock_, other.lock_);
    std::swap(socket_, other.socket_);
    std::swap(name_, other.name_);
    std::swap(lock_name_, other.lock_name_);
    std::swap(home_, other.home_);
    return *this;
}

Registration::~Registration()
{
    give_back();
}

void Registration::give_back() noexcept
{
    if (!lock_.is_open() || !home_.is_here())
        return; // none, or a forked child's copy of its parent's
    unlinkat(directory_.get(), name_.c_str(), 0);
    unlinkat(directory_.get(), lock_name_.c_str(), 0);
    socket_ = UniqueFd();
    lock_ = UniqueFd();
}

doca_error_t Registration::take(const ServiceKey &key, const char *service, Registration &registration)
{
    Registration taken;
    taken.name_ = file_name(key);
    taken.lock_name_ = taken.name_ + std::string(lock_suffix);
    for (const std::string &path : candidates()) {
        (void)!mkdir(path.c_str(), S_IRWXU); // usually it is there
        std::string reason;
        taken.directory_ = open_own(path, reason);
        if (taken.directory_.is_open())
            break;
        if (!reason.empty())
            LOG_ERR("%s", reason.c_str());
    }
    if (!taken.directory_.is_open()) {
        LOG_ERR("there is no directory for the socket of service '%s'; XDG_RUNTIME_DIR can name one",
                service);
        return DOCA_ERROR_INITIALIZATION;
    }
    if (!lock_in_time(taken.directory_.get())) {
        LOG_ERR("the name of service '%s' cannot be registered: another process keeps the directory of names locked", service);
        return DOCA_ERROR_INITIALIZATION;
    }
    sweep(taken.directory_.get());
    doca_error_t status = taken.lock(service);
    if (status == DOCA_SUCCESS)
        status = taken.listen(service);
    flock(taken.directory_.get(), LOCK_UN);
    if (status == DOCA_SUCCESS)
        registration = std::move(taken);
    return status;
}

doca_error_t Registration::lock(const char *service)
{
    const char *const name = lock_name_.c_str();
    for (;;) {
        UniqueFd file(
            openat(directory_.get(), name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file.is_open()) {
            LOG_ERR("the name of service '%s' cannot be registered: %s", service, std::strerror(errno));
            return DOCA_ERROR_INITIALIZATION;
        }
        // The kernel gives the lock back when its holder dies.
        if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EINTR)
                continue;
            if (errno == EWOULDBLOCK) {
                LOG_ERR("a service '%s' listens on this representor already", service);
                return DOCA_ERROR_CONNECTION_ABORTED;
            }
            LOG_ERR("the name of service '%s' cannot be locked: %s", service, std::strerror(errno));
            return DOCA_ERROR_INITIALIZATION;
        }
        struct stat held {
        }, named{};
        if (fstat(file.get(), &held) == 0 &&
            fstatat(directory_.get(), name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
            write_holder(file.get());
            lock_ = std::move(file);
            return DOCA_SUCCESS;
        }
        // Its holder has just removed it, and another one may have the name by now.
    }
}

doca_error_t Registration::listen(const char *service)
{
    unlinkat(directory_.get(), name_.c_str(), 0); // of a service that died
    const sockaddr_un address = address_of(directory_.get(), name_);
    UniqueFd made = make_socket();
    if (!made.is_open() ||
        bind(made.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0 ||
        ::listen(made.get(), static_cast<int>(max_connections)) != 0) {
        LOG_ERR("service '%s' cannot listen: %s", service, std::strerror(errno));
        return DOCA_ERROR_INITIALIZATION;
    }
    socket_ = std::move(made);
    return DOCA_SUCCESS;
}

void ServiceSearch::tell(std::vector<std::string> reasons)
{
    if (reasons == told_)
        return;
    for (const std::string &reason : reasons)
        LOG_ERR("%s", reason.c_str());
    told_ = std::move(reasons);
}

doca_error_t ServiceSearch::connect(const ServiceKey &key, const char *service, UniqueFd &socket)
{
    const std::string name = file_name(key);
    std::vector<std::string> reasons;
    for (const std::string &path : candidates()) {
        std::string reason;
        const UniqueFd directory = open_own(path, reason);
        if (!directory.is_open()) {
            const int error = errno;
            if (!reason.empty())
                reasons.push_back(std::move(reason));
            if (!is_want(error))
                continue;
            tell(std::move(reasons));
            return DOCA_ERROR_INITIALIZATION;
        }
        UniqueFd made = make_socket();
        if (!made.is_open()) {
            LOG_ERR("no socket can be made: %s", std::strerror(errno));
            return DOCA_ERROR_INITIALIZATION;
        }
        const sockaddr_un address = address_of(directory.get(), name);
        if (::connect(made.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0) {
            PeerProcess service_process;
            service_process.open(made.get());
            if (service_process.has_ended())
                continue; // a child of it keeps the socket open, and nobody accepts there
            socket = std::move(made);
            return DOCA_SUCCESS;
        }
        if (errno == EAGAIN) {
            LOG_ERR("%u clients wait for service '%s' already", max_connections, service);
            return DOCA_ERROR_CONNECTION_ABORTED;
        }
        if (errno != ENOENT && errno != ECONNREFUSED) {
            LOG_ERR("service '%s' cannot be connected to: %s", service, std::strerror(errno));
            return DOCA_ERROR_DRIVER;
        }
    }
    tell(std::move(reasons));
    return DOCA_ERROR_NOT_FOUND;
}

} // namespace opendoca::comm_channel
