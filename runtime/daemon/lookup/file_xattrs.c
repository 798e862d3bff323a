/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extended attributes for modules such as LUSTRE: batches of queued names go to the helper in a memory file, to
 * which it appends the answers. Must not know what attributes mean.
 */
#include "runtime/daemon/lookup/file_xattrs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/core/core.h"
#include "runtime/core/module_table.h"
#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/state/daemon.h"

struct attr {
	const struct scribe_name_entry *name;
	const struct scribe_module_ops *ops;
	bool queued, answered; /* also: the file lacks the attribute */
	void *value;           /* NULL: none */
	size_t bytes;
};

struct scribe_file_xattrs {
	struct scribe_map by_id; /* record id -> struct attr */
	struct attr **queue;
	size_t n, capacity;
	size_t asked; /* entries that the helper has */
	size_t said;  /* bytes of names */
	int batch;    /* the memory file; -1: none */
	bool hung;    /* a deadline was missed: no further requests */
	bool in_vain; /* no helper can be started */
	uint64_t until_ns;
	struct scribe_helper helper;
};

/* layout_source is "TYPE,ATTRIBUTE", to replace the module's. */
static bool is_place_of(const struct scribe_job *job, const struct scribe_module_ops *s, const char *type)
{
	const char *said = job->config.layout_source;
	size_t n = strcspn(said, ",");

	if (!said[0])
		return !strcmp(type, s->fs_type);
	return strlen(type) == n && !strncmp(type, said, n);
}

static const char *attribute_of(const struct scribe_job *job, const struct scribe_module_ops *s)
{
	const char *comma = strchr(job->config.layout_source, ',');

	return comma ? comma + 1 : s->attribute;
}

/* NULL: no enabled module needs attributes of this path. */
static const struct scribe_module_ops *source_of(const struct scribe_job *job, const char *path)
{
	const struct scribe_mount *m = scribe_mount_of(job->mounts.mount, job->mounts.n, path);

	for (int i = 0; m && scribe_daemon_modules[i]; i++) {
		const struct scribe_module_ops *s = scribe_daemon_modules[i];

		if (s->files && scribe_module_is_on(s, job->config.modules) &&
		    !(job->config.exclusion_rules.modules_off >> s->module & 1) && is_place_of(job, s, m->type))
			return s;
	}
	return NULL;
}

static struct scribe_file_xattrs *attrs_of(struct scribe_job *job)
{
	if (job->file_xattrs)
		return job->file_xattrs;
	job->file_xattrs = calloc(1, sizeof(*job->file_xattrs));
	if (job->file_xattrs) {
		job->file_xattrs->batch = -1;
		job->file_xattrs->helper = (struct scribe_helper){.pid = -1, .sock = -1};
	}
	return job->file_xattrs;
}

static void enqueue(struct scribe_file_xattrs *a, struct attr *at)
{
	if (at->queued)
		return;
	if (a->n == a->capacity) {
		size_t capacity = a->capacity ? a->capacity * 2 : 64;
		struct attr **more = realloc(a->queue, capacity * sizeof(struct attr *));

		if (!more)
			return; /* counted by scribe_file_xattrs_silent() */
		a->queue = more;
		a->capacity = capacity;
	}
	at->queued = true;
	a->queue[a->n++] = at;
}

void scribe_file_xattrs_request(struct scribe_job *job, const struct scribe_name_entry *name)
{
	const struct scribe_module_ops *s = name->file_id || name->excluded ? NULL : source_of(job, name->text);
	struct scribe_file_xattrs *a = s ? attrs_of(job) : NULL;
	struct attr *at;

	if (!a || scribe_map_get(&a->by_id, name->id))
		return;
	at = calloc(1, sizeof(*at));
	if (!at || scribe_map_put(&a->by_id, name->id, at) < 0) {
		free(at);
		job->losses.memory++;
		return;
	}
	at->name = name;
	at->ops = s;
	enqueue(a, at);
}

static size_t write_batch(struct scribe_file_xattrs *a)
{
	size_t n = 0;

	a->said = 0;
	while (n < a->n && n < SCRIBE_HELPER_ATTRS && a->queue[n]->ops == a->queue[0]->ops) {
		const struct scribe_name_entry *name = a->queue[n]->name;
		size_t bytes = name->bytes + 1;

		if (a->said + bytes > SCRIBE_HELPER_ATTRS_BYTES)
			break;
		if (write(a->batch, name->text, bytes) != (ssize_t)bytes)
			return 0;
		a->said += bytes;
		n++;
	}
	return n;
}

static void end_batch(struct scribe_file_xattrs *a)
{
	for (size_t i = 0; i < a->asked; i++)
		a->queue[i]->queued = false;
	a->n -= a->asked;
	memmove(a->queue, a->queue + a->asked, a->n * sizeof(struct attr *));
	a->asked = 0;
	if (a->batch >= 0)
		close(a->batch);
	a->batch = -1;
}

static void ask(struct scribe_job *job)
{
	struct scribe_file_xattrs *a = job->file_xattrs;
	struct scribe_err err;

	if (a->helper.sock < 0 && scribe_job_start_helper(job, &a->helper, &err) < 0) {
		/* later attempts would fail, too */
		a->in_vain = true;
		return;
	}
	a->batch = memfd_create("ioscribe-attributes", MFD_CLOEXEC);
	a->asked = a->batch < 0 ? 0 : write_batch(a);
	if (!a->asked || scribe_helper_attributes(&a->helper, attribute_of(job, a->queue[0]->ops), a->batch,
						  job->config.layout_deadline_ms) < 0) {
		a->in_vain = true;
		end_batch(a);
	}
}

