// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The device's side of the benchmark of erasure coding. The code that computes on the device is in v2/ (jobs on a work
// queue) and v3/ (tasks on a progress engine).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../../src/erasure_coding/matrix.hpp"
#include "doca_memory.hpp"
#include "measure.hpp"

namespace opendoca::tools {

/// The matrix and the blocks of one row, for both sides.
struct EcCase {
    Matrix matrix; ///< the arithmetic is that of the library, so both sides have the same tables
    std::span<std::byte> source;
    std::span<std::byte> device_result;
    std::span<std::byte> bare_result;
    std::size_t size; ///< bytes of a block
};

/// A device that supports erasure coding, mapped memory, and a running context. Owned by the benchmark and used by its
/// only thread. The derived class adds the generation's context and queue. Loops refer to the session and must be
/// destroyed before it.
class EcSession {
public:
    EcSession(const EcSession &) = delete;
    EcSession &operator=(const EcSession &) = delete;
    virtual ~EcSession();

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    [[nodiscard]] EcCase make_case(Matrix matrix, std::size_t size);
    /// Returns a loop that multiplies the source's blocks by the matrix on the device. One loop at a time.
    [[nodiscard]] virtual std::unique_ptr<Variant> make_loop(const EcCase &row) = 0;

protected:
    /// @p ibdev names the device; if empty, the first suitable one is used. The sizes are those of the largest row.
    EcSession(const std::string &ibdev, std::size_t source_size, std::size_t result_size);

    [[nodiscard]] doca_dev *dev() const noexcept { return dev_.get(); }
    friend class EcBufs; // takes buffers from the session's maps

private:
    std::string ibdev_;
    std::vector<std::byte> source_, device_result_, bare_result_;
    DeviceHandle dev_;
    MmapHandle source_map_, result_map_;
    InventoryHandle inventory_;
};

/// Creates a session of the generation that this program was built for.
[[nodiscard]] std::unique_ptr<EcSession> make_ec_session(const std::string &ibdev, std::size_t source_size,
                                                         std::size_t result_size);

/// Returns whether the device supports erasure coding.
[[nodiscard]] bool can_code(doca_devinfo &info);

/// Returns the coefficients of a matrix in the order in which the API takes them: those of the first input first.
[[nodiscard]] std::vector<std::uint8_t> raw_coefficients(const Matrix &matrix);

/// The two buffers of a loop: the source, full, and a destination, which loops reset before each job. Owned by a loop;
/// the destructor returns them to the session's inventory.
class EcBufs {
public:
    EcBufs(const EcSession &session, const EcCase &row);
    EcBufs(const EcBufs &) = delete;
    EcBufs &operator=(const EcBufs &) = delete;
    ~EcBufs();

    [[nodiscard]] doca_buf *source() const noexcept { return source_; }
    [[nodiscard]] doca_buf *destination() const noexcept { return destination_; }

private:
    doca_buf *source_ = nullptr;
    doca_buf *destination_ = nullptr;
};

} // namespace opendoca::tools
