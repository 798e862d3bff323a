/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The single-region layout: what is written is what is read, in every compression and the other
 * byte order; modules that nobody knows; order; damage.
 */
#include "logfmt_support.h"

#include <errno.h>

#include "logfmt/base/hash.h"
#include "logfmt/file/blocks.h"
#include "logfmt/file/unified.h"

static const enum scribe_compression all_compressions[] = {SCRIBE_COMP_ZLIB, SCRIBE_COMP_BZIP2, SCRIBE_COMP_NONE,
							   SCRIBE_COMP_ZSTD};

/* A module of tomorrow: two integers, a gap, one real. */
static const struct scribe_counter later_counters[] = {{"LATER_CALLS", "", SCRIBE_RULE_SUM},
						       {"LATER_BYTES", "", SCRIBE_RULE_SUM}};
static const struct scribe_counter later_fcounters[] = {{"LATER_F_TIME", "", SCRIBE_RULE_SUM}};
static const struct scribe_module later = {.id = 33,
					   .name = "LATER",
					   .prefix = "LATER",
					   .version = 7,
					   .accepts = 7,
					   .record_bytes = 48,
					   .ncounters = 2,
					   .nfcounters = 1,
					   .counters_at = 16,
					   .fcounters_at = 40,
					   .counters = later_counters,
					   .fcounters = later_fcounters};

struct later_record {
	struct scribe_base_record base;
	int64_t calls, bytes, gap;
	double time;
};
_Static_assert(sizeof(struct later_record) == 48, "as described");

static struct scribe_writer *begin(int fd, enum scribe_compression comp)
{
	struct scribe_writer_options o = {.compression = comp, .layout = SCRIBE_LAYOUT_UNIFIED};
	struct scribe_writer *w;

	assert_int_equal(scribe_writer_create_fd(fd, &o, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, some_job(), "./app", some_mounts, 3), 0);
	return w;
}

static void end(struct scribe_writer *w)
{
	if (scribe_writer_finish(w))
		fail_msg("%s", scribe_writer_error(w)->text);
	scribe_writer_free(w);
}

/* Two POSIX records (shared first), two of a module of tomorrow, one opaque module, two names. */
static int small_log(enum scribe_compression comp)
{
	int fd = memory_file();
	struct scribe_writer *w = begin(fd, comp);
	struct scribe_posix_record posix = {.base = {scribe_record_id("/a", 2), -1}, .counters = {3, 4}};
	struct later_record rec = {.base = {9, 2}, .calls = 5, .bytes = 6, .time = 0.5};

	assert_int_equal(scribe_writer_name(w, scribe_record_id("/a", 2), "/a", 2), 0);
	assert_int_equal(scribe_writer_name(w, 9, "nine", 4), 0);
	assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_POSIX, &posix, sizeof(posix)), 0);
	posix.base.rank = 1;
	assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_POSIX, &posix, sizeof(posix)), 0);
	assert_int_equal(scribe_writer_raw(w, SCRIBE_MOD_APXC, 1, "cray", 4), 0);
	assert_int_equal(scribe_writer_module(w, &later), 0);
	assert_int_equal(scribe_writer_record(w, 33, &rec, sizeof(rec)), 0);
	rec.base.rank = 3;
	assert_int_equal(scribe_writer_record(w, 33, &rec, sizeof(rec)), 0);
	scribe_writer_partial(w, SCRIBE_MOD_STDIO);
	end(w);
	return fd;
}

static void check_later(struct scribe_reader *r)
{
	const struct scribe_module *m = scribe_reader_module(r, 33);
	const struct later_record *rec;
	const void *p;
	size_t len;

	assert_non_null(m);
	assert_string_equal(m->name, "LATER");
	assert_int_equal(m->version, 7);
	assert_string_equal(scribe_counter_name(m, 1), "LATER_BYTES");
	assert_string_equal(scribe_fcounter_name(m, 0), "LATER_F_TIME");
	for (int rank = 2; rank < 4; rank++) {
		assert_int_equal(scribe_reader_borrow_record(r, 33, &p, &len), 1);
		assert_int_equal(len, sizeof(*rec));
		rec = p;
		assert_int_equal(rec->base.id, 9);
		assert_int_equal(rec->base.rank, rank);
		assert_int_equal(scribe_record_counters(m, p)[0], 5);
		assert_int_equal(scribe_record_counters(m, p)[1], 6);
		assert_true(scribe_record_fcounters(m, p)[0] == 0.5);
	}
	assert_int_equal(scribe_reader_borrow_record(r, 33, &p, &len), 0);
}

