// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A number of an exported text: by json-c, as the programs of DOCA 1.3 and 1.4 do it, and by hand, as others do.
#ifndef JSON_H_
#define JSON_H_

#include <json-c/json.h>

#include "check.h"

static inline size_t json_number(const uint8_t *text, const char *name)
{
    struct json_object *const object = json_tokener_parse((const char *)text), *value;
    char pattern[32];
    const char *found;
    unsigned long long number = 0, scanned = 0;
    CHECK(object != NULL && json_object_object_get_ex(object, name, &value));
    CHECK(json_object_is_type(value, json_type_int));
    number = (unsigned long long)json_object_get_int64(value);
    CHECK(strtoull(json_object_get_string(value), NULL, 0) == number);
    json_object_put(object);

    snprintf(pattern, sizeof(pattern), "\"%s\":", name);
    found = strstr((const char *)text, pattern);
    CHECK(found != NULL && strtoull(found + strlen(pattern), NULL, 10) == number);
    snprintf(pattern, sizeof(pattern), "\"%s\" : %%llu", name);
    CHECK(sscanf(found, pattern, &scanned) == 1 && scanned == number);
    return (size_t)number;
}

#endif
