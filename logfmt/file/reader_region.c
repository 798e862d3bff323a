/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader's regions as streams. In Darshan's layout each module has its own; in the single-region layout a module's
 * stream filters the region of all records. Owns r->parked. Must not know names or records.
 */
#include "logfmt/file/reader_region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/blocks.h"

/* Back to the first record, without a failure. */
void scribe_log_region_reset(struct scribe_log_region *g)
{
	g->stream = scribe_region_stream_free(g->stream);
	free(g->var.scratch.bytes);
	free(g->fixed);
	memset(g, 0, sizeof(*g));
}

void scribe_log_label(char *to, size_t cap, const char *text)
{
	size_t n = strnlen(text, cap - 1);

	memcpy(to, text, n);
	to[n] = 0;
}

static int no_memory(struct scribe_reader *r, struct scribe_log_region *g)
{
	return g->failed = scribe_err_set(&r->err, -ENOMEM, "%.160s: out of memory", r->label);
}

int scribe_log_region_open(struct scribe_reader *r, struct scribe_log_region *g, const char *name,
			   const struct scribe_log_map *map)
{
	if (g->failed || g->stream)
		return g->failed;
	scribe_log_label(g->name, sizeof(g->name), name);
	g->stream = scribe_region_stream_new(r->fd, r->label, g->name, map->off, map->len, r->header.comp_type);
	return g->stream ? 0 : no_memory(r, g);
}

static struct scribe_framed *records(struct scribe_reader *r, int module)
{
	struct scribe_framed *f = r->parked;
	struct scribe_region_stream *plain;
	uint64_t modules = 0;

	/* A lower module needs the region from its start again. */
	if (f && scribe_framed_module(f) <= module) {
		r->parked = NULL;
		return f;
	}
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		modules |= r->header.mod_map[i].len ? 1ull << i : 0;
	plain = scribe_region_stream_new(r->fd, r->label, "record", r->records.off, r->records.len,
					 r->header.comp_type);
	if (r->columns)
		plain = scribe_blocks_stream(plain, r->info.swapped, r->label, "record");
	return scribe_framed_new(plain, r->info.swapped, r->sorted, modules);
}

int scribe_log_region_module(struct scribe_reader *r, int module, const char *name, size_t fixed_bytes, bool raw)
{
	struct scribe_log_region *g = &r->modules[module];
	const struct scribe_framed_want want = {
		.module = module, .version = r->header.mod_ver[module], .fixed_bytes = fixed_bytes, .raw = raw};

	if (r->info.layout != SCRIBE_LAYOUT_UNIFIED)
		return scribe_log_region_open(r, g, name, &r->header.mod_map[module]);
	if (g->failed || g->stream)
		return g->failed;
	scribe_log_label(g->name, sizeof(g->name), name);
	g->stream = scribe_framed_stream(records(r, module), r->label, g->name, &want);
	return g->stream ? 0 : no_memory(r, g);
}

void scribe_log_region_park(struct scribe_reader *r, int module)
{
	struct scribe_log_region *g = &r->modules[module];
	struct scribe_framed *f;

	/* With ascending modules the region is decompressed only once. Otherwise records could follow anywhere. */
	if (r->info.layout != SCRIBE_LAYOUT_UNIFIED || !g->stream || !r->sorted)
		return;
	f = scribe_framed_take(g->stream);
	if (!f)
		return;
	scribe_framed_free(r->parked);
	r->parked = scribe_framed_module(f) < 0 ? scribe_framed_free(f) : f;
}
