/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CLIENT_WRAP_STDIO_REAL_H
#define RUNTIME_CLIENT_WRAP_STDIO_REAL_H

#include <dlfcn.h>
#include <errno.h>

#include "runtime/client/process/compat.h"

#define EXPORT __attribute__((visibility("default")))
#define END    (-1)

/* Looked up once. */
static inline void *next(void **slot, const char *name)
{
	void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (!found) {
		found = dlsym(RTLD_NEXT, name);
		__atomic_store_n(slot, found, __ATOMIC_RELAXED);
	}
	return found;
}

/* Declares `real`, the next definition; without one returns `lost`. */
#define REAL(ret, name, lost, ...) \
	static void *slot_; \
	ret (*real)(__VA_ARGS__) = (ret(*)(__VA_ARGS__))next(&slot_, name); \
	if (!real) { \
		errno = ENOSYS; \
		return lost; \
	}

#endif
