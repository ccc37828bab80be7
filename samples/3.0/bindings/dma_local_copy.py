# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Copies text by a DMA task from one buffer of this process to another, by ctypes: the libraries are called without any C code.

    with_opendoca 3.0 python3 dma_local_copy.py [TEXT]

What a binding has to know beside the headers is in docs/bindings.md.
"""
import ctypes
import select
import sys
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

LOCAL_READ_WRITE = 1  # DOCA_ACCESS_FLAG_LOCAL_READ_WRITE
IDLE = 0  # DOCA_CTX_STATE_IDLE

POINTER = c_void_p  # to an object of DOCA, whose content is not public
RESULT = ctypes.POINTER(c_void_p)  # where a function stores such a pointer
DATA = c_uint64  # union doca_data: ctypes cannot pass a union, and an integer of its size is passed in the same way
CALLBACK = ctypes.CFUNCTYPE(None, POINTER, DATA, DATA)

# {library: {function: (result, parameters)}}. A doca_error_t is an int.
PROTOTYPES = {
    "libdoca_common.so.2": {
        "doca_devinfo_create_list": (c_int, [ctypes.POINTER(ctypes.POINTER(c_void_p)), ctypes.POINTER(c_uint32)]),
        "doca_devinfo_destroy_list": (c_int, [ctypes.POINTER(c_void_p)]),
        "doca_dev_open": (c_int, [POINTER, RESULT]),
        "doca_dev_close": (c_int, [POINTER]),
        "doca_mmap_create": (c_int, [RESULT]),
        "doca_mmap_set_permissions": (c_int, [POINTER, c_uint32]),
        "doca_mmap_add_dev": (c_int, [POINTER, POINTER]),
        "doca_mmap_set_memrange": (c_int, [POINTER, c_void_p, c_size_t]),
        "doca_mmap_start": (c_int, [POINTER]),
        "doca_mmap_destroy": (c_int, [POINTER]),
        "doca_buf_inventory_create": (c_int, [c_size_t, RESULT]),
        "doca_buf_inventory_start": (c_int, [POINTER]),
        "doca_buf_inventory_destroy": (c_int, [POINTER]),
        "doca_buf_inventory_buf_get_by_args": (c_int, [POINTER, POINTER, c_void_p, c_size_t, c_void_p, c_size_t, RESULT]),
        "doca_buf_dec_refcount": (c_int, [POINTER, ctypes.POINTER(c_uint16)]),
        "doca_pe_create": (c_int, [RESULT]),
        "doca_pe_destroy": (c_int, [POINTER]),
        "doca_pe_connect_ctx": (c_int, [POINTER, POINTER]),
        "doca_pe_progress": (c_uint8, [POINTER]),
        "doca_pe_get_notification_handle": (c_int, [POINTER, ctypes.POINTER(c_int)]),
        "doca_pe_request_notification": (c_int, [POINTER]),
        "doca_pe_clear_notification": (c_int, [POINTER, c_int]),
        "doca_ctx_start": (c_int, [POINTER]),
        "doca_ctx_stop": (c_int, [POINTER]),
        "doca_ctx_get_state": (c_int, [POINTER, ctypes.POINTER(c_int)]),
        "doca_task_submit": (c_int, [POINTER]),
        "doca_task_get_status": (c_int, [POINTER]),
        "doca_task_free": (None, [POINTER]),
        "doca_error_get_descr": (c_char_p, [c_int]),
    },
    "libdoca_dma.so.2": {
        "doca_dma_cap_task_memcpy_is_supported": (c_int, [POINTER]),
        "doca_dma_create": (c_int, [POINTER, RESULT]),
        "doca_dma_destroy": (c_int, [POINTER]),
        "doca_dma_as_ctx": (POINTER, [POINTER]),
        "doca_dma_task_memcpy_set_conf": (c_int, [POINTER, CALLBACK, CALLBACK, c_uint32]),
        "doca_dma_task_memcpy_alloc_init": (c_int, [POINTER, POINTER, POINTER, DATA, RESULT]),
        "doca_dma_task_memcpy_as_task": (POINTER, [POINTER]),
    },
}


class Doca:
    """The functions of PROTOTYPES as methods. Those that return a doca_error_t raise a RuntimeError unless it is DOCA_SUCCESS."""

    def __init__(self):
        for library, functions in PROTOTYPES.items():
            loaded = ctypes.CDLL(library)
            for name, (result, parameters) in functions.items():
                function = getattr(loaded, name)
                function.restype, function.argtypes = result, parameters
                setattr(self, name, function)
        for functions in PROTOTYPES.values():
            for name, (result, _) in functions.items():
                if result is c_int and not name.endswith(("_is_supported", "_get_status", "doca_ctx_stop")):
                    getattr(self, name).errcheck = self._check

    def _check(self, error, function, arguments):
        if error != 0:
            raise RuntimeError(f"{function.__name__}: {self.doca_error_get_descr(error).decode()}")
        return arguments

    def create(self, function, *arguments):
        """Calls a function whose last parameter is where it stores a pointer, and returns that pointer."""
        result = c_void_p()
        function(*arguments, byref(result))
        return result


def open_device(doca):
    """The first device that can copy."""
    devices, count = ctypes.POINTER(c_void_p)(), c_uint32()
    doca.doca_devinfo_create_list(byref(devices), byref(count))
    try:
        for number in range(count.value):
            if doca.doca_dma_cap_task_memcpy_is_supported(devices[number]) == 0:
                return doca.create(doca.doca_dev_open, devices[number])
    finally:
        doca.doca_devinfo_destroy_list(devices)
    raise RuntimeError("no device can copy memory")


def map_memory(doca, device, memory):
    mmap = doca.create(doca.doca_mmap_create)
    doca.doca_mmap_set_permissions(mmap, LOCAL_READ_WRITE)
    doca.doca_mmap_add_dev(mmap, device)
    doca.doca_mmap_set_memrange(mmap, ctypes.addressof(memory), ctypes.sizeof(memory))
    doca.doca_mmap_start(mmap)
    return mmap


def progress(doca, engine):
    """Handles what has completed; without anything, blocks until the engine's descriptor is readable."""
    if doca.doca_pe_progress(engine):
        return
    handle = c_int()
    doca.doca_pe_get_notification_handle(engine, byref(handle))
    doca.doca_pe_request_notification(engine)
    select.select([handle.value], [], [])
    doca.doca_pe_clear_notification(engine, handle.value)


