// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ec_session.hpp"

#include <stdexcept>
#include <utility>

namespace opendoca::tools {

namespace {

doca_devinfo &choose_coding_device(const DeviceList &devices, const std::string &ibdev)
{
    std::string known;
    for (doca_devinfo *const info : devices.infos()) {
        if (!can_code(*info))
            continue;
        if (ibdev.empty() || ibdev_of(*info) == ibdev)
            return *info;
        known += ' ' + ibdev_of(*info);
    }
    throw std::runtime_error(known.empty()
                                 ? "no device here can do erasure coding"
                                 : "no device '" + ibdev + "' can do erasure coding here; these can:" + known);
}

} // namespace

EcSession::EcSession(const std::string &ibdev, std::size_t source_size, std::size_t result_size)
    : source_(source_size),
      device_result_(result_size),
      bare_result_(result_size)
{
    for (std::size_t i = 0; i != source_size; ++i)
        source_[i] = static_cast<std::byte>((i * 131 + (i >> 8) * 29) & 0xff);
    {
        const DeviceList devices;
        doca_devinfo &info = choose_coding_device(devices, ibdev);
        ibdev_ = ibdev_of(info);
        dev_ = open_device(info);
    }
    source_map_ = start_map(dev_.get(), source_, api::local_rights);
    result_map_ = start_map(dev_.get(), device_result_, api::local_rights);
    inventory_ = start_inventory(2);
}

EcSession::~EcSession() = default;

EcCase EcSession::make_case(Matrix matrix, std::size_t size)
{
    const std::size_t source_size = matrix.num_inputs() * size, result_size = matrix.num_outputs() * size;
    return {std::move(matrix), std::span(source_).first(source_size), std::span(device_result_).first(result_size),
            std::span(bare_result_).first(result_size), size};
}

std::vector<std::uint8_t> raw_coefficients(const Matrix &matrix)
{
    const std::size_t k = matrix.num_inputs(), m = matrix.num_outputs();
    std::vector<std::uint8_t> raw(k * m);
    for (std::size_t j = 0; j != m; ++j) {
        for (std::size_t i = 0; i != k; ++i)
            raw[i * m + j] = matrix.row(j)[i];
    }
    return raw;
}

EcBufs::EcBufs(const EcSession &session, const EcCase &row)
{
    must(api::take_buf(session.inventory_.get(), session.source_map_.get(), row.source.data(), row.source.size(),
                       row.source.size(), &source_),
         "taking a buffer");
    must(api::take_buf(session.inventory_.get(), session.result_map_.get(), row.device_result.data(),
                       row.device_result.size(), 0, &destination_),
         "taking a buffer");
}

EcBufs::~EcBufs()
{
    (void)api::drop_buf(source_, nullptr);
    (void)api::drop_buf(destination_, nullptr);
}

} // namespace opendoca::tools
