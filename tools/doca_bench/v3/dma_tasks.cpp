// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DMA by tasks of DOCA 3.0: what dma_session.hpp leaves to the generation.
#include "dma_tasks.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace opendoca::tools {

namespace {

/// The measured loop of tasks. Owned by a lane and used by its thread. Buffers and tasks are allocated once, one for
/// each task in flight; a batch submits all of them and retrieves all of them.
class TaskLoop final : public Variant {
public:
    TaskLoop(DmaTasks &session, JobSide dst, JobSide src, Walk walk, std::uint32_t depth, bool resets);
    ~TaskLoop() override;

    void run(std::size_t count) override;

private:
    /// A task and its buffers.
    struct Entry {
        doca_buf *dst;
        doca_buf *src;
        doca_task *task;
    };

    /// Runs batches of tasks, with @p prepare called before each submission.
    template <typename Prepare>
    void run_batches(std::size_t count, Prepare prepare);

    TaskEngine &engine_;
    std::byte *dst_;
    std::byte *src_;
    Walk walk_;
    const bool resets_;
    std::vector<Entry> entries_; ///< one for each task in flight
};

TaskLoop::TaskLoop(DmaTasks &session, JobSide dst, JobSide src, Walk walk, std::uint32_t depth, bool resets)
    : engine_(session.engine()),
      dst_(dst.addr),
      src_(src.addr),
      walk_(walk),
      resets_(resets)
{
    const std::size_t region = walk.size() * walk.slots();
    for (std::uint32_t i = 0; i < depth; ++i) {
        Entry &entry = entries_.emplace_back(
            Entry{session.take_buf(dst.map, dst.addr, region), session.take_buf(src.map, src.addr, region), nullptr});
        must(doca_buf_set_data(entry.src, src.addr, walk.size()), "setting the source's data");
        doca_dma_task_memcpy *task = nullptr;
        must(doca_dma_task_memcpy_alloc_init(session.dma(), entry.src, entry.dst, doca_data{.u64 = i}, &task),
             "allocating a task");
        entry.task = doca_dma_task_memcpy_as_task(task);
    }
}

TaskLoop::~TaskLoop()
{
    for (const Entry &entry : entries_) {
        if (entry.task != nullptr)
            doca_task_free(entry.task);
        (void)api::drop_buf(entry.dst, nullptr);
        (void)api::drop_buf(entry.src, nullptr);
    }
}

template <typename Prepare>
void TaskLoop::run_batches(std::size_t count, Prepare prepare)
{
    try {
        for (std::size_t done = 0; done != count; done += entries_.size()) {
            for (const Entry &entry : entries_) {
                prepare(entry);
                must(doca_task_submit(entry.task), "submitting a task");
            }
            for (std::size_t left = entries_.size(); left != 0; --left)
                (void)engine_.retrieve([] {});
        }
        // The next loop on this engine must not receive these completions.
    } catch (...) {
        engine_.drain();
        throw;
    }
}

void TaskLoop::run(std::size_t count)
{
    if (walk_.slots() != 1)
        run_batches(count, [this](const Entry &entry) {
            const std::size_t offset = walk_.next();
            must(doca_buf_set_data(entry.src, src_ + offset, walk_.size()), "setting the source's data");
            must(doca_buf_set_data(entry.dst, dst_ + offset, 0), "setting the destination's data");
        });
    else if (resets_)
        run_batches(count,
                    [](const Entry &entry) { must(doca_buf_reset_data_len(entry.dst), "resetting the destination"); });
    else
        run_batches(count, [](const Entry &) {});
}

/// Callbacks of tasks, which record the completion in the engine.
void copied(doca_dma_task_memcpy *, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::ended(task_data, ctx_data);
}

void copy_failed(doca_dma_task_memcpy *task, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::failed(doca_dma_task_memcpy_as_task(task), task_data, ctx_data);
}

} // namespace

DmaTasks::DmaTasks(const std::string &ibdev, std::uint32_t depth) : DmaSession(ibdev)
{
    doca_dma *dma = nullptr;
    must(doca_dma_create(dev(), &dma), "creating a DMA object");
    dma_.reset(dma);
    must(doca_dma_task_memcpy_set_conf(dma, copied, copy_failed, depth), "configuring DMA");
    engine_.start(doca_dma_as_ctx(dma), depth);
}

DmaTasks::~DmaTasks()
{
    std::vector<doca_task *> none; // loops have freed their tasks already
    engine_.stop(none);
}

std::unique_ptr<Variant> DmaTasks::make_loop(JobSide dst, JobSide src, Walk walk, std::uint32_t depth, bool resets)
{
    return std::make_unique<TaskLoop>(*this, dst, src, walk, depth, resets);
}

std::unique_ptr<GraphRunner> DmaTasks::make_graph(const GraphShape &shape)
{
    return make_task_graph(shape, *this);
}

std::unique_ptr<DmaSession> make_dma_session(const std::string &ibdev, std::uint32_t depth)
{
    return std::make_unique<DmaTasks>(ibdev, depth);
}

} // namespace opendoca::tools