def copy(text):
    """Returns the text after its way through a DMA task."""
    doca = Doca()
    source = ctypes.create_string_buffer(text)
    destination = ctypes.create_string_buffer(ctypes.sizeof(source))
    statuses = []

    def completed(task, _task_user_data, _ctx_user_data):
        task = doca.doca_dma_task_memcpy_as_task(task)
        statuses.append(doca.doca_task_get_status(task))
        doca.doca_task_free(task)

    callback = CALLBACK(completed)  # must exist for as long as the library may call it
    device = open_device(doca)
    engine = doca.create(doca.doca_pe_create)
    dma = doca.create(doca.doca_dma_create, device)
    context = doca.doca_dma_as_ctx(dma)
    doca.doca_dma_task_memcpy_set_conf(dma, callback, callback, 1)
    doca.doca_pe_connect_ctx(engine, context)
    doca.doca_ctx_start(context)
    inventory = doca.create(doca.doca_buf_inventory_create, 2)
    doca.doca_buf_inventory_start(inventory)
    mmaps, buffers = [], []
    for memory, length in (source, ctypes.sizeof(source)), (destination, 0):
        mmaps.append(map_memory(doca, device, memory))
        address = ctypes.addressof(memory)
        buffers.append(doca.create(doca.doca_buf_inventory_buf_get_by_args, inventory, mmaps[-1], address, ctypes.sizeof(memory),
                                   address, length))

    task = doca.create(doca.doca_dma_task_memcpy_alloc_init, dma, *buffers, 0)
    doca.doca_task_submit(doca.doca_dma_task_memcpy_as_task(task))
    while not statuses:
        progress(doca, engine)

    for buffer in buffers:
        doca.doca_buf_dec_refcount(buffer, None)
    state = c_int(-1)
    doca.doca_ctx_stop(context)  # DOCA_ERROR_IN_PROGRESS is no failure
    while state.value != IDLE:
        doca.doca_pe_progress(engine)
        doca.doca_ctx_get_state(context, byref(state))
    for mmap in mmaps:
        doca.doca_mmap_destroy(mmap)
    doca.doca_buf_inventory_destroy(inventory)
    doca.doca_dma_destroy(dma)
    doca.doca_pe_destroy(engine)
    doca.doca_dev_close(device)
    if statuses != [0]:
        raise RuntimeError(f"the task has failed: {doca.doca_error_get_descr(statuses[0]).decode()}")
    return destination.value


if __name__ == "__main__":
    print("copied:", copy(" ".join(sys.argv[1:]).encode() or b"a text that was copied by Python").decode())
