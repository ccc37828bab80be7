// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/comch.h
 * What doca_comch.h has more at a level up to 20800. Included by it, inside of extern "C". Inferred: the names that
 * 2.6 has with doca_cc, carried over.
 */
#ifndef OPENDOCA_OLDER_COMCH_H_
#define OPENDOCA_OLDER_COMCH_H_

/** As doca_comch_server_event_connection_status_changed_register(). */
DOCA_EXPERIMENTAL doca_error_t doca_comch_server_event_connection_register(
    struct doca_comch_server *comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb,
    doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
    OPENDOCA_BOUND_TO(doca_comch_server_event_connection_status_changed_register);

/** As doca_comch_server_get_device_rep(). */
DOCA_EXPERIMENTAL doca_error_t doca_comch_server_get_device_repr(const struct doca_comch_server *comch_server,
                                                                 struct doca_dev_rep **repr)
    OPENDOCA_BOUND_TO(doca_comch_server_get_device_rep);

#endif /* OPENDOCA_OLDER_COMCH_H_ */
