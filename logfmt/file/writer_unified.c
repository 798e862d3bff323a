/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The writer's single-region layout (docs/format.md, same title): names, one region of records, job record with
 * the table of modules. Must not know what a module means.
 */
#include "logfmt/file/writer_unified.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/file/blocks.h"
#include "logfmt/file/header.h"
#include "logfmt/file/writer_put.h"

#define FEW 4 /* fewer records do not justify a block's head */

static bool has_columns(const struct scribe_writer *w)
{
	/* Only a compressor gains from transposed records. */
	return !w->options.rows && w->options.compression != SCRIBE_COMP_NONE;
}

static int flush_block(struct scribe_writer *w)
{
	size_t n = w->block_stride ? w->block_have / w->block_stride : 0, stride = w->block_stride;
	struct scribe_block_head head = {(uint32_t)n, (uint32_t)stride};
	unsigned char *to;
	int rc;

	w->block_have = w->block_stride = 0;
	if (n == 0)
		return 0;
	if (n >= FEW) {
		to = w->block + SCRIBE_BLOCK_BYTES;
		scribe_block_transpose(w->block, n, stride, to);
		rc = scribe_log_put(w, &head, sizeof(head));
		return rc ? rc : scribe_log_put(w, to, n * stride);
	}
	head.count = 1;
	for (size_t i = 0; i < n; i++) {
		rc = scribe_log_put(w, &head, sizeof(head));
		if (rc == 0)
			rc = scribe_log_put(w, w->block + i * stride, stride);
		if (rc)
			return rc;
	}
	return 0;
}

static int put_framed(struct scribe_writer *w, const struct scribe_unified_base *base, const void *bytes)
{
	size_t n = (size_t)base->bytes, stride = sizeof(*base) + n;
	struct scribe_block_head head = {1, (uint32_t)stride};
	bool lone = stride > SCRIBE_BLOCK_BYTES / 2;
	int rc = 0;

	if (has_columns(w) && !w->block) {
		w->block = malloc(2 * (size_t)SCRIBE_BLOCK_BYTES);
		if (!w->block)
			return scribe_log_put_failed(w, -ENOMEM, "record");
	}
	if (w->block_have && (stride != w->block_stride || w->block_have + stride > SCRIBE_BLOCK_BYTES))
		rc = flush_block(w);
	if (rc == 0 && has_columns(w) && !lone) {
		memcpy(w->block + w->block_have, base, sizeof(*base));
		memcpy(w->block + w->block_have + sizeof(*base), bytes, n);
		w->block_have += stride;
		w->block_stride = stride;
		return 0;
	}
	if (rc == 0 && has_columns(w))
		rc = scribe_log_put(w, &head, sizeof(head));
	if (rc == 0)
		rc = scribe_log_put(w, base, sizeof(*base));
	return rc ? rc : scribe_log_put(w, bytes, n);
}

/* The open stage gives the module. */
static int put_one(struct scribe_writer *w, const struct scribe_base_record *who, const void *bytes, size_t n,
		   unsigned flags)
{
	int module = w->stage - STAGE_MODULES;
	struct scribe_unified_base base = {
		.id = who->id,
		.rank = who->rank,
		.bytes = n,
		.module = (uint16_t)module,
		.flags = (uint16_t)flags,
		.version = w->header.mod_ver[module],
	};

	w->present |= 1ull << module;
	return put_framed(w, &base, bytes);
}

/* The rest of an opaque module as one record. */
static int flush_chunk(struct scribe_writer *w)
{
	const struct scribe_base_record nobody = {0, -1};
	size_t n = w->chunk_have;

	if (n == 0)
		return 0;
	w->chunk_have = 0;
	return put_one(w, &nobody, w->chunk, n, SCRIBE_UNIFIED_OPAQUE);
}

int scribe_unified_put_stage(struct scribe_writer *w, int stage)
{
	int rc = flush_chunk(w);

	if (rc == 0)
		rc = flush_block(w);
	w->single = false;
	if (rc)
		return rc;
	/* All modules share one region, and the job record waits until the table of modules is known. */
	if (stage == STAGE_JOB || (stage < STAGE_TABLE && w->stage >= STAGE_MODULES)) {
		w->stage = stage;
		return 0;
	}
	rc = scribe_log_put_end(w);
	return rc ? rc : scribe_log_put_begin(w, stage);
}

