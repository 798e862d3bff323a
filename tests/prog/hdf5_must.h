/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of HDF5 that must work: MUST(call) is the id (hid_t, herr_t), or the program ends with 1. */
#ifndef HDF5_MUST_H
#define HDF5_MUST_H

#include <stdio.h>
#include <stdlib.h>

static inline long long must(long long id, const char *what, int line)
{
	if (id < 0) {
		fprintf(stderr, "line %d: %s failed\n", line, what);
		exit(1);
	}
	return id;
}
#define MUST(call) must((long long)(call), #call, __LINE__)

#endif