static void check_small(int fd)
{
	struct scribe_reader *r = must_open(fd);
	struct scribe_posix_record posix;
	struct scribe_name name;
	const void *p;
	size_t len;

	assert_int_equal(scribe_reader_info(r)->layout, SCRIBE_LAYOUT_UNIFIED);
	assert_int_equal(scribe_reader_info(r)->unknown, 1ull << 33 | 1ull << SCRIBE_MOD_APXC);
	assert_int_equal(scribe_reader_info(r)->opaque, 1ull << SCRIBE_MOD_APXC);
	assert_int_equal(scribe_reader_header(r)->partial_flag, 1ull << SCRIBE_MOD_STDIO);
	assert_true(scribe_reader_has(r, SCRIBE_MOD_POSIX));
	assert_false(scribe_reader_has(r, SCRIBE_MOD_STDIO));
	assert_false(scribe_reader_has(r, 33));
	assert_string_equal(scribe_reader_exe(r), "./app");
	assert_int_equal(scribe_reader_next_name(r, &name), 1);
	assert_int_equal(name.id, scribe_record_id("/a", 2));
	assert_string_equal(name.bytes, "/a");
	assert_int_equal(scribe_reader_next_name(r, &name), 1);
	assert_int_equal(name.id, 9);
	assert_string_equal(name.bytes, "nine");
	assert_int_equal(scribe_reader_next_name(r, &name), 0);
	check_later(r); /* the last module first */
	for (int rank = -1; rank < 3; rank += 2) {
		assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &posix, sizeof(posix), &len), rank < 2);
		if (rank > 1)
			break;
		assert_int_equal(posix.base.rank, rank);
		assert_int_equal(posix.counters[0], 3);
		assert_int_equal(posix.counters[1], 4);
	}
	assert_int_equal(scribe_reader_borrow_raw(r, SCRIBE_MOD_APXC, &p, &len), 1);
	assert_int_equal(len, 4);
	assert_memory_equal(p, "cray", 4);
	assert_int_equal(scribe_reader_borrow_raw(r, SCRIBE_MOD_APXC, &p, &len), 0);
	scribe_reader_rewind(r, 33);
	check_later(r);
	scribe_reader_rewind(r, SCRIBE_MOD_APXC);
	assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_APXC, &p, &len), -SCRIBE_E_UNSUPPORTED);
	scribe_reader_free(r);
}

static void small_logs(void **state)
{
	for (size_t i = 0; i < sizeof(all_compressions) / sizeof(all_compressions[0]); i++) {
		int fd = small_log(all_compressions[i]);

		check_small(fd);
		close(fd);
	}
}

/* Every module, both layouts: the same records; in turn, and alternately by two readers of one log. */
static void both_layouts_alike(void **state)
{
	for (size_t i = 0; i < sizeof(all_compressions) / sizeof(all_compressions[0]); i++) {
		struct scribe_writer_options o = {.dxt_threads = true};
		uint64_t before = seed;
		int a = random_log(&o, ~0ull, 40, 20), b;
		struct scribe_reader *ra, *rb;
		struct dump da, db;
		const void *p;
		size_t len;

		seed = before;
		o.layout = SCRIBE_LAYOUT_UNIFIED;
		o.compression = all_compressions[i];
		b = random_log(&o, ~0ull, 40, 20);
		ra = must_open(a);
		rb = must_open(b);
		da = dump_reader(ra);
		db = dump_reader(rb);
		assert_same_dump(&da, &db);
		free(db.bytes);
		scribe_reader_rewind_names(rb);
		for (int id = ALL_MODULES - 1; id >= 0; id--) { /* each has its own place in the region */
			scribe_reader_rewind(rb, id);
			if (id % 2 && scribe_reader_has(rb, id))
				assert_int_equal(scribe_reader_borrow_record(rb, id, &p, &len), 1);
			scribe_reader_rewind(rb, id);
		}
		db = dump_reader(rb);
		assert_same_dump(&da, &db);
		free(da.bytes);
		free(db.bytes);
		scribe_reader_free(ra);
		scribe_reader_free(rb);
		close(a);
		close(b);
	}
}

