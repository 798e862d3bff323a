/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module registry: record memory, records and names of a rank's plain modules. A module gets one buffer, at
 * most what remains of the rank's memory. Runs in the daemon or log builder. Must not know modules, the kernel
 * side or MPI.
 */
#include "runtime/core/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/hash.h"
#include "logfmt/counters/module.h"
#include "runtime/core/path.h"

/* `used` of `granted` bytes are records. */
struct entry {
	bool registered;
	scribe_module_shutdown shutdown;
	char *buf;
	size_t granted, used;
	uint64_t *id;  /* per record */
	size_t *bytes; /* per record */
	size_t n, capacity;
};

struct name {
	uint64_t id;
	char *bytes;
	size_t len;
};

struct scribe_core {
	struct scribe_core_options options;
	size_t left; /* not granted yet */
	uint64_t partial;
	struct entry module[SCRIBE_MAX_MODULES];
	struct name *name;
	size_t names, names_capacity;
};

struct scribe_core *scribe_core_new(const struct scribe_core_options *options)
{
	struct scribe_core *core = calloc(1, sizeof(*core));

	if (!core)
		return NULL;
	core->options = *options;
	core->left = options->memory ? options->memory : SIZE_MAX;
	return core;
}

static void entry_clear(struct entry *e)
{
	free(e->buf);
	free(e->id);
	free(e->bytes);
	memset(e, 0, sizeof(*e));
}

struct scribe_core *scribe_core_free(struct scribe_core *core)
{
	if (!core)
		return NULL;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		entry_clear(&core->module[i]);
	for (size_t i = 0; i < core->names; i++)
		free(core->name[i].bytes);
	free(core->name);
	free(core);
	return NULL;
}

int64_t scribe_core_rank(const struct scribe_core *core)
{
	return core->options.rank;
}

uint64_t scribe_core_partial(const struct scribe_core *core)
{
	return core->partial;
}

static struct entry *entry_of(const struct scribe_core *core, int id)
{
	const struct entry *e;

	if (id < 0 || id >= SCRIBE_MAX_MODULES)
		return NULL;
	e = &core->module[id];
	return e->registered ? (struct entry *)(uintptr_t)e : NULL;
}

int scribe_core_register_module(struct scribe_core *core, int id, scribe_module_shutdown shutdown, size_t *inout_bytes,
				int *ret_rank, int *ret_mem_alignment)
{
	struct entry *e;
	size_t granted;

	if (id < 0 || id >= SCRIBE_MAX_MODULES || !inout_bytes)
		return -EINVAL;
	e = &core->module[id];
	if (e->registered)
		return -EEXIST;
	granted = *inout_bytes < core->left ? *inout_bytes : core->left;
	if (!granted && *inout_bytes)
		return -ENOMEM;
	e->buf = calloc(1, granted ? granted : 1);
	if (!e->buf)
		return -ENOMEM;
	if (core->options.memory)
		core->left -= granted;
	e->registered = true;
	e->shutdown = shutdown;
	e->granted = granted;
	*inout_bytes = granted;
	if (ret_rank)
		*ret_rank = (int)core->options.rank;
	if (ret_mem_alignment)
		*ret_mem_alignment = core->options.mem_alignment;
	return 0;
}

void scribe_core_unregister_module(struct scribe_core *core, int id)
{
	struct entry *e = entry_of(core, id);

	if (!e)
		return;
	if (core->options.memory)
		core->left += e->granted;
	core->partial &= ~(1ull << id);
	entry_clear(e);
}

uint64_t scribe_core_gen_record_id(const char *name)
{
	return scribe_record_id(name, strlen(name));
}

uint64_t scribe_core_gen_object_id(const void *name, size_t len)
{
	return scribe_record_id(name, len);
}

static int keep_name(struct scribe_core *core, uint64_t id, const void *bytes, size_t len)
{
	char *copy;

	if (core->names == core->names_capacity) {
		size_t capacity = core->names_capacity ? core->names_capacity * 2 : 32;
		struct name *more = realloc(core->name, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		core->name = more;
		core->names_capacity = capacity;
	}
	copy = malloc(len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, len);
	copy[len] = 0;
	core->name[core->names++] = (struct name){id, copy, len};
	return 0;
}

const struct scribe_mount *scribe_mount_of(const struct scribe_mount *mounts, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++) {
		size_t bytes = strlen(mounts[i].path);

		/* A match must end at a component. */
		if (!strncmp(path, mounts[i].path, bytes) && (bytes <= 1 || path[bytes] == '/' || !path[bytes]))
			return &mounts[i];
	}
	return NULL;
}

static void find_fs(const struct scribe_core *core, const char *path, struct scribe_fs_info *ret_fs)
{
	const struct scribe_mount *m = path ? scribe_mount_of(core->options.mounts, core->options.nmounts, path) : NULL;
	struct statvfs st;

	*ret_fs = (struct scribe_fs_info){0};
	if (!m)
		return;
	ret_fs->type = m->type;
	ret_fs->mount = m->path;
	/* Of the mount, not of the file. */
	if (statvfs(m->path, &st) == 0)
		ret_fs->block_bytes = (int64_t)st.f_bsize;
}

