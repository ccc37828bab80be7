// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "service_directory.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

#include "../core/base/poll_one.hpp"
#include "../core/log/log.hpp"
#include "../core/process/peer_process.hpp"
#include "limits.hpp"
#include "relay_wire.hpp"
#include "wire.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_DIRECTORY);

namespace opendoca::comm_channel {

namespace {

// A service is a socket cc-<key in 32 hexadecimal digits> and a lock file with the same name and the suffix .lock.
constexpr std::string_view file_prefix = "cc-";
constexpr auto relay_timeout = std::chrono::seconds(1); ///< for the relay's answer
constexpr std::string_view lock_suffix = ".lock";

UniqueFd open_directory(const std::string &path)
{
    return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Returns whether the directory belongs to this user and has none of the permissions @p forbidden.
bool is_own(int directory, mode_t forbidden)
{
    struct stat status {};
    return fstat(directory, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & forbidden) == 0;
}

/// Returns the directories that may hold services. New services use the first that can be opened.
std::vector<std::string> candidates()
{
    std::vector<std::string> paths;
    const std::string user = std::to_string(geteuid());
    const char *const given = std::getenv("XDG_RUNTIME_DIR");
    for (const std::string &runtime : {std::string(given == nullptr ? "" : given), "/run/user/" + user}) {
        // A process that changed its user may have inherited the variable of the login user.
        const UniqueFd directory = runtime.empty() ? UniqueFd() : open_directory(runtime);
        const std::string path = runtime + "/opendoca";
        if (directory.is_open() && is_own(directory.get(), S_IWGRP | S_IWOTH) && (paths.empty() || paths[0] != path))
            paths.push_back(path);
    }
    paths.push_back("/tmp/opendoca-" + user);
    return paths;
}

/// Opens the directory and verifies its owner and mode through the descriptor, so that it cannot be replaced
/// afterwards. Returns a closed descriptor with errno if it is absent or unusable; @p reason is set if it is unusable.
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

/// Returns whether descriptors or memory lack, so that trying another directory is pointless.
bool is_out_of_resources(int error) noexcept
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Names the directory by its descriptor, so that the address is short enough for any path.
sockaddr_un address_of(int directory, const std::string &name)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory, name.c_str());
    return address;
}

UniqueFd make_socket(int type)
{
    return UniqueFd(socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// The content of a lock file: the process that holds the lock. The kernel keeps the lock as long as a child of that
/// process has the descriptor, which is possible for children made by other means than fork().
struct Holder {
    std::uint64_t pid_namespace;
    std::uint64_t pid;
    std::uint64_t start_time; ///< in clock ticks since boot; differs from that of a later process with the same id
};

/// Describes the process below /proc; all 0 if that cannot be read.
Holder describe_process(const char *process)
{
    Holder holder{};
    struct stat info {};
    std::ifstream file("/proc/" + std::string(process) + "/stat");
    std::string text;
    // The inode of the namespace: ids of processes are comparable only within one.
    if (stat("/proc/thread-self/ns/pid", &info) != 0 || !std::getline(file, text))
        return {};
    const std::size_t name_end = text.rfind(')'); // the name before it may contain anything
    std::istringstream fields(name_end == std::string::npos ? "" : text.substr(name_end + 1));
    std::string skipped;
    // Field 22 of /proc/PID/stat is the start time. The text after the name begins with field 3.
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

/// Returns true only if it is certain that the process in the lock file has ended.
bool has_holder_ended(int file)
{
    Holder holder{};
    if (pread(file, &holder, sizeof(holder), 0) != static_cast<ssize_t>(sizeof(holder)) || holder.pid == 0 ||
        holder.pid_namespace != describe_process("self").pid_namespace)
        return false;
    const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(holder.pid), 0)));
    if (!process.is_open())
        return errno == ESRCH;
    // A later process with the same id started later. An earlier start is that of the holder itself: an emulator of
    // programs (qemu-user) gives a process another start time than others see, a clock tick later at times.
    const Holder now = describe_process(std::to_string(holder.pid).c_str());
    return (now.pid != 0 && now.start_time > holder.start_time) ||
           poll_one(process.get(), POLLIN, std::chrono::milliseconds(0)) != 0;
}

/// Removes the files of services that were killed. The caller must hold the lock of the directory.
void sweep(int directory)
{
    UniqueFd opened(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto close_all = [](DIR *entries) { closedir(entries); };
    const std::unique_ptr<DIR, decltype(close_all)> entries(fdopendir(opened.get()));
    if (entries == nullptr)
        return;
    (void)opened.release(); // closedir() closes the descriptor
    while (const dirent *const entry = readdir(entries.get())) {
        const std::string lock = entry->d_name;
        if (!lock.starts_with(file_prefix) || !lock.ends_with(lock_suffix))
            continue;
        const UniqueFd file(openat(directory, lock.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
        // A child of a killed service may still hold the lock: then the process in the file decides.
        if (!file.is_open() || (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && !has_holder_ended(file.get())))
            continue; // the service is running
        unlinkat(directory, lock.substr(0, lock.size() - lock_suffix.size()).c_str(), 0);
        unlinkat(directory, lock.c_str(), 0);
    }
}

/// Locks the directory, which registrations hold for a moment only. Returns false after a timeout: a process that was
/// stopped in the middle, or an unrelated one, holds the lock.
bool lock_in_time(int directory)
{
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds lock_timeout(5);
    const Clock::time_point end = Clock::now() + lock_timeout;
    while (flock(directory, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR && errno != EWOULDBLOCK)
            return true; // the file system has no locks on directories: the lock files of the names suffice
        if (Clock::now() >= end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace

ServiceKey make_service_key(std::string_view host_function, std::string_view pci_address, std::string_view service)
{
    // FNV-1a with two initial values.
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
    std::swap(is_relayed_, other.is_relayed_);
    std::swap(creator_, other.creator_);
    return *this;
}

Registration::~Registration()
{
    unregister();
}

void Registration::unregister() noexcept
{
    if (!lock_.is_open() || !creator_.is_current())
        return; // none, or a forked child's copy of its parent's
    // The socket is removed before the lock file: without a lock file a new service may create its own socket.
    unlinkat(directory_.get(), name_.c_str(), 0);
    unlinkat(directory_.get(), lock_name_.c_str(), 0);
    socket_ = UniqueFd();
    lock_ = UniqueFd();
}

doca_error_t Registration::take(const ServiceKey &key, const char *service, const std::string &directory,
                                Registration &registration)
{
    Registration taken;
    taken.is_relayed_ = !directory.empty();
    taken.name_ = service_file_name(key);
    taken.lock_name_ = taken.name_ + std::string(lock_suffix);
    for (const std::string &path : taken.is_relayed_ ? std::vector{directory} : candidates()) {
        if (!taken.is_relayed_)
            (void)!mkdir(path.c_str(), S_IRWXU); // usually it exists already
        std::string reason;
        taken.directory_ = open_own(path, reason);
        if (taken.directory_.is_open())
            break;
        if (!reason.empty())
            LOG_ERR("%s", reason.c_str());
    }
    if (!taken.directory_.is_open()) {
        if (taken.is_relayed_)
            LOG_ERR("service '%s' cannot use the relay's directory %s", service, directory.c_str());
        else
            LOG_ERR("there is no directory for the socket of service '%s'; XDG_RUNTIME_DIR can name one", service);
        return DOCA_ERROR_INITIALIZATION;
    }
    if (!lock_in_time(taken.directory_.get())) {
        LOG_ERR("the name of service '%s' cannot be registered: another process keeps the directory of names locked",
                service);
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
        UniqueFd file(openat(directory_.get(), name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file.is_open()) {
            LOG_ERR("the name of service '%s' cannot be registered: %s", service, std::strerror(errno));
            return DOCA_ERROR_INITIALIZATION;
        }
        // The kernel releases the lock when its holder dies.
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
        // The file that is locked must still be the one with this name: unregister() and sweep() remove names.
        struct stat held {
        }, named{};
        if (fstat(file.get(), &held) == 0 && fstatat(directory_.get(), name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
            write_holder(file.get());
            lock_ = std::move(file);
            return DOCA_SUCCESS;
        }
        // The holder has just removed the file, and another service may have created a new one: retry.
    }
}

doca_error_t Registration::listen(const char *service)
{
    unlinkat(directory_.get(), name_.c_str(), 0); // the socket of a service that died
    const sockaddr_un address = address_of(directory_.get(), name_);
    UniqueFd made = make_socket(is_relayed_ ? SOCK_STREAM : SOCK_SEQPACKET);
    if (!made.is_open() || bind(made.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0 ||
        ::listen(made.get(), static_cast<int>(max_connections)) != 0) {
        LOG_ERR("service '%s' cannot listen: %s", service, std::strerror(errno));
        return DOCA_ERROR_INITIALIZATION;
    }
    socket_ = std::move(made);
    return DOCA_SUCCESS;
}

void ServiceSearch::log_new_reasons(std::vector<std::string> reasons)
{
    if (reasons == reported_)
        return;
    for (const std::string &reason : reasons)
        LOG_ERR("%s", reason.c_str());
    reported_ = std::move(reasons);
}

doca_error_t ServiceSearch::connect(const ServiceKey &key, const char *service, UniqueFd &socket)
{
    const std::string name = service_file_name(key);
    std::vector<std::string> reasons;
    for (const std::string &path : candidates()) {
        std::string reason;
        const UniqueFd directory = open_own(path, reason);
        // Without descriptors or memory no other directory can be opened either.
        if (!directory.is_open()) {
            const int error = errno;
            if (!reason.empty())
                reasons.push_back(std::move(reason));
            if (!is_out_of_resources(error))
                continue;
            log_new_reasons(std::move(reasons));
            return DOCA_ERROR_INITIALIZATION;
        }
        UniqueFd made = make_socket(SOCK_SEQPACKET);
        if (!made.is_open()) {
            LOG_ERR("a socket cannot be created: %s", std::strerror(errno));
            return DOCA_ERROR_INITIALIZATION;
        }
        const sockaddr_un address = address_of(directory.get(), name);
        if (::connect(made.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0) {
            PeerProcess service_process;
            service_process.open(made.get());
            if (service_process.has_ended())
                continue; // a child of it keeps the socket open but accepts no connections
            socket = std::move(made);
            return DOCA_SUCCESS;
        }
        // The kernel refuses with EAGAIN when the backlog of the listening socket is full.
        if (errno == EAGAIN) {
            LOG_ERR("%u clients already wait for service '%s'", max_connections, service);
            return DOCA_ERROR_CONNECTION_ABORTED;
        }
        if (errno != ENOENT && errno != ECONNREFUSED) {
            LOG_ERR("service '%s' cannot be connected to: %s", service, std::strerror(errno));
            return DOCA_ERROR_DRIVER;
        }
    }
    log_new_reasons(std::move(reasons));
    return DOCA_ERROR_NOT_FOUND;
}

doca_error_t parse_relay(const std::string &at, std::string &directory)
{
    directory = at.substr(std::strlen(relay_prefix));
    if (directory.starts_with('/'))
        return DOCA_SUCCESS;
    LOG_ERR("'%s' is not an address for services: the path of a relay's directory must be absolute", at.c_str());
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t connect_by_relay(const std::string &directory, const ServiceKey &key, const char *service,
                              UniqueFd &socket)
{
    std::string reason;
    const UniqueFd opened = open_own(directory, reason);
    if (!opened.is_open() && errno == ENOENT) {
        LOG_DBG("there is no directory %s of a relay", directory.c_str());
        return DOCA_ERROR_NOT_FOUND;
    }
    UniqueFd made = opened.is_open() ? make_socket(SOCK_STREAM) : UniqueFd();
    if (!made.is_open()) {
        LOG_ERR("service '%s' cannot be looked for: %s", service,
                !reason.empty() ? reason.c_str() : std::strerror(errno));
        return DOCA_ERROR_INITIALIZATION;
    }
    const sockaddr_un address = address_of(opened.get(), relay_name);
    if (::connect(made.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0) {
        LOG_DBG("there is no relay in %s: %s", directory.c_str(), std::strerror(errno));
        return DOCA_ERROR_NOT_FOUND;
    }
    const RelayRequest request = key;
    RelayAnswer answer = RelayAnswer::not_found;
    // Both are so short that a stream socket takes and delivers them as a whole. A relay without room may have answered
    // and closed the socket before the request.
    const auto ask = [&] {
        return send(made.get(), &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request) || errno == EPIPE ||
               errno == ECONNRESET;
    };
    if (!is_same_user(made.get()) || !ask() || poll_one(made.get(), POLLIN, relay_timeout) == 0 ||
        recv(made.get(), &answer, sizeof(answer), 0) != sizeof(answer)) {
        LOG_DBG("the relay in %s does not answer", directory.c_str());
        return DOCA_ERROR_NOT_FOUND;
    }
    switch (answer) {
    case RelayAnswer::connected:
        socket = std::move(made);
        return DOCA_SUCCESS;
    case RelayAnswer::full:
        LOG_ERR("the relay in %s has no room for a connection with service '%s', or too many clients wait for it",
                directory.c_str(), service);
        return DOCA_ERROR_CONNECTION_ABORTED;
    default:
        return DOCA_ERROR_NOT_FOUND;
    }
}

} // namespace opendoca::comm_channel