static char *whole(int fd, size_t *ret_n)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *bytes = malloc((size_t)n);

	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, (size_t)n, 0), n);
	*ret_n = (size_t)n;
	return bytes;
}

static int file_of(const char *bytes, size_t n)
{
	int fd = memory_file();

	assert_int_equal(pwrite(fd, bytes, n, 0), n);
	return fd;
}

/* Turn `n` integers of `each` bytes; returns what follows. */
static char *turn(char *p, size_t each, size_t n)
{
	for (size_t i = 0; i < n; i++, p += each)
		for (size_t k = 0; k < each / 2; k++) {
			char c = p[k];

			p[k] = p[each - 1 - k];
			p[each - 1 - k] = c;
		}
	return p;
}

static char *turn_table(char *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	p = turn(p, 4, 1);
	for (uint32_t i = 0; i < n; i++) {
		uint16_t counters[2];

		memcpy(counters, p + 12, sizeof(counters));
		turn(p, 2, 2);
		turn(p + 4, 4, 2);
		turn(p + 12, 2, 2);
		p = turn(p + 16, 4, 2);
		for (int k = 0; k < 1 + counters[0] + counters[1]; k++)
			p += strlen(p) + 1;
	}
	return p;
}

/* small_log as a machine of the other byte order would have written it. */
static void other_byte_order(void **state)
{
	int fd = small_log(SCRIBE_COMP_NONE);
	size_t n;
	char *bytes = whole(fd, &n), *p = bytes + 48, *region;
	struct scribe_unified_header h;

	memcpy(&h, bytes, sizeof(h));
	turn(bytes + 8, 8, 1);
	turn(bytes + 16, 4, 1);
	turn(bytes + 22, 2, 1);
	turn(bytes + 24, 8, 3);
	p = turn(p, 4, 1) + 2;             /* "/a", by its hash */
	p = turn(turn(p, 4, 1), 8, 1) + 4; /* "nine", with its id */
	region = bytes + 48 + h.names_bytes;
	assert_ptr_equal(p, region);
	while (p < region + h.records_bytes) {
		struct scribe_unified_base base;

		memcpy(&base, p, sizeof(base));
		turn(p, 8, 3);
		turn(p + 24, 2, 2);
		turn(p + 28, 4, 1);
		p += 32;
		if (base.module != SCRIBE_MOD_APXC)
			turn(p, 8, base.bytes / 8);
		p += base.bytes;
	}
	p = turn(p, 8, 7) + SCRIBE_JOB_METADATA_BYTES;
	p = turn_table(p + strlen(p) + 1);
	assert_ptr_equal(p, bytes + n);
	close(fd);
	fd = file_of(bytes, n);
	check_small(fd);
	close(fd);
	free(bytes);
}

/* A block of the filter, as another writer may have made it; returns what follows. */
static char *put_block(char *to, const char *records, uint32_t count, uint32_t stride)
{
	memcpy(to, &count, sizeof(count));
	memcpy(to + 4, &stride, sizeof(stride));
	to += 8;
	for (uint32_t k = 0; k < stride; k++)
		for (uint32_t i = 0; i < count; i++)
			*to++ = records[i * stride + k];
	return to;
}

/* small_log's records in blocks: two of POSIX, the opaque one, two of LATER. `heads` are changed from there. */
static char *with_blocks(size_t *ret_n, size_t heads[3])
{
	int fd = small_log(SCRIBE_COMP_NONE);
	struct scribe_unified_header h;
	size_t n, posix = 32 + sizeof(struct scribe_posix_record) - 16;
	char *bytes = whole(fd, &n), *made = malloc(n + 3 * 8), *to, *from;

	close(fd);
	assert_non_null(made);
	memcpy(&h, bytes, sizeof(h));
	from = bytes + 48 + h.names_bytes;
	to = made + 48 + h.names_bytes;
	memcpy(made, bytes, 48 + h.names_bytes);
	heads[0] = (size_t)(to - made);
	to = put_block(to, from, 2, (uint32_t)posix);
	heads[1] = (size_t)(to - made);
	to = put_block(to, from + 2 * posix, 1, 36);
	heads[2] = (size_t)(to - made);
	to = put_block(to, from + 2 * posix + 36, 2, 64);
	memcpy(to, from + h.records_bytes, h.job_bytes);
	h.records_bytes += 3 * 8;
	h.filter = SCRIBE_UNIFIED_COLUMNS;
	memcpy(made, &h, sizeof(h));
	free(bytes);
	*ret_n = n + 3 * 8;
	return made;
}

