/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and metadata of parts (docs/format.md, "Parts of the logs of a job on several nodes"). The daemon writes, the
 * merge reads them. Allocates nothing. Must not know records or files.
 */
#include "logfmt/nodes/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/err.h"

static bool ends_so(const char *name, size_t n)
{
	size_t ending = strlen(SCRIBE_PARTS_ENDING);

	return n > ending && !memcmp(name + n - ending, SCRIBE_PARTS_ENDING, ending);
}

bool scribe_parts_is_dir(const char *name)
{
	return ends_so(name, strlen(name));
}

bool scribe_parts_in(const char *path, size_t *ret_bytes)
{
	const char *slash = strrchr(path, '/');

	if (!slash || !ends_so(path, (size_t)(slash - path)))
		return false;
	*ret_bytes = (size_t)(slash - path);
	return true;
}

/* Keys with the value 0 or 1. */
static const struct {
	const char *key;
	size_t at;
} numbers[] = {
	{"agreed", offsetof(struct scribe_part_info, agreed)},
	{"split", offsetof(struct scribe_part_info, split)},
	{"unshared", offsetof(struct scribe_part_info, unshared)},
	{"named", offsetof(struct scribe_part_info, named)},
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* -ENAMETOOLONG: longer than the metadata. */
int scribe_part_info_write(const struct scribe_part_info *info, char *text, size_t cap)
{
	int n = snprintf(text, cap, "lowest=%" PRId64 "\nplace=%s\n", info->lowest, info->log_path);

	for (size_t i = 0; i < NUMBERS && n >= 0 && (size_t)n < cap; i++)
		n += snprintf(text + n, cap - (size_t)n, "%s=%d\n", numbers[i].key,
			      *(const int *)(const void *)((const char *)info + numbers[i].at));
	return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : n;
}

/* A line "key=value"; its value in *ret. */
static bool line_is(const char *line, const char *key, const char **ret, size_t *ret_bytes)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) || line[n] != '=')
		return false;
	*ret = line + n + 1;
	*ret_bytes = strcspn(*ret, "\n");
	return true;
}

bool scribe_part_info_take(const char *line, struct scribe_part_info *info)
{
	const char *value;
	size_t bytes;

	if (line_is(line, "place", &value, &bytes)) {
		snprintf(info->log_path, sizeof(info->log_path), "%.*s", (int)bytes, value);
		return true;
	}
	if (line_is(line, "lowest", &value, &bytes)) {
		info->lowest = strtoll(value, NULL, 10);
		return true;
	}
	for (size_t i = 0; i < NUMBERS; i++)
		if (line_is(line, numbers[i].key, &value, &bytes)) {
			*(int *)(void *)((char *)info + numbers[i].at) = value[0] == '1';
			return true;
		}
	return false;
}

static bool log_path_is_sound(const char *log_path)
{
	const size_t n = strlen(log_path);

	/* The path must stay below the logs' directory, whatever a file contains. */
	if (n >= 3 && !strcmp(log_path + n - 3, "/.."))
		return false;
	return log_path[0] && log_path[0] != '/' && strncmp(log_path, "../", 3) && !strstr(log_path, "/../") &&
	       strcmp(log_path, "..");
}

int scribe_part_info_read(const char *metadata, struct scribe_part_info *ret_info)
{
	struct scribe_part_info info = {.lowest = -1};

	for (const char *line = metadata; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		(void)scribe_part_info_take(line, &info);
	}
	if (!log_path_is_sound(info.log_path))
		return -SCRIBE_E_FORMAT;
	*ret_info = info;
	return 0;
}
