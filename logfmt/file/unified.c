/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header and table of modules of the single-region layout (docs/format.md, same title), decoded into what the
 * reader has for Darshan's. Trusts no byte. Must not read files or know what a module means.
 */
#include "logfmt/file/unified.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/header.h"
#include "logfmt/file/layout.h"

/* Precedes a module's strings. */
struct entry {
	uint16_t id, flags;
	uint32_t version;
	uint32_t record_bytes;
	uint16_t ncounters, nfcounters;
	uint32_t counters_at, fcounters_at;
};
_Static_assert(sizeof(struct entry) == 24, "entry of the table of modules");

bool scribe_unified_is(const void *bytes, size_t len)
{
	static const char magic[] = SCRIBE_UNIFIED_MAGIC;

	return len >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

static void swap_header(struct scribe_unified_header *h)
{
	h->version = __builtin_bswap32(h->version);
	h->flags = __builtin_bswap16(h->flags);
	scribe_swap_words(&h->names_bytes, 3);
}

static int check_header(const char *label, const struct scribe_unified_header *h, struct scribe_err *err)
{
	/* Undefined values are refused, not ignored, because a flag can change how records are laid out. */
	if (h->version != SCRIBE_UNIFIED_VERSION)
		return scribe_err_set(err, -SCRIBE_E_VERSION,
				      "%.200s: header: version %u of the single-region layout, this program knows %d",
				      label, h->version, SCRIBE_UNIFIED_VERSION);
	if (h->comp_type > SCRIBE_COMP_ZSTD)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: header: unknown compression %d at offset 20",
				      label, h->comp_type);
	if (h->filter > SCRIBE_UNIFIED_COLUMNS)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: header: unknown filter %d at offset 21", label,
				      h->filter);
	if (h->flags & ~SCRIBE_UNIFIED_SORTED)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: header: unknown flags 0x%x at offset 22", label,
				      h->flags);
	return 0;
}

static int check_sizes(const char *label, const struct scribe_unified_header *h, uint64_t file, struct scribe_err *err)
{
	const uint64_t bytes[] = {h->names_bytes, h->records_bytes, h->job_bytes};
	uint64_t left = file - sizeof(*h);

	for (size_t i = 0; i < 3; i++) {
		if (bytes[i] > left)
			return scribe_err_set(err, -SCRIBE_E_TRUNCATED,
					      "%.200s: header: regions of %llu, %llu and %llu bytes are not within the "
					      "file (%llu bytes): the file is cut short",
					      label, (unsigned long long)bytes[0], (unsigned long long)bytes[1],
					      (unsigned long long)bytes[2], (unsigned long long)file);
		left -= bytes[i];
	}
	if (left)
		return scribe_err_set(err, -SCRIBE_E_FORMAT,
				      "%.200s: %llu bytes behind the last region, which belong to nothing", label,
				      (unsigned long long)left);
	if (h->job_bytes == 0)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: header: no job region", label);
	return 0;
}

/* The modules' maps are set later from the table; each is the region of records. */
int scribe_unified_decode(const char *label, const void *bytes, size_t len, struct scribe_log_header *ret_header,
			  struct scribe_log_map *ret_records, bool *ret_sorted, bool *ret_columns,
			  struct scribe_reader_info *info, struct scribe_err *err)
{
	struct scribe_unified_header h;
	int rc;

	if (len < sizeof(h))
		return scribe_err_set(err, -SCRIBE_E_TRUNCATED,
				      "%.200s: header: %zu of %zu bytes: the file is cut short", label, len, sizeof(h));
	memcpy(&h, bytes, sizeof(h));
	info->swapped = h.order == (int64_t)__builtin_bswap64(SCRIBE_LOG_MAGIC);
	if (!info->swapped && h.order != SCRIBE_LOG_MAGIC)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: header: wrong magic number at offset 8", label);
	if (info->swapped)
		swap_header(&h);
	rc = check_header(label, &h, err);
	if (rc == 0)
		rc = check_sizes(label, &h, info->file_bytes, err);
	if (rc)
		return rc;
	memset(ret_header, 0, sizeof(*ret_header));
	memcpy(ret_header->version, SCRIBE_LOG_VERSION, sizeof(SCRIBE_LOG_VERSION));
	ret_header->magic = SCRIBE_LOG_MAGIC;
	ret_header->comp_type = h.comp_type;
	ret_header->name_map = (struct scribe_log_map){sizeof(h), h.names_bytes};
	*ret_records = (struct scribe_log_map){sizeof(h) + h.names_bytes, h.records_bytes};
	*ret_columns = h.filter == SCRIBE_UNIFIED_COLUMNS;
	*ret_sorted = h.flags & SCRIBE_UNIFIED_SORTED;
	info->layout = SCRIBE_LAYOUT_UNIFIED;
	info->version = 341;
	info->comp_type = h.comp_type;
	info->job_off = ret_records->off + h.records_bytes;
	info->job_len = h.job_bytes;
	info->records_len = h.records_bytes;
	return 0;
}

