// SPDX-License-Identifier: BSD-3-Clause
/*
 * Name events: a path as its process sees it becomes an entry of the job's name table, and the slot may be
 * excluded. Link events change the job's links. Root directories are open until the end of the iteration. Main
 * thread. Must not know what is recorded.
 */
#include "runtime/daemon/events/name_events.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/lookup/path_lookup.h"
#include "runtime/daemon/privsep/procfs_reader.h"
#include "runtime/daemon/tables/slot_names.h"

#define COMPARE_EACH 256u /* files by which a job may exceed the quota */

static size_t literal_name(const char *string, size_t bytes, char *path, size_t cap)
{
	if (bytes >= cap)
		bytes = cap - 1;
	memcpy(path, string, bytes);
	path[bytes] = 0;
	return strlen(path);
}

/* For example ":/group/dataset". */
static size_t add_suffix(char *path, size_t bytes, size_t cap, const char *suffix, size_t n)
{
	if (n > cap - 1 - bytes)
		n = cap - 1 - bytes;
	memcpy(path + bytes, suffix, n);
	path[bytes + n] = 0;
	return bytes + strlen(path + bytes);
}

/* Owned by the cache. Negative: failed. */
static int root_of(struct scribe_daemon *d, const struct scribe_process *p)
{
	struct scribe_names_root *r = &d->names_roots[p->proc_id % SCRIBE_NAMES_ROOTS];

	/* names of one process often come together */
	if (r->proc_id == p->proc_id)
		return r->fd;
	if (r->proc_id && r->fd >= 0)
		close(r->fd);
	r->proc_id = p->proc_id;
	r->fd = scribe_procfs_root(p->job->config.uid, p->tgid);
	/* the process has ended; its root directory was that of the machine */
	if (r->fd < 0 && p->own_root_dir)
		r->fd = d->root > 0 ? fcntl(d->root, F_DUPFD_CLOEXEC, 0) : open("/", O_PATH | O_CLOEXEC | O_DIRECTORY);
	return r->fd;
}

void scribe_names_done(struct scribe_daemon *d)
{
	for (unsigned i = 0; i < SCRIBE_NAMES_ROOTS; i++) {
		if (d->names_roots[i].proc_id && d->names_roots[i].fd >= 0)
			close(d->names_roots[i].fd);
		d->names_roots[i].proc_id = 0;
	}
}

/* False: pending. */
static bool follow_links(struct scribe_daemon *d, struct scribe_process *p, char *path, bool nofollow,
			 size_t *ret_bytes)
{
	struct scribe_path_of of = {.root_fd = root_of(d, p), .root = p->root_id, .nofollow = nofollow};

	return scribe_path_lookup(p->job, path, &of, ret_bytes);
}

static const char *last_component(const char *path, size_t bytes, size_t *ret_bytes)
{
	const char *slash = memrchr(path, '/', bytes), *last = slash ? slash + 1 : path;

	*ret_bytes = bytes - (size_t)(last - path);
	return last;
}

/* Is the whole directory of an excluded path excluded, so that the kernel may drop further names in it? */
static bool is_folder_excluded(struct scribe_daemon *d, struct scribe_process *p,
			       const struct scribe_path_pieces *given, const char *path, size_t bytes)
{
	size_t a, b, n = strnlen(given->string, given->string_bytes);
	const char *last = last_component(path, bytes, &a), *was = last_component(given->string, n, &b);

	/* not if the last component was a link, or if users can change the directory */
	if (!n || a != b || memcmp(last, was, a) ||
	    !scribe_exclusions_match(&p->job->config.paths, path, (size_t)(last - path)))
		return false;
	return scribe_path_folder_is_fixed(root_of(d, p), path);
}

/* The user's quota of files is used up: replaces a new name by that of the overflow record. */
static size_t further_name(struct scribe_process *p, char *path, size_t bytes)
{
	struct scribe_job *job = p->job;
	const char *instead = SCRIBE_FURTHER_EXCLUDED;
	const struct scribe_name_entry *folded;

	if (scribe_name_table_by_id(&job->names, scribe_record_id(path, bytes)))
		return bytes;
	if (!scribe_exclusions_match(&job->config.paths, path, bytes)) {
		folded = scribe_slot_overflow_name(job, p);
		if (!folded)
			return bytes;
		job->losses.files_overflowed++;
		instead = folded->text;
	}
	bytes = strlen(instead);
	memcpy(path, instead, bytes + 1);
	return bytes;
}

/* Between two counts (user_quota.c) a job could take more than the pool has for all users. */
static void count_name(struct scribe_daemon *d, struct scribe_job *job)
{
	job->files = scribe_job_files(job);
	if (job->files_full || job->files - job->files_seen < COMPARE_EACH)
		return;
	job->files_seen = job->files;
	job->files_full = scribe_daemon_may(d, job->config.uid, SCRIBE_QUOTA_FILES, NULL) < 0;
}

/* The name as sent, and as resolved. */
struct given {
	const struct scribe_path_pieces *pieces;
	char *path; /* SCRIBE_NAME_CAPACITY bytes */
	size_t bytes;
	uint64_t file_id; /* of the file that contains it; 0: none */
};

