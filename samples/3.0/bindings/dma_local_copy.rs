// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

//! Copies text by a DMA task from one buffer of this process to another. bindgen declares the functions, from
//! dma_local_copy.h; docs/bindings.md has the commands.
//!
//!     dma_local_copy [TEXT...]

use std::cell::Cell;
use std::ffi::{c_void, CStr};
use std::ptr;

#[allow(dead_code, non_camel_case_types, non_snake_case, non_upper_case_globals)]
mod doca {
    include!(concat!(env!("OUT_DIR"), "/doca.rs"));
}

/// Returns the description of an error.
fn text_of(error: doca::doca_error_t) -> String {
    // The text is the library's, and is never freed.
    let text = unsafe { CStr::from_ptr(doca::doca_error_get_descr(error)) };
    text.to_string_lossy().into_owned()
}

fn check(function: &str, error: doca::doca_error_t) -> Result<(), String> {
    match error {
        doca::DOCA_SUCCESS => Ok(()),
        _ => Err(format!("{}: {}", function, text_of(error))),
    }
}

/// Calls a function that returns a doca_error_t.
macro_rules! call {
    ($function:ident($($argument:expr),*)) => {
        check(stringify!($function), unsafe { doca::$function($($argument),*) })
    };
}

/// Calls a function whose last parameter is where it stores a pointer, and returns that pointer.
macro_rules! create {
    ($function:ident($($argument:expr),*)) => {{
        let mut object = ptr::null_mut();
        call!($function($($argument,)* &mut object)).map(|()| object)
    }};
}

/// Returns the first device that can copy.
fn open_device() -> Result<*mut doca::doca_dev, String> {
    let mut count = 0;
    let mut list = ptr::null_mut();
    call!(doca_devinfo_create_list(&mut list, &mut count))?;
    let mut device = Err("no device can copy memory".to_string());
    for number in 0..count as usize {
        let info = unsafe { *list.add(number) };
        if call!(doca_dma_cap_task_memcpy_is_supported(info)).is_ok() {
            device = create!(doca_dev_open(info));
            break;
        }
    }
    call!(doca_devinfo_destroy_list(list))?;
    device
}

fn map_memory(device: *mut doca::doca_dev, memory: &mut [u8]) -> Result<*mut doca::doca_mmap, String> {
    let mmap = create!(doca_mmap_create())?;
    call!(doca_mmap_set_permissions(mmap, doca::DOCA_ACCESS_FLAG_LOCAL_READ_WRITE))?;
    call!(doca_mmap_add_dev(mmap, device))?;
    call!(doca_mmap_set_memrange(mmap, memory.as_mut_ptr() as *mut c_void, memory.len() as _))?;
    call!(doca_mmap_start(mmap))?;
    Ok(mmap)
}

/// Stores the status of a task in the Cell that its user data points to. Called by doca_pe_progress(); no panic may leave it.
unsafe extern "C" fn completed(
    task: *mut doca::doca_dma_task_memcpy,
    task_user_data: doca::doca_data,
    _ctx_user_data: doca::doca_data,
) {
    let status = &*(task_user_data.ptr as *const Cell<Option<doca::doca_error_t>>);
    let task = doca::doca_dma_task_memcpy_as_task(task);
    status.set(Some(doca::doca_task_get_status(task)));
    doca::doca_task_free(task);
}

/// Returns the text after its way through a DMA task.
fn copy(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut source = text.to_vec();
    let mut destination = vec![0; source.len()];
    let size = source.len() as _;
    let status = Cell::new(None);

    let device = open_device()?;
    let engine = create!(doca_pe_create())?;
    let dma = create!(doca_dma_create(device))?;
    let context = unsafe { doca::doca_dma_as_ctx(dma) };
    call!(doca_dma_task_memcpy_set_conf(dma, Some(completed), Some(completed), 1))?;
    call!(doca_pe_connect_ctx(engine, context))?;
    call!(doca_ctx_start(context))?;
    // The memory may not move before the maps are destroyed: a Vec that does not grow stays where it is.
    let maps = [map_memory(device, &mut source)?, map_memory(device, &mut destination)?];
    let inventory = create!(doca_buf_inventory_create(2))?;
    call!(doca_buf_inventory_start(inventory))?;
    let from = source.as_mut_ptr() as *mut c_void;
    let to = destination.as_mut_ptr() as *mut c_void;
    let full = create!(doca_buf_inventory_buf_get_by_args(inventory, maps[0], from, size, from, size))?;
    let empty = create!(doca_buf_inventory_buf_get_by_args(inventory, maps[1], to, size, to, 0))?;

    let user_data = doca::doca_data { ptr: &status as *const _ as *mut c_void };
    let task = create!(doca_dma_task_memcpy_alloc_init(dma, full, empty, user_data))?;
    call!(doca_task_submit(doca::doca_dma_task_memcpy_as_task(task)))?;
    while status.get().is_none() {
        if unsafe { doca::doca_pe_progress(engine) } == 0 {
            std::thread::yield_now();
        }
    }

    call!(doca_buf_dec_refcount(full, ptr::null_mut()))?;
    call!(doca_buf_dec_refcount(empty, ptr::null_mut()))?;
    call!(doca_ctx_stop(context))?; // no task is left, so it has stopped
    for map in maps {
        call!(doca_mmap_destroy(map))?;
    }
    call!(doca_buf_inventory_destroy(inventory))?;
    call!(doca_dma_destroy(dma))?;
    call!(doca_pe_destroy(engine))?;
    call!(doca_dev_close(device))?;
    match status.get() {
        Some(doca::DOCA_SUCCESS) => Ok(destination),
        other => Err(format!("the task has failed: {}", other.map_or_else(String::new, text_of))),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let text = if words.is_empty() { "a text that was copied by Rust".to_string() } else { words.join(" ") };
    match copy(text.as_bytes()) {
        Ok(copied) => println!("copied: {}", String::from_utf8_lossy(&copied)),
        Err(problem) => {
            eprintln!("{}", problem);
            std::process::exit(1);
        }
    }
}
