// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "remote_importer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <sys/wait.h>

#include "log_capture.hpp"
#include "process_traits.hpp"

namespace doca_test {

using Direction = RemoteImporter::Direction;

namespace {

struct ImportRequest {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    RemoteImporter::Options options;
    std::size_t descriptor_size;
    std::byte descriptor[256];
};

enum class ImporterAction : std::uint32_t { import, copy, begin_copying, fill, compare, fork_and_exit };

struct ImporterCommand {
    ImporterAction action;
    Direction direction;
    std::uint32_t seed;
};

} // namespace

/// The importing process, from inside.
class Importing {
public:
    explicit Importing(const ImportRequest &request)
        : dev_(open_device(request.device)),
          memory_(request.options.size),
          own_(dev_, memory_)
    {
        const LogCapture log;
        reply_.status =
            doca_mmap_create_from_export(nullptr, request.descriptor, request.descriptor_size, dev_, imported_.out());
        log.text().copy(reply_.log, sizeof(reply_.log) - 1);
        if (reply_.status != DOCA_SUCCESS)
            return;
        for (std::uint32_t i = 0; i < request.options.num_queues; ++i)
            engines_.push_back(std::make_unique<DmaEngine>(dev_, 1));
    }

    [[nodiscard]] doca_error_t import(std::span<const std::byte> descriptor)
    {
        imported_.reset();
        return doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev_, imported_.out());
    }

    [[nodiscard]] const RemoteImporter::Reply &reply() const { return reply_; }

    [[nodiscard]] doca_error_t copy(Direction direction) const
    {
        void *addr = nullptr;
        std::size_t len = 0;
        must(doca_mmap_get_memrange(imported_, &addr, &len));
        doca_mmap *const from = direction == Direction::from_export ? imported_ : own_;
        doca_mmap *const to = direction == Direction::from_export ? own_ : imported_;
        const auto place = [&](doca_mmap *map) { return map == own_ ? memory_.data() : addr; };
        const BufHandle src = inventory_.full(from, place(from), memory_.size());
        const BufHandle dst = inventory_.empty(to, place(to), memory_.size());
        doca_error_t status = DOCA_SUCCESS;
        for (std::size_t i = 0; i < engines_.size() && status == DOCA_SUCCESS; ++i)
            status = engines_[i]->copy(dst, src);
        return status;
    }

    void fill(std::uint32_t seed) { doca_test::fill(memory_, seed); }
    [[nodiscard]] bool has(std::uint32_t seed) const { return is_filled(memory_, seed); }

    /// The status of a child that destroys its copies of everything, and ends as programs do.
    [[nodiscard]] int fork_and_exit()
    {
        const pid_t child = fork();
        if (child == 0) {
            engines_.clear();
            imported_.reset();
            std::exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        return status;
    }

private:
    DevHandle dev_;
    mutable std::vector<std::byte> memory_;
    LocalMap own_;
    MmapHandle imported_;
    Inventory inventory_{4};
    std::vector<std::unique_ptr<DmaEngine>> engines_;
    RemoteImporter::Reply reply_{};
};

namespace {

void run_importer(const ImportRequest &request, Channel &parent, const std::function<void()> &after_set_up)
{
    Importing importing(request);
    after_set_up();
    parent.send(importing.reply());
    for (;;) {
        const auto command = parent.receive<ImporterCommand>();
        switch (command.action) {
        case ImporterAction::import:
            parent.send(importing.import(parent.receive_bytes()));
            break;
        case ImporterAction::copy:
            parent.send(importing.copy(command.direction));
            break;
        case ImporterAction::begin_copying: {
            doca_error_t status = importing.copy(command.direction);
            parent.send(status);
            while (status == DOCA_SUCCESS)
                status = importing.copy(command.direction);
            parent.send(status);
            break;
        }
        case ImporterAction::fill:
            importing.fill(command.seed);
            parent.send(true);
            break;
        case ImporterAction::compare:
            parent.send(importing.has(command.seed));
            break;
        case ImporterAction::fork_and_exit:
            parent.send(importing.fork_and_exit());
            break;
        }
    }
}

void begin_importer(Channel &parent)
{
    const auto request = parent.receive<ImportRequest>();
    become(request.options.user, true);
    if (request.options.main_thread_ends) {
        go_on_without_main_thread(parent, [request](Channel &channel, const std::function<void()> &end_main) {
            run_importer(request, channel, end_main);
        });
    }
    run_importer(request, parent, [] {});
}

const ChildProgram importer_program("importer", begin_importer);

} // namespace

RemoteImporter::RemoteImporter(const DeviceParam &device, std::span<const std::byte> descriptor, const Options &options)
    : process_("importer")
{
    ImportRequest request{};
    device.ibdev.copy(request.device, sizeof(request.device) - 1);
    request.options = options;
    request.descriptor_size = descriptor.size();
    must_hold(descriptor.size() <= sizeof(request.descriptor), "the descriptor fits");
    std::memcpy(request.descriptor, descriptor.data(), descriptor.size());
    process_.channel().send(request);
    reply_ = process_.channel().receive<Reply>();
}

doca_error_t RemoteImporter::import(std::span<const std::byte> descriptor)
{
    process_.channel().send(ImporterCommand{ImporterAction::import, Direction::from_export, 0});
    process_.channel().send_bytes(descriptor);
    return process_.channel().receive<doca_error_t>();
}

doca_error_t RemoteImporter::copy(Direction direction)
{
    process_.channel().send(ImporterCommand{ImporterAction::copy, direction, 0});
    return process_.channel().receive<doca_error_t>();
}

void RemoteImporter::begin_copying(Direction direction)
{
    process_.channel().send(ImporterCommand{ImporterAction::begin_copying, direction, 0});
    must(process_.channel().receive<doca_error_t>());
}

void RemoteImporter::fill(std::uint32_t seed)
{
    process_.channel().send(ImporterCommand{ImporterAction::fill, Direction::from_export, seed});
    must_hold(process_.channel().receive<bool>(), "filled");
}

bool RemoteImporter::has(std::uint32_t seed)
{
    process_.channel().send(ImporterCommand{ImporterAction::compare, Direction::from_export, seed});
    return process_.channel().receive<bool>();
}

void RemoteImporter::fork_and_exit()
{
    process_.channel().send(ImporterCommand{ImporterAction::fork_and_exit, Direction::from_export, 0});
    EXPECT_EQ(process_.channel().receive<int>(), 0) << "status of the importer's forked child";
}

} // namespace doca_test
