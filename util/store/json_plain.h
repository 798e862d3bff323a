/* SPDX-License-Identifier: BSD-3-Clause */
/* The quick way through JSON as programs write it. */
#ifndef UTIL_STORE_JSON_PLAIN_H
#define UTIL_STORE_JSON_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <yajl/yajl_parse.h>

/*
 * Tell the pieces of one object, in the order and form that YAJL would tell them. False: the text
 * is not plain (escapes, bytes beyond ASCII, true, false, null), no JSON, or a callback refused; then
 * some pieces were told already, and YAJL has to begin anew.
 */
bool scribe_json_plain(const yajl_callbacks *callbacks, void *ctx, const char *text, size_t len);

#endif
