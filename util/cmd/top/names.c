// SPDX-License-Identifier: BSD-3-Clause
/*
 * File names for `ioscribe top`, requested for shown rows and kept by record id. Must not know where they are
 * shown.
 */
#include "util/cmd/top/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/names.h"

#define KEPT_MAX (1u << 18) /* names, then all are dropped */

struct scribe_top_names {
	struct scribe_names *known;
};

struct scribe_top_names *scribe_top_names_new(void)
{
	struct scribe_top_names *n = calloc(1, sizeof(*n));

	if (n)
		n->known = scribe_names_new();
	return n && n->known ? n : scribe_top_names_free(n);
}

struct scribe_top_names *scribe_top_names_free(struct scribe_top_names *n)
{
	if (n && n->known)
		scribe_names_free(n->known);
	free(n);
	return NULL;
}

static int take(void *ctx, uint64_t id, const char *name, size_t bytes)
{
	struct scribe_top_names *n = ctx;

	return scribe_names_add(n->known, id, name, bytes);
}

static int forget_all(struct scribe_top_names *n)
{
	struct scribe_names *fresh = scribe_names_new();

	if (!fresh)
		return -ENOMEM;
	scribe_names_free(n->known);
	n->known = fresh;
	return 0;
}

int scribe_top_names_fetch(struct scribe_top_names *n, struct scribe_live_link *link,
			   const struct scribe_top_rows *rows, size_t first, size_t end, struct scribe_err *err)
{
	const struct scribe_live_job *job = NULL;
	uint64_t id[SCRIBE_LIVE_NAMES_MAX];
	size_t asked = 0;
	int rc = scribe_names_count(n->known) > KEPT_MAX ? forget_all(n) : 0;

	for (size_t i = first; i < end && i < rows->n && rc == 0; i++) {
		const struct scribe_top_row *r = &rows->row[i];

		if (!r->name || scribe_names_find(n->known, r->name, NULL))
			continue;
		if (asked && (r->job != job || asked == SCRIBE_LIVE_NAMES_MAX)) {
			rc = scribe_live_names(link, job, id, asked, take, n, err);
			asked = 0;
		}
		job = r->job;
		id[asked++] = r->name;
	}
	if (rc == 0 && asked)
		rc = scribe_live_names(link, job, id, asked, take, n, err);
	return rc;
}

const char *scribe_top_name(const struct scribe_top_names *n, const struct scribe_top_row *row, size_t *len)
{
	const char *name = row->name ? scribe_names_find(n->known, row->name, len) : NULL;

	if (name)
		return name;
	name = row->folded ? "<folded>" : "<unnamed>";
	*len = strlen(name);
	return name;
}
