// SPDX-License-Identifier: BSD-3-Clause
/* Stands in for libldmsd_stream: see ldms_standin.c. */
#include "tests/streams/ldms_standin.h"

int ldmsd_stream_publish(void *x, const char *tag, int type, const char *data, size_t bytes);

int ldmsd_stream_publish(void *x, const char *tag, int type, const char *data, size_t bytes)
{
	return standin_put(x, "stream", tag, type, data, bytes);
}