static void name_slot(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e,
		      const struct given *g)
{
	size_t bytes = p->job->files_full ? further_name(p, g->path, g->bytes) : g->bytes;
	struct scribe_name_entry *name = scribe_name_table_intern(&p->job->names, g->path, bytes);
	struct scribe_slot *slot;

	if (!name) {
		p->job->losses.memory++;
		return;
	}
	count_name(d, p->job);
	scribe_slot_name_set(d, p->job, e->name.slot, e->name.generation, name);
	if (g->file_id && !name->folded)
		name->file_id = g->file_id;
	scribe_job_journal_name(p->job, e->name.slot, e->name.generation, name);
	slot = scribe_bpf_slot(d->bpf, e->name.slot);
	/* not if the slot was reused; atomic, because kernel programs change the same word */
	if (slot && slot->generation == e->name.generation && slot->proc_id == e->proc_id && name->excluded)
		__atomic_fetch_or(&slot->flags,
				  SCRIBE_SF_EXCLUDED |
					  (g->pieces->has_string && slot->kind == SCRIBE_KIND_PATH &&
							   is_folder_excluded(d, p, g->pieces, name->text, name->bytes)
						   ? SCRIBE_SF_FOLDER_EXCLUDED
						   : 0),
				  __ATOMIC_RELAXED);
	else if (p->own_root_dir && !name->folded) /* otherwise the helper would see a different file */
		scribe_file_xattrs_request(p->job, name);
}

int scribe_name_event(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e, const char *text)
{
	const struct scribe_ev_name *n = &e->name;
	struct scribe_path_pieces pieces = {
		.chain = text,
		.chain_bytes = n->chain_bytes,
		.string = text + n->chain_bytes,
		.string_bytes = n->string_bytes,
		.has_string = n->flags & SCRIBE_NF_STRING,
		.cut = n->flags & SCRIBE_NF_CUT,
		.nofollow = n->flags & SCRIBE_NF_NOFOLLOW,
		.detached = n->flags & SCRIBE_NF_DETACHED,
	};
	char path[SCRIBE_NAME_CAPACITY];
	const struct scribe_name_entry *name;
	uint64_t file_id = 0;
	size_t bytes;

	/* the text is from user memory: check its lengths */
	if (!scribe_slot_room(d, n->slot) || (uint64_t)n->chain_bytes + n->string_bytes > e->text_bytes)
		return 0;
	if (n->suffix_bytes < n->string_bytes)
		pieces.string_bytes -= n->suffix_bytes;
	bytes = scribe_path_join(&pieces, path, sizeof(path));
	if (n->flags & SCRIBE_NF_BELOW) {
		name = scribe_slot_name_entry(d, n->below_slot, n->below_generation);
		if (!name)
			return 0;
		bytes = literal_name(name->text, name->bytes, path, sizeof(path));
		file_id = name->id;
		bytes = add_suffix(path, bytes, sizeof(path), ":", 1);
		bytes = add_suffix(path, bytes, sizeof(path), pieces.string, pieces.string_bytes);
	} else if (pieces.has_string && !follow_links(d, p, path, pieces.nofollow, &bytes)) {
		return SCRIBE_NAME_WAITS;
	}
	if (pieces.string_bytes < n->string_bytes) {
		file_id = scribe_record_id(path, bytes);
		bytes = add_suffix(path, bytes, sizeof(path), pieces.string + pieces.string_bytes,
				   n->string_bytes - pieces.string_bytes);
	}
	name_slot(d, p, e, &(struct given){.pieces = &pieces, .path = path, .bytes = bytes, .file_id = file_id});
	return 0;
}

/* A call has changed what paths lead to. */
void scribe_link_event(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e,
		       const char *text)
{
	const struct scribe_name_entry *at = scribe_slot_name_entry(d, e->link.slot, e->link.generation);
	const struct scribe_name_entry *from =
		scribe_slot_name_entry(d, e->link.source_slot, e->link.source_generation);
	const uint32_t change = e->link.change & ~(uint32_t)SCRIBE_LINK_KNOWN;
	struct scribe_job *job = p->job;
	struct scribe_job_entry *entry = scribe_bpf_job(d->bpf, job->index);
	bool changed = false, lost = false;

	if (change == SCRIBE_LINK_MADE) {
		lost = !at || !e->text_bytes || text[e->text_bytes - 1] ||
		       !scribe_links_made(&job->links, p->root_id, at->text, text);
	} else if (!at || (change != SCRIBE_LINK_REMOVED && !from)) {
		lost = job->links.by_path.used > 0;
	} else if (change == SCRIBE_LINK_REMOVED) {
		changed = scribe_links_removed(&job->links, p->root_id, at->text);
	} else {
		changed = scribe_links_moved(&job->links, p->root_id, from->text, at->text,
					     change == SCRIBE_LINK_SWAPPED);
	}
	/* a link that is not in the table, or strings that were cached for their records until now */
	if (changed && !(e->link.change & SCRIBE_LINK_KNOWN)) {
		/* part of the kernel's hash of path strings: invalidates what it has cached */
		if (entry)
			__atomic_fetch_add(&entry->links, 1, __ATOMIC_RELAXED);
		lost = true;
	}
	job->losses.names_unresolved += lost || (!changed && job->links.full && e->link.change & SCRIBE_LINK_KNOWN);
}
