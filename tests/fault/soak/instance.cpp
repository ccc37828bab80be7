// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "instance.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace soak {

namespace {

constexpr std::uint32_t rdma_rights = DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
constexpr std::size_t num_bufs = max_jobs * (max_pieces + 1);

template <typename Object, auto destroy>
Object *keep(Handle<Object, destroy> &handle, Object *object)
{
    handle.reset(object);
    return object;
}

opendoca::tools::DeviceHandle open_rdma_device(const char *name)
{
    const opendoca::tools::DeviceList devices;
    for (doca_devinfo *const info : devices.infos()) {
        char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
        must(doca_devinfo_get_ibdev_name(info, ibdev, sizeof(ibdev)), "getting a device's name");
        if (name != nullptr && std::string_view(ibdev) != name)
            continue;
        if (doca_rdma_job_get_supported(info, DOCA_RDMA_JOB_WRITE) == DOCA_SUCCESS)
            return opendoca::tools::open_device(*info);
    }
    throw Wrong(name == nullptr ? "no device here does RDMA" : std::string("no RDMA on a device ") + name);
}

} // namespace

Memory::Memory(std::size_t size, bool is_shareable) : size_(size)
{
    if (is_shareable) {
        fd_ = memfd_create("soak_rdma", MFD_CLOEXEC);
        expect(fd_ >= 0 && ftruncate(fd_, static_cast<off_t>(size)) == 0, "no memfd");
    }
    void *const mapped =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, fd_ >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd_, 0);
    expect(mapped != MAP_FAILED, "no memory");
    data_ = static_cast<std::byte *>(mapped);
}

Memory::~Memory()
{
    munmap(data_, size_);
    if (fd_ >= 0)
        close(fd_);
}

Instance::Instance(const char *device, bool is_event_driven, bool exposed_is_shareable, bool local_is_shareable,
                   std::size_t local_size)
    : exposed_(exposed_size, exposed_is_shareable),
      local_(local_size, local_is_shareable),
      dev_(open_rdma_device(device)),
      may_read_again_(!opendoca::tools::ibdev_of(*doca_dev_as_devinfo(dev_.get())).starts_with("soft_")),
      is_event_driven_(is_event_driven)
{
    exposed_map_ = map(exposed_, DOCA_ACCESS_LOCAL_READ_WRITE | rdma_rights);
    local_map_ = map(local_, DOCA_ACCESS_LOCAL_READ_WRITE);
    const void *descriptor = nullptr;
    std::size_t descriptor_size = 0;
    must(doca_mmap_export_rdma(exposed_map_.get(), dev_.get(), &descriptor, &descriptor_size), "exporting memory");
    descriptor_ = {static_cast<const std::byte *>(descriptor), descriptor_size};

    doca_buf_inventory *inventory = nullptr;
    must(doca_buf_inventory_create(nullptr, num_bufs, 0, &inventory), "creating an inventory");
    must(doca_buf_inventory_start(keep(inventory_, inventory)), "starting an inventory");

    doca_rdma *rdma = nullptr;
    must(doca_rdma_create(&rdma), "creating an instance");
    keep(rdma_, rdma);
    must(doca_ctx_dev_add(ctx(), dev_.get()), "adding a device");
    must(doca_rdma_set_permissions(rdma, rdma_rights), "setting permissions");
    must(doca_rdma_set_send_queue_size(rdma, max_sends), "setting the send queue's size");
    must(doca_rdma_set_recv_queue_size(rdma, max_receives), "setting the receive queue's size");
    must(doca_rdma_set_recv_buf_chain_len(rdma, max_pieces), "setting the chain length");
    doca_workq *workq = nullptr;
    must(doca_workq_create(max_jobs, &workq), "creating a work queue");
    keep(workq_, workq);
    is_event_driven_ = false;
    set_event_driven(is_event_driven);
}

Instance::~Instance()
{
    if (epoll_ >= 0)
        ::close(epoll_);
    if (has_workq_)
        (void)doca_ctx_workq_rm(ctx(), workq_.get());
    if (is_started_)
        (void)doca_ctx_stop(ctx());
}

void Instance::close()
{
    must(doca_workq_destroy(workq_.release()), "destroying a work queue");
    must(doca_ctx_dev_rm(ctx(), dev_.get()), "removing a device");
    must(doca_rdma_destroy(rdma_.release()), "destroying an instance");
    must(doca_buf_inventory_destroy(inventory_.release()), "destroying an inventory");
    must(doca_mmap_stop(exposed_map_.get()), "stopping a memory map");
    must(doca_mmap_destroy(exposed_map_.release()), "destroying a memory map");
    must(doca_mmap_destroy(local_map_.release()), "destroying a memory map");
    must(doca_dev_close(dev_.release()), "closing a device");
}

