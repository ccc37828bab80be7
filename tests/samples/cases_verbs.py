# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""On RDMA devices: what does not depend on software devices, and what these devices cannot do."""

from cases_files import TEXT
from cases_graph import test_graph  # noqa: F401 (a test to be run, as are those below)
from cases_rdma import (  # noqa: F401
    test_rdma_damaged_descriptor_of_memory,
    test_rdma_damaged_files,
    test_rdma_mixed_pairs_are_refused,
    test_rdma_read,
    test_rdma_receiver_whose_sender_dies,
    test_rdma_requester_without_a_responder,
    test_rdma_send,
    test_rdma_send_immediate,
    test_rdma_send_waits_for_the_receive,
    test_rdma_write,
    test_rdma_write_immediate,
)
from cases_sha import test_sha, test_sha_of_a_text, test_sha_pieces  # noqa: F401
from cases_unsupported import (  # noqa: F401
    test_a_device_has_a_name_where_it_has_no_address,
    test_samples_tell_what_an_rdma_device_cannot_do,
)


def test_local_copy(bench):
    program = bench.start("dma_local_copy", "-p", bench.devices[0], "-t", TEXT, side="dpu")
    program.succeeds(f"Copied {len(TEXT.encode()) + 1} bytes", "the two buffers are equal")
    program.wait_for(f"Destination buffer, at 0x[0-9a-f]+: {TEXT}$")
