/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking files: names wait in a queue, a batch of them goes to the hand, its
 * answers are kept by record id. Must not know what the attributes mean.
 */
#include "runtime/daemon/attrs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/core/sources.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/hand_work.h"

struct attr {
	const struct scribe_label *label;
	const struct scribe_source *source;
	bool queued, answered;
	void *value; /* NULL: none so far */
	size_t bytes;
};

struct scribe_attrs {
	struct scribe_map by_id; /* record id -> struct attr */
	struct attr **queue;
	size_t n, room;
	size_t asked; /* of the queue, from its beginning, with the hand */
	size_t said;  /* bytes of the question, in front of the answers */
	int batch;    /* memory file of question and answers; -1 none */
	bool hung;    /* no answer in time: nobody is asked any more */
	bool in_vain; /* there is no hand to ask */
	uint64_t until_ns;
	struct scribe_hand hand;
};

/* "TYPE,ATTRIBUTE" of the configuration stands for the source's own. */
static bool is_place_of(const struct scribe_work *w, const struct scribe_source *s, const char *type)
{
	const char *said = w->config.layout_source;
	size_t n = strcspn(said, ",");

	if (!said[0])
		return !strcmp(type, s->fs_type);
	return strlen(type) == n && !strncmp(type, said, n);
}

static const char *attribute_of(const struct scribe_work *w, const struct scribe_source *s)
{
	const char *comma = strchr(w->config.layout_source, ',');

	return comma ? comma + 1 : s->attribute;
}

static const struct scribe_source *source_of(const struct scribe_work *w, const char *path)
{
	const struct scribe_mount *m = scribe_mount_of(w->mounts.mount, w->mounts.n, path);

	for (int i = 0; m && scribe_sources[i]; i++) {
		const struct scribe_source *s = scribe_sources[i];

		if (s->files && scribe_source_is_on(s, w->config.modules) &&
		    !(w->config.rules.modules_off >> s->module & 1) && is_place_of(w, s, m->type))
			return s;
	}
	return NULL;
}

static struct scribe_attrs *attrs_of(struct scribe_work *w)
{
	if (w->attrs)
		return w->attrs;
	w->attrs = calloc(1, sizeof(*w->attrs));
	if (w->attrs) {
		w->attrs->batch = -1;
		w->attrs->hand = (struct scribe_hand){.pid = -1, .sock = -1};
	}
	return w->attrs;
}

static void enqueue(struct scribe_attrs *a, struct attr *at)
{
	if (at->queued)
		return;
	if (a->n == a->room) {
		size_t room = a->room ? a->room * 2 : 64;
		struct attr **more = realloc(a->queue, room * sizeof(struct attr *));

		if (!more)
			return;
		a->queue = more;
		a->room = room;
	}
	at->queued = true;
	a->queue[a->n++] = at;
}

void scribe_attrs_want(struct scribe_work *w, const struct scribe_label *label)
{
	const struct scribe_source *s = label->file_id || label->excluded ? NULL : source_of(w, label->text);
	struct scribe_attrs *a = s ? attrs_of(w) : NULL;
	struct attr *at;

	if (!a || scribe_map_get(&a->by_id, label->id))
		return;
	at = calloc(1, sizeof(*at));
	if (!at || scribe_map_put(&a->by_id, label->id, at) < 0) {
		free(at);
		w->memory_out++;
		return;
	}
	at->label = label;
	at->source = s;
	enqueue(a, at);
}

/* As many names of the queue's head as go into one question: all for one source. */
static size_t write_batch(struct scribe_attrs *a)
{
	size_t n = 0;

	a->said = 0;
	while (n < a->n && n < SCRIBE_HAND_ATTRS && a->queue[n]->source == a->queue[0]->source) {
		const struct scribe_label *label = a->queue[n]->label;
		size_t bytes = label->bytes + 1;

		if (a->said + bytes > SCRIBE_HAND_ATTRS_BYTES)
			break;
		if (write(a->batch, label->text, bytes) != (ssize_t)bytes)
			return 0;
		a->said += bytes;
		n++;
	}
	return n;
}

static void end_batch(struct scribe_attrs *a)
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

