// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of matrices.
#include <optional>
#include <span>
#include <utility>

#include "../../core/log/log.hpp"
#include "../../core/v2/call.hpp"
#include "ec.hpp"

OPENDOCA_LOG_SOURCE(DOCA_EC_MATRIX_API);

using opendoca::Matrix;
using opendoca::v2::call;

namespace {

/// Gives the program @p made, if it was made.
doca_error_t give(std::optional<Matrix> made, doca_matrix *&matrix)
{
    if (!made)
        return DOCA_ERROR_INVALID_VALUE; // logged
    matrix = new doca_matrix(std::move(*made));
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t doca_ec_matrix_create(struct doca_ec *ctx, enum doca_ec_matrix_types type, size_t data_block_count,
                                   size_t rdnc_block_count, struct doca_matrix **matrix)
{
    return call({ctx, matrix}, [&] {
        switch (type) {
        case DOCA_CODING_MATRIX_CAUCHY:
            return give(Matrix::cauchy(data_block_count, rdnc_block_count), *matrix);
        case DOCA_CODING_MATRIX_VANDERMONDE:
            return give(Matrix::powers_of_two(data_block_count, rdnc_block_count), *matrix);
        }
        LOG_ERR("%d is none of the types of doca_ec_matrix_types", static_cast<int>(type));
        return DOCA_ERROR_INVALID_VALUE;
    });
}

doca_error_t doca_ec_matrix_from_raw(struct doca_ec *ctx, uint8_t *data, size_t data_block_count,
                                     size_t rdnc_block_count, struct doca_matrix **matrix)
{
    return call({ctx, data, matrix},
                [&] { return give(Matrix::from_raw(data, data_block_count, rdnc_block_count), *matrix); });
}

doca_error_t doca_ec_update_matrix_create(const struct doca_matrix *coding_matrix, struct doca_ec *ctx,
                                          uint32_t update_indices[], size_t n_updates, struct doca_matrix **matrix)
{
    return call({coding_matrix, ctx, update_indices, matrix},
                [&] { return give(coding_matrix->for_update(std::span(update_indices, n_updates)), *matrix); });
}

doca_error_t doca_ec_recover_matrix_create(const struct doca_matrix *coding_matrix, struct doca_ec *ctx,
                                           uint32_t missing_indices[], size_t n_missing, struct doca_matrix **matrix)
{
    return call({coding_matrix, ctx, missing_indices, matrix},
                [&] { return give(coding_matrix->for_recovery(std::span(missing_indices, n_missing)), *matrix); });
}

doca_error_t doca_ec_matrix_destroy(struct doca_matrix *matrix)
{
    return call({matrix}, [&] {
        if (matrix->is_in_use()) {
            LOG_ERR("a job in flight uses matrix %p", static_cast<const void *>(matrix));
            return DOCA_ERROR_IN_USE;
        }
        delete matrix;
        return DOCA_SUCCESS;
    });
}
