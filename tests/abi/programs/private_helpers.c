/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The opendoca authors */
/* A program that imports the private helpers of the original, as binaries do that were linked with it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern size_t priv_doca_strlcpy(char *to, const char *from, size_t size);
extern void *priv_doca_zalloc(size_t size);

static int failures;

static void check(int holds, const char *what)
{
    if (!holds)
        printf("%s\n", what);
    failures += !holds;
}

int main(void)
{
    char text[8];
    unsigned char *memory = priv_doca_zalloc(4096);

    memset(text, 'x', sizeof(text));
    check(priv_doca_strlcpy(text, "DOCA", sizeof(text)) == 4 && memcmp(text, "DOCA\0xxx", 8) == 0, "a text that fits");
    check(priv_doca_strlcpy(text, "1234567", sizeof(text)) == 7 && strcmp(text, "1234567") == 0, "one that just fits");
    check(priv_doca_strlcpy(text, "12345678", sizeof(text)) == 8 && strcmp(text, "1234567") == 0, "one that is cut");
    memset(text, 'x', sizeof(text));
    check(priv_doca_strlcpy(text, "DOCA", 1) == 4 && memcmp(text, "\0xxx", 4) == 0, "room for a NUL alone");
    check(priv_doca_strlcpy(text, "DOCA", 0) == 4 && memcmp(text, "\0xxx", 4) == 0, "no room at all");

    check(memory != NULL, "memory");
    for (size_t i = 0; memory != NULL && i < 4096; i++)
        check(memory[i] == 0, "memory that is zero");
    free(memory);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