int scribe_unified_put_name(struct scribe_writer *w, uint64_t id, const char *bytes, size_t len)
{
	bool derived = scribe_record_id(bytes, len) == id;
	uint32_t word = (uint32_t)len << 1 | derived;
	int rc;

	if (len == 0 || !memchr(bytes, 0, len))
		w->plain_name = true;
	else if (w->plain_name)
		return scribe_err_set(&w->err, -SCRIBE_E_ORDER,
				      "log written out of order: a name with a NUL after names without");
	rc = scribe_log_put(w, &word, sizeof(word));
	if (rc == 0 && !derived)
		rc = scribe_log_put(w, &id, sizeof(id));
	return rc ? rc : scribe_log_put(w, bytes, len);
}

int scribe_unified_put_record(struct scribe_writer *w, int module, const void *rec, size_t len)
{
	const struct scribe_base_record *who = rec;
	char buf[24];

	if (who->rank != -1)
		w->single = true;
	else if (w->single)
		return scribe_err_set(&w->err, -SCRIBE_E_ORDER,
				      "log written out of order: a shared record of %s after records of single ranks",
				      scribe_module_label(module, buf));
	return put_one(w, who, (const char *)rec + sizeof(*who), len - sizeof(*who), 0);
}

int scribe_unified_put_raw(struct scribe_writer *w, const void *bytes, size_t len)
{
	const char *p = bytes;
	int rc = 0;

	if (!w->chunk)
		w->chunk = malloc(SCRIBE_UNIFIED_CHUNK);
	if (!w->chunk)
		return scribe_log_put_failed(w, -ENOMEM, "record");
	w->opaque |= 1ull << (w->stage - STAGE_MODULES);
	while (len > 0 && rc == 0) {
		size_t capacity = SCRIBE_UNIFIED_CHUNK - w->chunk_have;
		size_t n = len < capacity ? len : capacity;

		memcpy(w->chunk + w->chunk_have, p, n);
		w->chunk_have += n;
		p += n;
		len -= n;
		if (w->chunk_have == SCRIBE_UNIFIED_CHUNK)
			rc = flush_chunk(w);
	}
	return rc;
}

/* For a module with records or with lost ones. */
static int put_entry(struct scribe_writer *w, int id)
{
	const struct scribe_module *known = scribe_module_by_id(id);
	bool present = w->present >> id & 1, opaque = w->opaque >> id & 1;
	unsigned flags = 0;
	char label[SCRIBE_UNIFIED_NAME_BYTES];
	size_t n;
	int rc;

	snprintf(label, sizeof(label), "module_%d", id); /* one word, so that it is printable */
	if (w->header.partial_flag >> id & 1)
		flags |= SCRIBE_UNIFIED_PARTIAL;
	if (present)
		flags |= SCRIBE_UNIFIED_RECORDS;
	if (opaque)
		flags |= SCRIBE_UNIFIED_OWN_CODE;
	known = opaque ? NULL : known ? known : w->described[id];
	n = scribe_unified_entry_encode(id, known, label, w->header.mod_ver[id], flags, NULL, 0);
	rc = scribe_log_put_scratch(w, n);
	if (rc)
		return rc;
	scribe_unified_entry_encode(id, known, label, w->header.mod_ver[id], flags, w->scratch, n);
	return scribe_log_put(w, w->scratch, n);
}

int scribe_unified_put_finish(struct scribe_writer *w)
{
	struct scribe_unified_header *h = &w->unified;
	uint64_t listed;
	uint32_t n;
	int rc = scribe_unified_put_stage(w, STAGE_TABLE);

	listed = w->present | w->header.partial_flag;
	n = (uint32_t)__builtin_popcountll(listed);
	if (rc == 0)
		rc = scribe_log_put(w, w->job, w->job_bytes);
	if (rc == 0)
		rc = scribe_log_put(w, &n, sizeof(n));
	for (int i = 0; i < SCRIBE_MAX_MODULES && rc == 0; i++)
		rc = listed >> i & 1 ? put_entry(w, i) : 0;
	if (rc == 0)
		rc = scribe_log_put_end(w);
	if (rc)
		return rc;
	memcpy(h->magic, SCRIBE_UNIFIED_MAGIC, sizeof(h->magic));
	h->order = SCRIBE_LOG_MAGIC;
	h->version = SCRIBE_UNIFIED_VERSION;
	h->comp_type = (uint8_t)w->options.compression;
	h->filter = has_columns(w) ? SCRIBE_UNIFIED_COLUMNS : 0;
	/* True because the writer accepts modules only in ascending order. */
	h->flags = SCRIBE_UNIFIED_SORTED;
	return scribe_log_put_at(w, h, sizeof(*h), 0);
}
