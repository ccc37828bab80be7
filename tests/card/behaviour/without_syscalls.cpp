// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs a program without some system calls, as filters of containers do: they fail with EPERM.
//
//   without_syscalls [userfaultfd] [process_vm] -- COMMAND...
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    std::vector<unsigned> calls;
    int i = 1;
    for (; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
        if (std::strcmp(argv[i], "userfaultfd") == 0)
            calls.push_back(SYS_userfaultfd);
        else if (std::strcmp(argv[i], "process_vm") == 0)
            calls.insert(calls.end(), {SYS_process_vm_readv, SYS_process_vm_writev});
        else
            return 2;
    }
    if (i + 1 >= argc)
        return 2;
    std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const unsigned call : calls) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1)); // EPERM
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        std::perror("without_syscalls");
        return 2;
    }
    execvp(argv[i + 1], argv + i + 1);
    std::perror(argv[i + 1]);
    return 127;
}