static void transposed_blocks(void **state)
{
	size_t n, heads[3];
	char *bytes = with_blocks(&n, heads), *columns = malloc(7 * 40), *back = malloc(7 * 40);
	int fd = file_of(bytes, n);

	check_small(fd);
	close(fd);
	assert_non_null(columns);
	assert_non_null(back);
	scribe_block_transpose((unsigned char *)bytes, 7, 40, (unsigned char *)columns);
	assert_int_equal(columns[7 * 3 + 2], bytes[2 * 40 + 3]);
	scribe_block_restore((unsigned char *)columns, 7, 40, (unsigned char *)back);
	assert_memory_equal(back, bytes, 7 * 40);
	free(columns);
	free(back);
	free(bytes);
}

/* Unsorted regions, as ranks that each wrote their own records leave them: every module is found. */
static void not_sorted(void **state)
{
	int fd = small_log(SCRIBE_COMP_NONE);
	struct scribe_reader *r;
	size_t n, posix = 32 + sizeof(struct scribe_posix_record) - 16;
	char *bytes = whole(fd, &n), *one = malloc(posix), *region;
	struct scribe_unified_header h;
	struct scribe_posix_record rec;
	size_t len;

	assert_non_null(one);
	memcpy(&h, bytes, sizeof(h));
	region = bytes + 48 + h.names_bytes;
	memcpy(one, region + posix, posix); /* the second POSIX record goes to the end */
	memmove(region + posix, region + 2 * posix, h.records_bytes - 2 * posix);
	memcpy(region + h.records_bytes - posix, one, posix);
	close(fd);
	fd = file_of(bytes, n);
	r = must_open(fd); /* says that it is sorted: the reader may stop, or find that it is not */
	assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &rec, sizeof(rec), &len), 1);
	assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &rec, sizeof(rec), &len), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(scribe_reader_next_record(r, 33, &rec, sizeof(rec), &len), 1);
	assert_int_equal(scribe_reader_next_record(r, 33, &rec, sizeof(rec), &len), -SCRIBE_E_FORMAT);
	assert_non_null(strstr(scribe_reader_error(r)->text, "a record of module 1 behind one of module 33"));
	scribe_reader_free(r);
	close(fd);
	bytes[22] = 0;
	fd = file_of(bytes, n);
	check_small(fd);
	close(fd);
	free(bytes);
	free(one);
}

/* Names of any bytes, and what readers that take no NUL get of them. */
static void names_of_any_bytes(void **state)
{
	int fd = memory_file();
	struct scribe_writer *w = begin(fd, SCRIBE_COMP_ZLIB);
	struct scribe_reader *r;
	struct scribe_name name;

	assert_int_equal(scribe_writer_name(w, 7, "a\0b", 3), 0);
	assert_int_equal(scribe_writer_name(w, 8, "", 0), 0);
	assert_int_equal(scribe_writer_name(w, 7, "c\0d", 3), -SCRIBE_E_ORDER);
	assert_non_null(strstr(scribe_writer_error(w)->text, "a name with a NUL after names without"));
	end(w);
	for (int plain = 0; plain < 2; plain++) {
		r = must_open(fd);
		scribe_reader_plain_names(r, plain);
		assert_int_equal(scribe_reader_next_name(r, &name), 1);
		assert_int_equal(name.id, 7);
		if (plain)
			assert_string_equal(name.bytes, "a\\x00b");
		else
			assert_memory_equal(name.bytes, "a\0b", 4);
		assert_int_equal(scribe_reader_next_name(r, &name), 1);
		assert_int_equal(name.id, 8);
		assert_int_equal(name.len, 0);
		assert_int_equal(scribe_reader_next_name(r, &name), 0);
		scribe_reader_free(r);
	}
	close(fd);
}

