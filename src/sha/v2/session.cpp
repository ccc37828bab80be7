// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sessions: messages that are hashed in pieces by several jobs.
#include "session.hpp"

#include "../../core/log/log.hpp"
#include "../../core/v2/call.hpp"
#include "../../core/v2/workq.hpp"
#include "sha.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SHA_SESSION);

using opendoca::v2::call;

/// Checks that the session belongs to the context and work queue, and that all its jobs were retrieved.
static doca_error_t check_idle(const doca_sha *sha, const doca_workq *workq,
                               const doca_sha_partial_session &session) noexcept
{
    if (!session.belongs_to(sha, workq)) {
        LOG_ERR("session %p was made for another SHA context or work queue", static_cast<const void *>(&session));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (session.is_busy) {
        LOG_ERR("session %p has a job that was not retrieved yet", static_cast<const void *>(&session));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_sha_partial_session_create(struct doca_sha *ctx, struct doca_workq *workq,
                                             struct doca_sha_partial_session **session)
{
    return call({ctx, workq, session}, [&] {
        // The session is used by the thread of this work queue from now on.
        if (workq->queue_of(*ctx) == nullptr) {
            LOG_ERR("the work queue of a session must be on the SHA context");
            return DOCA_ERROR_INVALID_VALUE;
        }
        *session = new doca_sha_partial_session(*ctx, *workq);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_sha_partial_session_destroy(struct doca_sha *ctx, struct doca_workq *workq,
                                              struct doca_sha_partial_session *session)
{
    return call({ctx, workq, session}, [&] {
        const doca_error_t status = check_idle(ctx, workq, *session);
        if (status == DOCA_SUCCESS)
            delete session;
        return status;
    });
}

doca_error_t doca_sha_partial_session_copy(struct doca_sha *ctx, struct doca_workq *workq,
                                           const struct doca_sha_partial_session *from_session,
                                           struct doca_sha_partial_session *to_session)
{
    return call({ctx, workq, from_session, to_session}, [&] {
        for (const doca_sha_partial_session *session :
             {from_session, static_cast<const doca_sha_partial_session *>(to_session)}) {
            if (const doca_error_t status = check_idle(ctx, workq, *session); status != DOCA_SUCCESS)
                return status;
        }
        to_session->copy_from(*from_session);
        return DOCA_SUCCESS;
    });
}
