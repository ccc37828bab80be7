// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA by tasks of DOCA 3.0: what sha_session.hpp leaves to the generation.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "../sha_session.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

namespace {

/// A running SHA context on a progress engine of its own. Owned and used by the benchmark's only thread.
class ShaTasks final : public ShaSession {
public:
    ShaTasks(const std::string &ibdev, std::size_t largest);
    ~ShaTasks() override;

    [[nodiscard]] std::unique_ptr<ShaLoop> make_loop(const ShaAlgorithm &algorithm, std::size_t size) override;

    [[nodiscard]] doca_sha *sha() const noexcept { return sha_.get(); }
    [[nodiscard]] TaskEngine &engine() noexcept { return engine_; }

private:
    TaskEngine engine_;
    Handle<doca_sha, doca_sha_destroy> sha_; // destroyed before the engine on which it runs
};

/// The measured loop of tasks, one in flight. Refers to the session.
class ShaTaskLoop final : public ShaLoop {
public:
    ShaTaskLoop(ShaTasks &session, const ShaAlgorithm &algorithm, std::size_t size)
        : engine_(session.engine()),
          bufs_(session, size, algorithm.digest_size)
    {
        doca_sha_task_hash *task = nullptr;
        must(doca_sha_task_hash_alloc_init(session.sha(), algorithm.id, bufs_.message(), bufs_.room(), doca_data{},
                                           &task),
             "allocating a task");
        task_ = doca_sha_task_hash_as_task(task);
    }
    ~ShaTaskLoop() override { doca_task_free(task_); }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            must(doca_buf_reset_data_len(bufs_.room()), "resetting the destination");
            must(doca_task_submit(task_), "submitting a task");
            (void)engine_.retrieve([] {});
        }
    }

    [[nodiscard]] std::vector<std::byte> digest() const override { return bufs_.digest(); }

private:
    TaskEngine &engine_;
    ShaBufs bufs_;
    doca_task *task_ = nullptr;
};

/// Callbacks of tasks, which record the completion in the engine.
void hashed(doca_sha_task_hash *, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::ended(task_data, ctx_data);
}

void hash_failed(doca_sha_task_hash *task, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::failed(doca_sha_task_hash_as_task(task), task_data, ctx_data);
}

ShaTasks::ShaTasks(const std::string &ibdev, std::size_t largest) : ShaSession(ibdev, largest)
{
    doca_sha *sha = nullptr;
    must(doca_sha_create(dev(), &sha), "creating a SHA object");
    sha_.reset(sha);
    must(doca_sha_task_hash_set_conf(sha, hashed, hash_failed, 0), "configuring SHA"); // log2 of one task
    engine_.start(doca_sha_as_ctx(sha), 1);
}

ShaTasks::~ShaTasks()
{
    std::vector<doca_task *> none; // loops have freed their tasks already
    engine_.stop(none);
}

std::unique_ptr<ShaLoop> ShaTasks::make_loop(const ShaAlgorithm &algorithm, std::size_t size)
{
    return std::make_unique<ShaTaskLoop>(*this, algorithm, size);
}

} // namespace

std::unique_ptr<ShaSession> make_sha_session(const std::string &ibdev, std::size_t largest)
{
    return std::make_unique<ShaTasks>(ibdev, largest);
}

} // namespace opendoca::tools
