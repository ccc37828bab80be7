// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of matrices.
#include <optional>
#include <span>
#include <utility>

#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "ec.hpp"

OPENDOCA_LOG_SOURCE(DOCA_EC_MATRIX_API);

using opendoca::Matrix;
using opendoca::v3::call;

namespace {

/// Gives the program @p made, if it was made.
doca_error_t give(std::optional<Matrix> made, doca_ec_matrix *&matrix)
{
    if (!made)
        return DOCA_ERROR_INVALID_VALUE; // logged
    matrix = new doca_ec_matrix(std::move(*made));
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type, size_t data_block_count,
                                   size_t rdnc_block_count, struct doca_ec_matrix **matrix)
{
    return call({ec, matrix}, [&] {
        switch (type) {
        case DOCA_EC_MATRIX_TYPE_CAUCHY:
            return give(Matrix::cauchy(data_block_count, rdnc_block_count), *matrix);
        case DOCA_EC_MATRIX_TYPE_VANDERMONDE:
            return give(Matrix::vandermonde(data_block_count, rdnc_block_count), *matrix);
        }
        LOG_ERR("%d is none of the types of doca_ec_matrix_type", static_cast<int>(type));
        return DOCA_ERROR_INVALID_VALUE;
    });
}

doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data, size_t data_block_count,
                                            size_t rdnc_block_count, struct doca_ec_matrix **matrix)
{
    return call({ec, data, matrix},
                [&] { return give(Matrix::from_raw(data, data_block_count, rdnc_block_count), *matrix); });
}

doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
                                          uint32_t update_indices[], size_t n_updates, struct doca_ec_matrix **matrix)
{
    return call({ec, coding_matrix, update_indices, matrix},
                [&] { return give(coding_matrix->for_update(std::span(update_indices, n_updates)), *matrix); });
}

doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
                                           uint32_t missing_indices[], size_t n_missing, struct doca_ec_matrix **matrix)
{
    return call({ec, coding_matrix, missing_indices, matrix},
                [&] { return give(coding_matrix->for_recovery(std::span(missing_indices, n_missing)), *matrix); });
}

doca_error_t doca_ec_matrix_destroy(struct doca_ec_matrix *matrix)
{
    return call({matrix}, [&] {
        if (matrix->is_in_use()) {
            LOG_ERR("a task in flight uses matrix %p", static_cast<const void *>(matrix));
            return DOCA_ERROR_IN_USE;
        }
        delete matrix;
        return DOCA_SUCCESS;
    });
}
