// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "forged_export.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doca_types.h>

#include "memory.hpp"
#include "process_traits.hpp"

namespace doca_test {

namespace {

constexpr std::uint64_t generation = 1;
constexpr std::size_t exported_size = 4096;

struct Message {
    ExportDescriptor descriptor;
    std::byte *addr;
};

int open_fifo()
{
    const std::string path = temporary_directory() + "/opendoca-fifo-" + std::to_string(getpid());
    must_hold(mkfifo(path.c_str(), 0600) == 0, "a FIFO is made");
    // Opened so that no other end is needed; who opens it for one direction only would wait.
    const int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
    unlink(path.c_str());
    return fd;
}

int plain_file(std::size_t size)
{
    std::string path = temporary_directory() + "/opendoca-page-XXXXXX";
    const int fd = mkostemp(path.data(), O_CLOEXEC);
    must_hold(fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0, "a file is made");
    unlink(path.c_str());
    return fd;
}

void lease(int fd)
{
    must_hold(signal(SIGIO, SIG_IGN) != SIG_ERR, "who breaks a lease is not told");
    if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
        return;
    // A memfd's first descriptor does not count as a writer, without which there is none.
    const int own = open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC);
    must_hold(fcntl(own, F_SETLEASE, F_WRLCK) == 0, "a lease is taken");
}

/// An object for the entry of the page, and what the entry says about it.
void forge_object(Forgery forgery, ExportEntry &entry)
{
    switch (forgery) {
    case Forgery::object_is_fifo:
        entry.fd = open_fifo();
        break;
    case Forgery::object_is_directory:
        entry.fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        break;
    case Forgery::object_too_short:
        entry.fd = plain_file(exported_size - 1);
        break;
    case Forgery::object_offset_wraps:
        entry.fd = plain_file(exported_size);
        entry.fd_offset = UINT64_MAX - exported_size / 2;
        break;
    case Forgery::object_is_shifted:
        entry.fd = plain_file(2 * exported_size);
        entry.fd_offset = 1;
        break;
    case Forgery::object_is_leased:
        entry.fd = plain_file(exported_size);
        lease(entry.fd);
        break;
    case Forgery::object_is_another:
    case Forgery::length_changes:
        entry.fd = plain_file(exported_size);
        break;
    default:
        return;
    }
    struct stat info {};
    must_hold(fstat(entry.fd, &info) == 0, "fstat");
    entry.fd_device = info.st_dev;
    entry.fd_inode = info.st_ino + (forgery == Forgery::object_is_another ? 1 : 0);
}

/// The page of hazard pointers that goes with the page of exports.
int forge_hazards(Forgery forgery)
{
    const std::size_t size = sizeof(opendoca::soft::HazardPage) - (forgery == Forgery::hazards_too_short ? 64 : 0);
    const int fd = memfd_create(opendoca::soft::hazard_page_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    must_hold(fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0, "the page of hazard pointers is made");
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (forgery == Forgery::hazards_read_only)
        seals |= F_SEAL_FUTURE_WRITE;
    if (forgery != Forgery::hazards_not_sealed)
        must_hold(fcntl(fd, F_ADD_SEALS, seals) == 0, "the page of hazard pointers is sealed");
    return fd;
}

void fill_page(Forgery forgery, int fd, std::byte *memory, const opendoca::soft::Nonce &nonce)
{
    void *const mapped = mmap(nullptr, sizeof(ExportPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must_hold(mapped != MAP_FAILED, "the page is mapped");
    auto &page = *static_cast<ExportPage *>(mapped);
    std::memcpy(page.magic, opendoca::soft::export_magic, sizeof(page.magic));
    page.version = opendoca::soft::export_version;
    page.pid = static_cast<std::uint32_t>(getpid());
    page.start_time = start_time_of(getpid());
    page.size = sizeof(page);
    page.hazard_page_fd = forgery == Forgery::no_hazards ? 1000 : forge_hazards(forgery);
    page.magic[0] = static_cast<char>(page.magic[0] ^ (forgery == Forgery::wrong_magic ? 1 : 0));
    page.version += forgery == Forgery::wrong_version;
    page.pid += forgery == Forgery::wrong_pid;
    page.start_time += forgery == Forgery::wrong_start_time;

    ExportEntry &entry = page.entries[0];
    entry.addr = reinterpret_cast<std::uintptr_t>(memory);
    entry.len = exported_size;
    entry.access = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;
    entry.kind = 1;
    entry.fd = -1;
    forge_object(forgery, entry);
    if (forgery == Forgery::range_wraps)
        entry.len = UINTPTR_MAX - entry.addr + 1;
    if (forgery == Forgery::range_unmapped)
        entry.addr = 4096; // below the lowest address that a program can map
    std::memcpy(entry.nonce, nonce, sizeof(entry.nonce));
    // The functions of the default topology.
    std::strcpy(entry.function, "pf0");
    std::strcpy(entry.pci_address, "0000:0b:00.0");
    entry.generation.store(generation);
    if (forgery == Forgery::length_changes) {
        std::thread([&length = entry.len] {
            const std::atomic_ref changing(length);
            for (;;)
                changing.store(changing.load() == exported_size ? 256 * exported_size : exported_size);
        }).detach();
        return; // it stays mapped
    }
    munmap(mapped, sizeof(ExportPage));
}

int forge_page(Forgery forgery, std::byte *memory, const opendoca::soft::Nonce &nonce)
{
    switch (forgery) {
    case Forgery::fifo:
        return open_fifo();
    case Forgery::directory:
        return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    case Forgery::character_device:
        return open("/dev/zero", O_RDWR | O_CLOEXEC);
    case Forgery::socket:
        return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    case Forgery::nothing:
        return 1000;
    default:
        break;
    }
    std::size_t size = sizeof(ExportPage);
    if (forgery == Forgery::too_short)
        size -= 4096;
    if (forgery == Forgery::too_long)
        size += 4096;
    const int fd = forgery == Forgery::plain_file
                       ? plain_file(size)
                       : memfd_create(opendoca::soft::export_page_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    must_hold(fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0, "the page's memfd is made");
    if (forgery != Forgery::too_short)
        fill_page(forgery, fd, memory, nonce);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE;
    if (forgery == Forgery::partly_sealed)
        seals &= ~F_SEAL_SHRINK;
    if (forgery == Forgery::writable)
        seals &= ~F_SEAL_FUTURE_WRITE;
    if (forgery != Forgery::not_sealed && forgery != Forgery::plain_file)
        must_hold(fcntl(fd, F_ADD_SEALS, seals) == 0, "the page is sealed");
    if (forgery == Forgery::leased)
        lease(fd);
    return fd;
}

void run_forger(Channel &parent)
{
    const auto genuine = parent.receive<ExportDescriptor>(); // for what is the same in all
    const auto forgery = parent.receive<Forgery>();
    Memory memory(MemoryKind::anonymous, exported_size);
    fill(memory.bytes(), 1);
    Message message = {genuine, memory.data()};
    ExportDescriptor &d = message.descriptor;
    d.pid = static_cast<std::uint32_t>(getpid());
    d.start_time = start_time_of(getpid());
    d.generation = generation;
    d.entry = 0;
    d.page_fd = forge_page(forgery, memory.data(), d.nonce);
    parent.send(message);
    (void)parent.receive<bool>(); // until the test has seen enough
}

const ChildProgram forger_program("forger", run_forger);

/// The fields that are the same in every descriptor of this library and this PID namespace.
ExportDescriptor blank_descriptor()
{
    ExportDescriptor d{};
    struct stat info {};
    must_hold(stat("/proc/self/ns/pid", &info) == 0, "the PID namespace is known");
    d.pid_namespace = info.st_ino;
    d.kind = 1;
    std::memset(d.nonce, 0x5c, sizeof(d.nonce));
    return d;
}

} // namespace

Forger::Forger(Forgery forgery) : process_("forger")
{
    process_.channel().send(blank_descriptor());
    process_.channel().send(forgery);
    const auto message = process_.channel().receive<Message>();
    descriptor_ = message.descriptor;
    addr_ = message.addr;
}

} // namespace doca_test