void Instance::set_event_driven(bool is_event_driven)
{
    if (epoll_ >= 0)
        ::close(std::exchange(epoll_, -1));
    must(doca_workq_set_event_driven_enable(workq_.get(), is_event_driven ? 1 : 0), "choosing a mode");
    is_event_driven_ = is_event_driven;
    if (!is_event_driven)
        return;
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(workq_.get(), &handle), "getting the event handle");
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    expect(epoll_ >= 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, handle, &event) == 0, "no epoll");
}

std::span<const std::byte> Instance::start()
{
    must(doca_ctx_start(ctx()), "starting");
    is_started_ = true;
    expect(state() == DOCA_RDMA_STATE_INIT, "started, and not in INIT");
    const void *details = nullptr;
    std::size_t details_size = 0;
    must(doca_rdma_export(rdma_.get(), &details, &details_size), "exporting the connection");
    expect(details_size > 0 && details_size <= 256, "connection details of " + std::to_string(details_size) + " bytes");
    must(doca_ctx_workq_add(ctx(), workq_.get()), "adding the work queue");
    has_workq_ = true;
    return {static_cast<const std::byte *>(details), details_size};
}

bool Instance::connect(std::span<const std::byte> details, std::span<const std::byte> descriptor)
{
    const doca_error_t status = doca_rdma_connect(rdma_.get(), details.data(), details.size());
    if (status == DOCA_ERROR_CONNECTION_ABORTED)
        return false;
    must(status, "connecting");
    expect(state() == DOCA_RDMA_STATE_CONNECTED || state() == DOCA_RDMA_STATE_ERROR, "connected, and not in CONNECTED");
    doca_mmap *map = nullptr;
    // INVALID_VALUE is what the exporter's death looks like, and NOT_PERMITTED that of one that is just
    // dying.
    const doca_error_t imported =
        doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev_.get(), &map);
    if (imported == DOCA_ERROR_INVALID_VALUE || imported == DOCA_ERROR_NOT_PERMITTED)
        return false;
    must(imported, "importing memory");
    remote_map_.reset(map);
    void *remote = nullptr;
    std::size_t size = 0;
    must(doca_mmap_get_memrange(map, &remote, &size), "the range of imported memory");
    expect(size == exposed_size, "imported memory of " + std::to_string(size) + " bytes");
    remote_ = static_cast<std::byte *>(remote);
    return true;
}

doca_error_t Instance::remove_workq()
{
    const doca_error_t status = doca_ctx_workq_rm(ctx(), workq_.get());
    if (status == DOCA_SUCCESS)
        has_workq_ = false;
    return status;
}

void Instance::stop()
{
    must(doca_ctx_stop(ctx()), "stopping");
    is_started_ = false;
    expect(state() == DOCA_RDMA_STATE_RESET, "stopped, and not in RESET");
    remote_map_.reset();
}

doca_rdma_state Instance::state() const
{
    doca_rdma_state state{};
    must(doca_rdma_get_state(rdma_.get(), &state), "the state");
    return state;
}

bool Instance::wait(int milliseconds)
{
    must(doca_workq_event_handle_arm(workq_.get()), "arming");
    epoll_event event{};
    const int count = epoll_wait(epoll_, &event, 1, milliseconds);
    expect(count >= 0 || errno == EINTR, "epoll_wait");
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(workq_.get(), &handle), "getting the event handle");
    must(doca_workq_event_handle_clear(workq_.get(), handle), "clearing");
    return count > 0;
}

Handle<doca_mmap, doca_mmap_destroy> Instance::map(const Memory &memory, std::uint32_t rights)
{
    doca_mmap *map = nullptr;
    must(doca_mmap_create(nullptr, &map), "creating a memory map");
    Handle<doca_mmap, doca_mmap_destroy> handle(map);
    must(doca_mmap_set_permissions(map, rights), "setting permissions");
    must(doca_mmap_set_memrange(map, memory.data(), memory.size()), "setting a range");
    must(doca_mmap_dev_add(map, dev_.get()), "adding a device to a memory map");
    must(doca_mmap_start(map), "starting a memory map");
    return handle;
}

doca_buf *Instance::take(doca_mmap *map, std::byte *head, std::size_t len, std::byte *data, std::size_t data_len)
{
    doca_buf *buf = nullptr;
    must(doca_buf_inventory_buf_by_args(inventory_.get(), map, head, len, data, data_len, &buf), "taking a buffer");
    return buf;
}

doca_buf *Instance::take_local(std::byte *head, std::size_t len, std::byte *data, std::size_t data_len)
{
    return take(local_map_.get(), head, len, data, data_len);
}

doca_buf *Instance::take_remote(std::size_t offset, std::size_t len, std::size_t data_len)
{
    return take(remote_map_.get(), remote_ + offset, len, remote_ + offset, data_len);
}

} // namespace soak