static void ask(struct scribe_work *w)
{
	struct scribe_attrs *a = w->attrs;
	struct scribe_err err;

	if (a->hand.sock < 0 && (scribe_work_start_hand(w, &a->hand, &err) < 0 ||
				 (w->daemon->root > 0 && scribe_hand_root(&a->hand, w->daemon->root) < 0))) {
		a->in_vain = true;
		return;
	}
	a->batch = memfd_create("ioscribe-attributes", MFD_CLOEXEC);
	a->asked = a->batch < 0 ? 0 : write_batch(a);
	if (!a->asked || scribe_hand_attributes(&a->hand, attribute_of(w, a->queue[0]->source), a->batch,
						w->config.layout_deadline_ms) < 0) {
		a->in_vain = true;
		end_batch(a);
	}
}

/* What has been answered; with a hand that hangs, as far as it came. */
static void take_answers(struct scribe_attrs *a)
{
	off_t at = (off_t)a->said;
	struct stat st;

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
			continue; /* it has none, or is gone: what it said before stays */
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

void scribe_attrs_tick(struct scribe_work *w)
{
	struct scribe_attrs *a = w->attrs;
	int rc;

	if (!a || a->hung || a->in_vain || (!a->n && !a->asked))
		return;
	if (a->asked) {
		if (!scribe_hand_answered(&a->hand, &rc))
			return;
		take_answers(a);
		end_batch(a);
		if (rc < 0) {
			a->hung = true;
			scribe_hand_stop(&a->hand);
			return;
		}
	}
	if (a->n)
		ask(w);
}

static void again(struct scribe_attrs *a, const struct scribe_records *r)
{
	for (size_t i = 0; r && i < r->n; i++) {
		struct attr *at = scribe_map_get(&a->by_id, r->file[i]->id);

		if (at)
			enqueue(a, at);
	}
}

/* Files that only ranks elsewhere have used: on a file system that all nodes share. */
static void want_theirs(struct scribe_work *w, int fd)
{
	struct scribe_reader *r = NULL;
	struct scribe_name name;
	struct scribe_err err;

	if (scribe_reader_open_fd(fd, "the ranks' log", &r, &err) < 0)
		return;
	while (scribe_reader_next_name(r, &name) > 0) {
		const struct scribe_label *label = scribe_labels_by_id(&w->labels, name.id);

		if (!label && name.len && name.bytes[0] == '/' && !memchr(name.bytes, 0, name.len) &&
		    source_of(w, name.bytes))
			label = scribe_labels_intern(&w->labels, name.bytes, name.len);
		if (label)
			scribe_attrs_want(w, label);
	}
	scribe_reader_free(r);
}

void scribe_attrs_again(struct scribe_work *w, const struct scribe_unit *u, int theirs)
{
	if (theirs >= 0)
		want_theirs(w, theirs);
	if (!w->attrs)
		return;
	for (size_t i = 0; i < u->ranks.places; i++) {
		const struct scribe_rank *r = u->ranks.place[i].value;

		if (r) {
			again(w->attrs, r->records);
			again(w->attrs, r->fetched);
		}
	}
	w->attrs->until_ns = scribe_now_ns() + (uint64_t)w->config.layout_deadline_ms * 1000000;
}

bool scribe_attrs_settled(struct scribe_work *w)
{
	const struct scribe_attrs *a = w->attrs;

	scribe_attrs_tick(w);
	return !a || a->hung || a->in_vain || (!a->n && !a->asked) || scribe_now_ns() >= a->until_ns;
}

const void *scribe_attrs_get(const struct scribe_work *w, const struct scribe_source *source, uint64_t id,
			     size_t *ret_bytes)
{
	const struct attr *at = w->attrs ? scribe_map_get(&w->attrs->by_id, id) : NULL;

	if (!at || at->source != source)
		return NULL;
	*ret_bytes = at->bytes;
	return at->value;
}

uint64_t scribe_attrs_silent(const struct scribe_work *w)
{
	const struct scribe_attrs *a = w->attrs;
	uint64_t n = 0;

	for (size_t i = 0; a && i < a->by_id.places; i++) {
		const struct attr *at = a->by_id.place[i].value;

		n += at && !at->answered;
	}
	return n;
}

struct scribe_attrs *scribe_attrs_free(struct scribe_attrs *a)
{
	if (!a)
		return NULL;
	for (size_t i = 0; i < a->by_id.places; i++) {
		struct attr *at = a->by_id.place[i].value;

		if (at)
			free(at->value);
		free(at);
	}
	scribe_map_clear(&a->by_id);
	free(a->queue);
	if (a->batch >= 0)
		close(a->batch);
	scribe_hand_stop(&a->hand);
	free(a);
	return NULL;
}
