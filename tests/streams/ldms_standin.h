/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two stand-ins share. */
#ifndef TESTS_STREAMS_LDMS_STANDIN_H
#define TESTS_STREAMS_LDMS_STANDIN_H

#include <stddef.h>

/* A message of the transport `x`, by streams or channels. 0, or an errno. */
int standin_put(void *x, const char *api, const char *tag, int type, const char *data, size_t bytes);

#endif