static void order_is_enforced(void **state)
{
	int fd = memory_file();
	struct scribe_writer *w = begin(fd, SCRIBE_COMP_ZLIB);
	struct scribe_posix_record posix = {.base = {1, 4}};
	struct scribe_stdio_record stdio = {.base = {1, -1}};

	assert_int_equal(scribe_writer_module(w, scribe_module_by_id(SCRIBE_MOD_POSIX)), -EINVAL);
	assert_int_equal(scribe_writer_record(w, 33, &posix, sizeof(posix)), -EINVAL);
	assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_POSIX, &posix, sizeof(posix)), 0);
	posix.base.rank = -1;
	assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_POSIX, &posix, sizeof(posix)), -SCRIBE_E_ORDER);
	assert_non_null(strstr(scribe_writer_error(w)->text, "a shared record of POSIX after records of single ranks"));
	assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_STDIO, &stdio, sizeof(stdio)), 0);
	assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_POSIX, &posix, sizeof(posix)), -SCRIBE_E_ORDER);
	assert_int_equal(scribe_writer_name(w, 1, "late", 4), -SCRIBE_E_ORDER);
	end(w);
	close(fd);
}

/* ---- damage ---- */
static int try_all(const char *bytes, size_t n, char *text, size_t cap)
{
	int fd = file_of(bytes, n);
	struct scribe_reader *r = NULL;
	struct scribe_err err = {0};
	int rc = scribe_reader_open_fd(fd, "FILE", &r, &err);

	snprintf(text, cap, "%s", err.text);
	if (rc == 0) {
		struct dump d = dump_reader(r);

		rc = d.error;
		snprintf(text, cap, "%s", d.text);
		free(d.bytes);
	}
	scribe_reader_free(r);
	close(fd);
	return rc;
}

static void cut_anywhere(void **state)
{
	int fd = small_log(SCRIBE_COMP_ZLIB);
	char text[512];
	size_t n;
	char *bytes = whole(fd, &n);

	for (size_t i = 0; i < n; i++) {
		assert_true(try_all(bytes, i, text, sizeof(text)) < 0);
		assert_non_null(strstr(text, "FILE"));
	}
	free(bytes);
	close(fd);
}

struct change {
	size_t at, n;
	uint64_t value;
	int code;
	const char *text;
};

static void changed_bytes(void **state)
{
	int fd = small_log(SCRIBE_COMP_NONE);
	size_t n;
	char *bytes = whole(fd, &n), *copy = malloc(n);
	const size_t r0 = 48 + 6 + 16; /* first base record */
	const size_t text_at = r0 + 2 * (32 + 688) + 36 + 2 * (32 + 32) + 1080;
	const size_t later_at = (size_t)((char *)memmem(bytes, n, "LATER", 6) - bytes) - 24;
	const size_t table = text_at + strlen(bytes + text_at) + 1;
	const struct change changes[] = {
		{8, 8, 1, -SCRIBE_E_FORMAT, "wrong magic number at offset 8"},
		{16, 4, 2, -SCRIBE_E_VERSION, "version 2 of the single-region layout, this program knows 1"},
		{20, 1, 9, -SCRIBE_E_FORMAT, "unknown compression 9 at offset 20"},
		{21, 1, 9, -SCRIBE_E_FORMAT, "unknown filter 9 at offset 21"},
		{22, 2, 9, -SCRIBE_E_FORMAT, "unknown flags 0x9 at offset 22"},
		{24, 8, UINT64_MAX, -SCRIBE_E_TRUNCATED, "not within the file"},
		{24, 8, 3, -SCRIBE_E_FORMAT, "behind the last region"},
		{48, 4, UINT32_MAX, -SCRIBE_E_LIMIT, "name region"},
		{r0 + 16, 8, 1ull << 60, -SCRIBE_E_LIMIT, "a record of 1152921504606846976 bytes"},
		{r0 + 16, 8, 680, -SCRIBE_E_FORMAT, "POSIX region (file offset"},
		{r0 + 24, 2, 77, -SCRIBE_E_FORMAT, "a record of module 77, which the log's table does not have"},
		{r0 + 26, 2, 8, -SCRIBE_E_FORMAT, "a record with unknown flags 0x8"},
		{r0 + 26, 2, 1, -SCRIBE_E_UNSUPPORTED, "a record in an encoding of its own"},
		{r0 + 28, 4, 3, -SCRIBE_E_FORMAT, "a record of version 3, its module has 4"},
		{table, 4, 65, -SCRIBE_E_LIMIT, "table of modules: more than 64 modules"},
		{table, 4, 3, -SCRIBE_E_FORMAT, "table of modules: bytes behind its end"},
		{table, 4, 5, -SCRIBE_E_TRUNCATED, "table of modules: ends in the middle of a module"},
		{table + 4, 2, 63, -SCRIBE_E_LIMIT, "table of modules: a module id beyond 62"},
		{table + 4, 2, 13, -SCRIBE_E_FORMAT, "table of modules: a module twice"},
		{table + 6, 2, 64, -SCRIBE_E_FORMAT, "table of modules: unknown flags"},
		{table + 8, 4, 5, -SCRIBE_E_VERSION, "record version 5, this program knows 1 to 4"},
		{table + 16, 2, 60000, -SCRIBE_E_FORMAT, "a name that is not 1 to 63 printing characters"},
		{n - 1, 1, '!', -SCRIBE_E_TRUNCATED, "table of modules: ends in the middle of a name"},
		{later_at + 16, 4, 40, -SCRIBE_E_FORMAT, "counters that are not within their record"},
		{later_at + 20, 4, 44, -SCRIBE_E_FORMAT, "counters that are not within their record"},
		{later_at + 8, 4, 8, -SCRIBE_E_FORMAT, "counters that are not within their record"},
		{later_at + 16, 4, 8, -SCRIBE_E_FORMAT, "counters that are not within their record"},
		{table + 28, 1, '\n', -SCRIBE_E_FORMAT, "a name that is not 1 to 63 printing characters"},
	};
	char text[512];

	assert_non_null(copy);
	assert_int_equal(try_all(bytes, n, text, sizeof(text)), -SCRIBE_E_UNSUPPORTED); /* the opaque module */
	assert_memory_equal(bytes + table, "\4\0\0\0\1\0", 6);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *c = &changes[i];
		int rc;

		memcpy(copy, bytes, n);
		memcpy(copy + c->at, &c->value, c->n);
		rc = try_all(copy, n, text, sizeof(text));
		if (rc != c->code || !strstr(text, c->text))
			fail_msg("change %zu (offset %zu): %d, not %d: %s", i, c->at, rc, c->code, text);
	}
	free(copy);
	free(bytes);
	close(fd);
}