struct cursor {
	const char *at, *end;
};

/* A name of 1 to 63 printable characters. 1; 0: invalid; -1: the table ends within. */
static int take_text(struct cursor *c)
{
	const char *nul = memchr(c->at, 0, (size_t)(c->end - c->at));
	size_t len = nul ? (size_t)(nul - c->at) : 0;

	if (!nul)
		return -1;
	for (size_t i = 0; i < len; i++)
		if (c->at[i] <= ' ' || c->at[i] > '~')
			len = 0;
	c->at = nul + 1;
	return len > 0 && len < SCRIBE_UNIFIED_NAME_BYTES;
}

static int bad_table(const char *label, struct scribe_err *err, int code, const char *what)
{
	return scribe_err_set(err, code, "%.200s: job region: table of modules: %s", label, what);
}

static void swap_entry(struct entry *e)
{
	e->id = __builtin_bswap16(e->id);
	e->flags = __builtin_bswap16(e->flags);
	e->version = __builtin_bswap32(e->version);
	e->record_bytes = __builtin_bswap32(e->record_bytes);
	e->ncounters = __builtin_bswap16(e->ncounters);
	e->nfcounters = __builtin_bswap16(e->nfcounters);
	e->counters_at = __builtin_bswap32(e->counters_at);
	e->fcounters_at = __builtin_bswap32(e->fcounters_at);
}

static bool counters_fit(uint32_t at, unsigned n, uint32_t record_bytes)
{
	uint32_t capacity = record_bytes ? record_bytes : SCRIBE_MAX_RECORD_BYTES;

	if (n == 0)
		return true;
	return n <= SCRIBE_UNIFIED_COUNTERS && at % 8 == 0 && at >= sizeof(struct scribe_base_record) &&
	       at <= capacity && n <= (capacity - at) / 8;
}

/* One allocation with the strings at its end. `text`: names of the module, its integers, its reals. */
static struct scribe_module *describe(const struct entry *e, const char *text, size_t text_bytes)
{
	size_t n = (size_t)e->ncounters + e->nfcounters;
	struct scribe_module *m = calloc(1, sizeof(*m) + n * sizeof(struct scribe_counter) + text_bytes);
	struct scribe_counter *counters;
	char *names;

	if (!m)
		return NULL;
	counters = (struct scribe_counter *)(m + 1);
	names = (char *)(counters + n);
	memcpy(names, text, text_bytes);
	m->id = e->id;
	m->name = m->prefix = names;
	m->version = m->accepts = e->version;
	m->record_bytes = e->record_bytes;
	m->ncounters = e->ncounters;
	m->nfcounters = e->nfcounters;
	m->counters_at = e->counters_at;
	m->fcounters_at = e->fcounters_at;
	m->counters = counters;
	m->fcounters = counters + e->ncounters;
	for (size_t i = 0; i < n; i++) {
		/* KEEP, because it is unknown how such counters are added. */
		names += strlen(names) + 1;
		counters[i] = (struct scribe_counter){.name = names, .text = "", .rule = SCRIBE_RULE_KEEP};
	}
	return m;
}

/* One entry, its strings in *ret_text. */
static int take_entry(const char *label, struct cursor *c, bool swapped, struct entry *e, const char **ret_text,
		      struct scribe_err *err)
{
	if ((size_t)(c->end - c->at) < sizeof(*e))
		return bad_table(label, err, -SCRIBE_E_TRUNCATED, "ends in the middle of a module");
	memcpy(e, c->at, sizeof(*e));
	c->at += sizeof(*e);
	if (swapped)
		swap_entry(e);
	if (e->id >= SCRIBE_EXACT_NAMES)
		return bad_table(label, err, -SCRIBE_E_LIMIT, "a module id beyond 62");
	if (e->flags & ~(SCRIBE_UNIFIED_PARTIAL | SCRIBE_UNIFIED_RECORDS | SCRIBE_UNIFIED_OWN_CODE))
		return bad_table(label, err, -SCRIBE_E_FORMAT, "unknown flags");
	*ret_text = c->at;
	for (int i = 0; i < 1 + e->ncounters + e->nfcounters; i++) {
		int rc = take_text(c);

		if (rc < 0)
			return bad_table(label, err, -SCRIBE_E_TRUNCATED, "ends in the middle of a name");
		if (rc == 0)
			return bad_table(label, err, -SCRIBE_E_FORMAT,
					 "a name that is not 1 to 63 printing characters");
	}
	return 0;
}

