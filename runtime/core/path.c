/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cleans paths as text in their buffer, which never grows. Used by the daemon and helpers. Must not touch the
 * file system.
 */
#include "runtime/core/path.h"

#include <string.h>

size_t scribe_path_clean(char *path)
{
	size_t in = 0, out = 0;

	while (path[in]) {
		size_t n = strcspn(path + in, "/");

		if (n == 0) {
			in++;
			continue;
		}
		if (n == 2 && path[in] == '.' && path[in + 1] == '.') {
			/* ".." removes the last component, if any. */
			while (out && path[out - 1] != '/')
				out--;
			if (out)
				out--;
		} else if (n != 1 || path[in] != '.') {
			path[out++] = '/';
			memmove(path + out, path + in, n);
			out += n;
		}
		in += n;
	}
	if (!out)
		path[out++] = '/';
	path[out] = 0;
	return out;
}