static void take_answers(struct scribe_file_xattrs *a)
{
	off_t at = (off_t)a->said;
	struct stat st;

	/* the helper can still write: check lengths with the file's size */
	if (fstat(a->batch, &st) < 0)
		return;
	for (size_t i = 0; i < a->asked; i++) {
		struct attr *to = a->queue[i];
		int32_t bytes;
		void *value;

		if (pread(a->batch, &bytes, sizeof(bytes), at) != (ssize_t)sizeof(bytes))
			return;
		at += (off_t)sizeof(bytes);
		to->answered = true;
		if (bytes <= 0)
			continue; /* no attribute, or the file is gone: keep an earlier value */
		if (bytes > st.st_size - at)
			return;
		value = malloc((size_t)bytes);
		if (!value || pread(a->batch, value, (size_t)bytes, at) != bytes) {
			free(value);
			return;
		}
		at += bytes;
		free(to->value);
		to->value = value;
		to->bytes = (size_t)bytes;
	}
}

bool scribe_file_xattrs_busy(const struct scribe_job *job)
{
	const struct scribe_file_xattrs *a = job->file_xattrs;

	return a && !a->hung && !a->in_vain && (a->n || a->asked);
}

void scribe_file_xattrs_tick(struct scribe_job *job)
{
	struct scribe_file_xattrs *a = job->file_xattrs;
	int rc;

	if (!scribe_file_xattrs_busy(job))
		return;
	if (a->asked) {
		if (!scribe_helper_answered(&a->helper, &rc))
			return;
		take_answers(a);
		end_batch(a);
		if (rc < 0) {
			/* not a second deadline for a hanging file server */
			a->hung = true;
			scribe_helper_stop(&a->helper);
			return;
		}
	}
	if (a->n)
		ask(job);
}

static void again(struct scribe_file_xattrs *a, const struct scribe_records *r)
{
	for (size_t i = 0; r && i < r->n; i++) {
		struct attr *at = scribe_map_get(&a->by_id, r->file[i]->id);

		if (at)
			enqueue(a, at);
	}
}

/* Names that only ranks on other nodes have used: the file system may be shared. */
static void want_theirs(struct scribe_job *job, int fd)
{
	struct scribe_reader *r = NULL;
	struct scribe_name name;
	struct scribe_err err;

	if (scribe_reader_open_fd(fd, "the ranks' log", &r, &err) < 0)
		return;
	while (scribe_reader_next_name(r, &name) > 0) {
		const struct scribe_name_entry *entry = scribe_name_table_by_id(&job->names, name.id);

		if (!entry && name.len && name.bytes[0] == '/' && !memchr(name.bytes, 0, name.len) &&
		    source_of(job, name.bytes))
			entry = scribe_name_table_intern(&job->names, name.bytes, name.len);
		if (entry)
			scribe_file_xattrs_request(job, entry);
	}
	scribe_reader_free(r);
}

void scribe_file_xattrs_again(struct scribe_job *job, const struct scribe_log_unit *u, int theirs)
{
	if (theirs >= 0)
		want_theirs(job, theirs);
	if (!job->file_xattrs)
		return;
	for (size_t i = 0; i < u->ranks.buckets; i++) {
		const struct scribe_rank *r = u->ranks.entry[i].value;

		if (r) {
			again(job->file_xattrs, r->records);
			again(job->file_xattrs, r->fetched);
		}
	}
	/* before the wait begins, so that both end together */
	scribe_file_xattrs_tick(job);
	job->file_xattrs->until_ns = scribe_now_ns() + (uint64_t)job->config.layout_deadline_ms * 1000000;
}

bool scribe_file_xattrs_complete(struct scribe_job *job)
{
	bool ended = job->file_xattrs && scribe_now_ns() >= job->file_xattrs->until_ns;

	scribe_file_xattrs_tick(job);
	return ended || !scribe_file_xattrs_busy(job);
}

const void *scribe_file_xattrs_get(const struct scribe_job *job, const struct scribe_module_ops *ops, uint64_t id,
				   size_t *ret_bytes)
{
	const struct attr *at = job->file_xattrs ? scribe_map_get(&job->file_xattrs->by_id, id) : NULL;

	if (!at || at->ops != ops)
		return NULL;
	*ret_bytes = at->bytes;
	return at->value;
}

uint64_t scribe_file_xattrs_silent(const struct scribe_job *job)
{
	const struct scribe_file_xattrs *a = job->file_xattrs;
	uint64_t n = 0;

	for (size_t i = 0; a && i < a->by_id.buckets; i++) {
		const struct attr *at = a->by_id.entry[i].value;

		n += at && !at->answered;
	}
	return n;
}

struct scribe_file_xattrs *scribe_file_xattrs_free(struct scribe_file_xattrs *a)
{
	if (!a)
		return NULL;
	for (size_t i = 0; i < a->by_id.buckets; i++) {
		struct attr *at = a->by_id.entry[i].value;

		if (at)
			free(at->value);
		free(at);
	}
	scribe_map_clear(&a->by_id);
	free(a->queue);
	if (a->batch >= 0)
		close(a->batch);
	scribe_helper_stop(&a->helper);
	free(a);
	return NULL;
}
