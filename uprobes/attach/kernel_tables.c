// SPDX-License-Identifier: BSD-3-Clause
/*
 * Removes entries of the kernel's tables: handles of ended processes, and access shapes, which move to the jobs: a busy
 * service would fill them. Main thread. Must not know: links, files, jobs.
 */
#include "uprobes/attach/kernel_tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/user/map_calls.h"
#include "logfmt/rules/lib_rules.h"
#include "uprobes/wire.h"

#define AT_ONCE 1024u

/* Concurrent changes may be missed. */
static void each_entry(int map, void (*fn)(void *ctx, int map, const void *key, const void *value), void *ctx)
{
	struct bpf_map_info info = {};
	char *keys = NULL, *values = NULL;
	uint32_t at = 0, n = sizeof(info);
	bool first = true;
	int rc = bpf_obj_get_info_by_fd(map, &info, &n);

	if (rc == 0) {
		keys = calloc(AT_ONCE, info.key_size);
		values = calloc(AT_ONCE, info.value_size);
	}
	while (keys && values && rc == 0) {
		n = AT_ONCE;
		/* ENOENT comes with the last batch */
		rc = scribe_map_lookup_batch(map, first ? NULL : &at, &at, keys, values, &n);
		if (rc && errno != ENOENT)
			break;
		first = false;
		for (uint32_t i = 0; i < n; i++)
			fn(ctx, map, keys + i * info.key_size, values + i * info.value_size);
	}
	free(keys);
	free(values);
}

struct sweep {
	struct scribe_handle_key *handle;
	void (*take)(void *ctx, int64_t key, const struct scribe_access_pattern *pattern);
	void *ctx;
	uint32_t met;
};

static void meet_handle(void *ctx, int map, const void *key, const void *value)
{
	struct sweep *s = ctx;

	(void)map;
	(void)value;
	if (s->met < SCRIBE_HANDLES_MAX)
		memcpy(&s->handle[s->met++], key, sizeof(*s->handle));
}

void scribe_tables_sweep(int table_fd, bool (*alive)(void *ctx, uint32_t proc_id), void *ctx)
{
	struct sweep s = {.handle = calloc(SCRIBE_HANDLES_MAX, sizeof(*s.handle))};

	if (s.handle)
		each_entry(table_fd, meet_handle, &s);
	/* after reading all: a process of a handle that was read existed before */
	for (uint32_t i = 0; i < s.met; i++)
		if (!alive(ctx, s.handle[i].proc_id))
			scribe_map_delete(table_fd, &s.handle[i]);
	free(s.handle);
}

static void meet_shape(void *ctx, int map, const void *key, const void *value)
{
	(void)map;
	(void)key;
	(void)value;
	((struct sweep *)ctx)->met++;
}

static void move_shape(void *ctx, int map, const void *key, const void *value)
{
	struct sweep *s = ctx;
	int64_t k;

	memcpy(&k, key, sizeof(k));
	s->take(s->ctx, k, value);
	scribe_map_delete(map, key);
}

void scribe_tables_move_shapes(int shapes_fd,
			       void (*take)(void *ctx, int64_t key, const struct scribe_access_pattern *pattern),
			       void *ctx)
{
	struct sweep s = {.take = take, .ctx = ctx};

	each_entry(shapes_fd, meet_shape, &s);
	if (s.met >= SCRIBE_ACCESS_PATTERNS_MAX / 2)
		each_entry(shapes_fd, move_shape, &s);
}
