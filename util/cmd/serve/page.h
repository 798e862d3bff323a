/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_SERVE_PAGE_H
#define UTIL_CMD_SERVE_PAGE_H

#include <stddef.h>

struct scribe_page_file {
	const char *path, *type;
	const char *bytes, *end;
};

const struct scribe_page_file *scribe_page_file(const char *path);

#endif
