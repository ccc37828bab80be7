// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding by tasks of DOCA 3.0: what ec_session.hpp leaves to the generation.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doca_erasure_coding.h>

#include "../ec_session.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

namespace {

/// A running context and its engine. Owned and used by the benchmark's only thread.
class EcTasks final : public EcSession {
public:
    EcTasks(const std::string &ibdev, std::size_t source_size, std::size_t result_size)
        : EcSession(ibdev, source_size, result_size)
    {
        doca_ec *ec = nullptr;
        must(doca_ec_create(dev(), &ec), "creating an erasure coding object");
        ec_.reset(ec);
        must(doca_ec_task_galois_mul_set_conf(ec, multiplied, not_multiplied, 1), "configuring erasure coding");
        engine_.start(doca_ec_as_ctx(ec), 1);
    }
    ~EcTasks() override
    {
        std::vector<doca_task *> none; // loops have freed their tasks already
        engine_.stop(none);
    }

    [[nodiscard]] std::unique_ptr<Variant> make_loop(const EcCase &row) override;

    [[nodiscard]] doca_ec *ec() const noexcept { return ec_.get(); }
    [[nodiscard]] TaskEngine &engine() noexcept { return engine_; }

private:
    static void multiplied(doca_ec_task_galois_mul *, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::ended(task_data, ctx_data);
    }
    static void not_multiplied(doca_ec_task_galois_mul *task, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::failed(doca_ec_task_galois_mul_as_task(task), task_data, ctx_data);
    }

    TaskEngine engine_;
    Handle<doca_ec, doca_ec_destroy> ec_; // destroyed before its engine
};

/// A task that is submitted again and again. Refers to the session.
class EcTaskLoop final : public Variant {
public:
    EcTaskLoop(EcTasks &session, const EcCase &row) : engine_(session.engine()), bufs_(session, row)
    {
        std::vector<std::uint8_t> raw = raw_coefficients(row.matrix);
        doca_ec_matrix *matrix = nullptr;
        must(doca_ec_matrix_create_from_raw(session.ec(), raw.data(), row.matrix.num_inputs(), row.matrix.num_outputs(),
                                            &matrix),
             "creating a matrix");
        matrix_.reset(matrix);
        doca_ec_task_galois_mul *task = nullptr;
        must(doca_ec_task_galois_mul_allocate_init(session.ec(), matrix, bufs_.source(), bufs_.destination(),
                                                   doca_data{}, &task),
             "allocating a task");
        task_ = doca_ec_task_galois_mul_as_task(task);
    }
    ~EcTaskLoop() override { doca_task_free(task_); }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            must(doca_buf_reset_data_len(bufs_.destination()), "resetting the destination");
            must(doca_task_submit(task_), "submitting a task");
            (void)engine_.retrieve([] {});
        }
    }

private:
    TaskEngine &engine_;
    EcBufs bufs_;
    Handle<doca_ec_matrix, doca_ec_matrix_destroy> matrix_;
    doca_task *task_ = nullptr;
};

std::unique_ptr<Variant> EcTasks::make_loop(const EcCase &row)
{
    return std::make_unique<EcTaskLoop>(*this, row);
}

} // namespace

std::unique_ptr<EcSession> make_ec_session(const std::string &ibdev, std::size_t source_size, std::size_t result_size)
{
    return std::make_unique<EcTasks>(ibdev, source_size, result_size);
}

bool can_code(doca_devinfo &info)
{
    return doca_ec_cap_task_galois_mul_is_supported(&info) == DOCA_SUCCESS;
}

} // namespace opendoca::tools