static int list_record(struct entry *e, uint64_t id, size_t bytes)
{
	if (e->n == e->capacity) {
		size_t capacity = e->capacity ? e->capacity * 2 : 64;
		uint64_t *ids = realloc(e->id, capacity * sizeof(*ids));
		size_t *lengths = ids ? realloc(e->bytes, capacity * sizeof(*lengths)) : NULL;

		/* If only the first realloc succeeds, its new address must be kept. */
		if (ids)
			e->id = ids;
		if (!lengths)
			return -ENOMEM;
		e->bytes = lengths;
		e->capacity = capacity;
	}
	e->id[e->n] = id;
	e->bytes[e->n++] = bytes;
	return 0;
}

static void *register_record(struct scribe_core *core, uint64_t id, const void *name, size_t len, int module,
			     size_t bytes)
{
	struct entry *e = entry_of(core, module);
	void *at;

	if (!e)
		return NULL;
	if (bytes % 8 || bytes > e->granted - e->used) {
		/* Records stay aligned to 8. The partial flag shows in the log that some are missing. */
		core->partial |= 1ull << module;
		return NULL;
	}
	if ((name && keep_name(core, id, name, len) < 0) || list_record(e, id, bytes) < 0) {
		core->partial |= 1ull << module;
		return NULL;
	}
	at = e->buf + e->used;
	e->used += bytes;
	return at;
}

void *scribe_core_register_record(struct scribe_core *core, uint64_t id, const char *name, int module, size_t bytes,
				  struct scribe_fs_info *ret_fs)
{
	void *at = register_record(core, id, name, name ? strlen(name) : 0, module, bytes);

	if (at && ret_fs)
		find_fs(core, name, ret_fs);
	return at;
}

void *scribe_core_register_object(struct scribe_core *core, uint64_t id, const void *name, size_t len, int module,
				  size_t bytes)
{
	return len <= SCRIBE_MAX_NAME_BYTES ? register_record(core, id, name, len, module, bytes) : NULL;
}

void *scribe_core_find_record(const struct scribe_core *core, uint64_t id, int module)
{
	const struct entry *e = entry_of(core, module);
	size_t at = 0;

	for (size_t i = 0; e && i < e->n; at += e->bytes[i++])
		if (e->id[i] == id)
			return e->buf + at;
	return NULL;
}

double scribe_core_wtime(const struct scribe_core *core)
{
	return scribe_seconds_between(core->options.base_ns, scribe_now_ns());
}

int scribe_core_excluded_path(const struct scribe_core *core, const char *path)
{
	return core->options.paths && scribe_exclusions_match(core->options.paths, path, strlen(path));
}

char *scribe_clean_path(const char *path)
{
	char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
	size_t n = strlen(path) + (cwd ? strlen(cwd) : 0) + 3;
	char *clean = malloc(n);

	if (clean) {
		strcpy(clean, cwd ? cwd : "");
		strcat(clean, cwd ? "/" : "");
		strcat(clean, path);
		scribe_path_clean(clean);
	}
	free(cwd);
	return clean;
}

static int hand_on(const struct entry *e, int id, const void *buf, size_t bytes, const struct scribe_core_sink *sink)
{
	const struct scribe_module *m = scribe_module_by_id(id);
	size_t at = 0;

	for (size_t i = 0; at < bytes; i++) {
		/*
		 * Registered lengths hold if shutdown changed nothing; otherwise fixed lengths, or what the
		 * record contains.
		 */
		size_t n = buf == e->buf && bytes == e->used ? e->bytes[i]
			   : m && m->record_bytes            ? m->record_bytes
			   : m ? scribe_record_length(id, (const char *)buf + at, bytes - at)
			       : 0;
		int rc;

		/* A length of 0 would never end. */
		if (!n || n > bytes - at)
			return -EINVAL;
		rc = sink->record(sink->ctx, id, (const char *)buf + at, n);
		if (rc < 0)
			return rc;
		at += n;
	}
	return 0;
}

int scribe_core_finish(struct scribe_core *core, const struct scribe_core_sink *sink)
{
	int rc = 0;

	for (size_t i = 0; sink->name && i < core->names && rc >= 0; i++)
		rc = sink->name(sink->ctx, core->name[i].id, core->name[i].bytes, core->name[i].len);
	for (int id = 0; id < SCRIBE_MAX_MODULES && rc >= 0; id++) {
		struct entry *e = entry_of(core, id);
		size_t bytes = e ? e->used : 0;
		void *buf = e ? e->buf : NULL;

		if (!e)
			continue;
		if (e->shutdown)
			e->shutdown(core, &buf, &bytes);
		rc = hand_on(e, id, buf, bytes, sink);
	}
	return rc < 0 ? rc : 0;
}
