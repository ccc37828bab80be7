// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Replacements of the functions of libc for the current folder: a program that changes to a folder of sysfs, as shell
// scripts do, is in that of the card, and sees its name below /sys. Relative names need nothing more.
#include <cstdlib>

#include <unistd.h>

#include "names.hpp"
#include "next.hpp"

using namespace opendoca::card;

#pragma GCC visibility push(default)
extern "C" {

int chdir(const char *path) noexcept
{
    return next<decltype(chdir), 40>("chdir")(SysfsPath(path).get());
}

char *getcwd(char *buffer, size_t size) noexcept
{
    char *const result = next<decltype(getcwd), 41>("getcwd")(buffer, size);
    if (result != nullptr)
        restore_sysfs_name(result);
    return result;
}

// Called by programs that were compiled with _FORTIFY_SOURCE; aborts as libc's does if the buffer is smaller than
// stated.
char *__getcwd_chk(char *buffer, size_t size, size_t size_of_buffer) noexcept
{
    if (size > size_of_buffer)
        std::abort();
    return getcwd(buffer, size);
}

char *get_current_dir_name() noexcept
{
    char *const result = next<decltype(get_current_dir_name), 42>("get_current_dir_name")();
    if (result != nullptr)
        restore_sysfs_name(result);
    return result;
}

} // extern "C"
#pragma GCC visibility pop