static int take_module(const char *label, const struct entry *e, const char *text, size_t text_bytes,
		       const struct scribe_log_map *records, struct scribe_log_header *header,
		       struct scribe_reader_info *info, struct scribe_unified_table *table, struct scribe_err *err)
{
	if (e->flags & SCRIBE_UNIFIED_PARTIAL)
		header->partial_flag |= 1ull << e->id;
	header->mod_ver[e->id] = e->version;
	if (!(e->flags & SCRIBE_UNIFIED_RECORDS))
		return 0;
	if (records->len == 0)
		return bad_table(label, err, -SCRIBE_E_FORMAT, "a module with records, and no record in the log");
	header->mod_map[e->id] = *records;
	if (scribe_module_by_id(e->id))
		return 0;
	info->unknown |= 1ull << e->id;
	if (e->flags & SCRIBE_UNIFIED_OWN_CODE)
		info->opaque |= 1ull << e->id;
	if (e->record_bytes > SCRIBE_MAX_RECORD_BYTES ||
	    (e->record_bytes && e->record_bytes < sizeof(struct scribe_base_record)) ||
	    !counters_fit(e->counters_at, e->ncounters, e->record_bytes) ||
	    !counters_fit(e->fcounters_at, e->nfcounters, e->record_bytes))
		return bad_table(label, err, -SCRIBE_E_FORMAT, "counters that are not within their record");
	table->modules[e->id] = describe(e, text, text_bytes);
	return table->modules[e->id] ? 0 : bad_table(label, err, -ENOMEM, "out of memory");
}

int scribe_unified_table_decode(const char *label, const void *bytes, size_t len, const struct scribe_log_map *records,
				struct scribe_log_header *header, struct scribe_reader_info *info,
				struct scribe_unified_table *table, struct scribe_err *err)
{
	struct cursor c = {bytes, (const char *)bytes + len};
	uint64_t seen = 0;
	uint32_t n;
	int rc = 0;

	if (len < sizeof(n))
		return bad_table(label, err, -SCRIBE_E_TRUNCATED, "missing");
	memcpy(&n, c.at, sizeof(n));
	c.at += sizeof(n);
	if (info->swapped)
		n = __builtin_bswap32(n);
	if (n > SCRIBE_MAX_MODULES)
		return bad_table(label, err, -SCRIBE_E_LIMIT, "more than 64 modules");
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		struct entry e;
		const char *text = c.at;

		rc = take_entry(label, &c, info->swapped, &e, &text, err);
		if (rc == 0 && seen >> e.id & 1)
			rc = bad_table(label, err, -SCRIBE_E_FORMAT, "a module twice");
		if (rc)
			return rc;
		seen |= 1ull << e.id;
		rc = take_module(label, &e, text, (size_t)(c.at - text), records, header, info, table, err);
	}
	if (rc == 0 && c.at != c.end)
		rc = bad_table(label, err, -SCRIBE_E_FORMAT, "bytes behind its end");
	return rc;
}

void scribe_unified_table_free(struct scribe_unified_table *table)
{
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		free(table->modules[i]);
		table->modules[i] = NULL;
	}
}

size_t scribe_unified_entry_encode(int id, const struct scribe_module *m, const char *label, unsigned version,
				   unsigned flags, void *out, size_t cap)
{
	struct entry e = {.id = (uint16_t)id, .flags = (uint16_t)flags, .version = version};
	const char *name = m ? m->name : label;
	size_t n = sizeof(e) + strlen(name) + 1;
	char *to = out;

	if (m) {
		e.record_bytes = (uint32_t)m->record_bytes;
		e.ncounters = (uint16_t)m->ncounters;
		e.nfcounters = (uint16_t)m->nfcounters;
		e.counters_at = m->ncounters ? (uint32_t)m->counters_at : 0;
		e.fcounters_at = m->nfcounters ? (uint32_t)m->fcounters_at : 0;
	}
	for (int i = 0; i < e.ncounters; i++)
		n += strlen(m->counters[i].name) + 1;
	for (int i = 0; i < e.nfcounters; i++)
		n += strlen(m->fcounters[i].name) + 1;
	if (cap < n)
		return n;
	memcpy(to, &e, sizeof(e));
	to = stpcpy(to + sizeof(e), name) + 1;
	for (int i = 0; i < e.ncounters; i++)
		to = stpcpy(to, m->counters[i].name) + 1;
	for (int i = 0; i < e.nfcounters; i++)
		to = stpcpy(to, m->fcounters[i].name) + 1;
	return n;
}