static void changed_blocks(void **state)
{
	static const struct {
		int block;
		uint32_t count, stride;
		const char *text;
	} changes[] = {
		{0, 0, 720, "a block of 0 records of 720 bytes, at most 1048576 bytes in all"},
		{0, 2, 31, "a block of 2 records of 31 bytes"},
		{0, 2, 1 << 20, "a block of 2 records of 1048576 bytes"},
		{0, UINT32_MAX, UINT32_MAX, "a block of 4294967295 records of 4294967295 bytes"},
		{0, 1, UINT32_MAX, "a block of 1 records of 4294967295 bytes"},
		{2, 3, 64, "ends in the middle of a block (128 of 192 bytes)"},
		{2, 1, 128, "a record of module"},
	};
	size_t n, heads[3];
	char *bytes = with_blocks(&n, heads), text[512];

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const uint32_t to[2] = {changes[i].count, changes[i].stride};
		char *at = bytes + heads[changes[i].block], kept[8];
		struct scribe_reader *r = NULL;
		const void *p;
		size_t len;
		int fd, rc, module = changes[i].block ? 33 : SCRIBE_MOD_POSIX;

		memcpy(kept, at, 8);
		memcpy(at, to, 8);
		fd = file_of(bytes, n);
		r = must_open(fd);
		while ((rc = scribe_reader_borrow_record(r, module, &p, &len)) > 0)
			;
		snprintf(text, sizeof(text), "%s", scribe_reader_error(r)->text);
		if (rc >= 0 || !strstr(text, changes[i].text))
			fail_msg("change %zu: %d: %s", i, rc, text);
		scribe_reader_free(r);
		close(fd);
		memcpy(at, kept, 8);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_logs),         cmocka_unit_test(both_layouts_alike),
		cmocka_unit_test(other_byte_order),   cmocka_unit_test(not_sorted),
		cmocka_unit_test(names_of_any_bytes), cmocka_unit_test(order_is_enforced),
		cmocka_unit_test(cut_anywhere),       cmocka_unit_test(changed_bytes),
		cmocka_unit_test(transposed_blocks),  cmocka_unit_test(changed_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
