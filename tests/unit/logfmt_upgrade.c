/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Old record versions, made by hand word by word: every counter must arrive
 * under its name, what did not exist must be -1. Also check values of record
 * ids, error texts and the module table.
 */
#include "logfmt_support.h"

#include <errno.h>

#include "logfmt/base/hash.h"

/* A log with one region of the given words, as that version. */
static int log_of_words(int module, unsigned version, const int64_t *words, size_t n, bool swapped)
{
	struct scribe_writer_options o = {.compression = SCRIBE_COMP_NONE};
	int fd = random_log(&o, 0, 0, 1);
	struct scribe_log_header h;
	off_t end = lseek(fd, 0, SEEK_END);
	int64_t *copy = malloc(n * 8);

	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	for (size_t i = 0; i < n; i++)
		copy[i] = swapped ? (int64_t)__builtin_bswap64((uint64_t)words[i]) : words[i];
	assert_int_equal(pwrite(fd, copy, n * 8, end), n * 8);
	h.mod_map[module] = (struct scribe_log_map){(uint64_t)end, n * 8};
	h.mod_ver[module] = version;
	h.name_map.len = 0; /* only its offset counts: names are not turned */
	if (swapped) {
		uint64_t *w = (uint64_t *)((char *)&h + 24);

		h.magic = (int64_t)__builtin_bswap64((uint64_t)h.magic);
		for (int i = 0; i < 1 + 2 + 2 * SCRIBE_MAX_MODULES; i++)
			w[i] = __builtin_bswap64(w[i]);
		for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
			h.mod_ver[i] = __builtin_bswap32(h.mod_ver[i]);
	}
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	free(copy);
	return fd;
}

static int64_t real(double d)
{
	int64_t w;

	memcpy(&w, &d, 8);
	return w;
}

/* Old counters in order, by today's index; integers count up from 1, reals from 0.5. */
struct old {
	int module;
	unsigned version;
	int skip_words;       /* words between base and counters that mean nothing */
	int ints, reals;      /* how many the old record had */
	const int *gone_ints; /* today's indices that did not exist, ending in -1 */
	const int *gone_reals;
	int extra_at, extra; /* old integers that exist no more: `extra` words at index `extra_at` */
	int zero;            /* today's integer that becomes 0 instead of -1, else -1 */
};

static const int none[] = {-1};
static const int posix_3[] = {SCRIBE_POSIX_FILENOS,        SCRIBE_POSIX_DUPS,         SCRIBE_POSIX_RENAME_SOURCES,
			      SCRIBE_POSIX_RENAME_TARGETS, SCRIBE_POSIX_RENAMED_FROM, -1};
static const int posix_times[] = {SCRIBE_POSIX_F_CLOSE_START_TIMESTAMP, SCRIBE_POSIX_F_OPEN_END_TIMESTAMP, -1};
static const int mpiio_times[] = {SCRIBE_MPIIO_F_CLOSE_START_TIMESTAMP, SCRIBE_MPIIO_F_OPEN_END_TIMESTAMP, -1};
static const int h5f_ints[] = {SCRIBE_H5F_FLUSHES, SCRIBE_H5F_USE_MPIIO, -1};
static const int h5f_1[] = {SCRIBE_H5F_F_CLOSE_START_TIMESTAMP, SCRIBE_H5F_F_OPEN_END_TIMESTAMP, SCRIBE_H5F_F_META_TIME,
			    -1};
static const int h5f_2[] = {SCRIBE_H5F_F_META_TIME, -1};
static const int ext_1[] = {SCRIBE_EXT_MAPPED_BYTES, SCRIBE_EXT_RANKS_READ, SCRIBE_EXT_RANKS_WROTE, -1};
static const int ext_2[] = {SCRIBE_EXT_RANKS_READ, SCRIBE_EXT_RANKS_WROTE, -1};
static const int stdio_1[] = {SCRIBE_STDIO_FDOPENS, -1};

static const struct old olds[] = {
	{SCRIBE_MOD_POSIX, 1, 0, 68, 15, posix_3, posix_times, 6, 4, SCRIBE_POSIX_RENAMED_FROM},
	{SCRIBE_MOD_POSIX, 2, 0, 64, 15, posix_3, posix_times, 0, 0, SCRIBE_POSIX_RENAMED_FROM},
	{SCRIBE_MOD_POSIX, 3, 0, 64, 17, posix_3, none, 0, 0, SCRIBE_POSIX_RENAMED_FROM},
	{SCRIBE_MOD_MPIIO, 1, 0, 51, 15, none, mpiio_times, 0, 0, -1},
	{SCRIBE_MOD_MPIIO, 2, 0, 51, 15, none, mpiio_times, 0, 0, -1},
	{SCRIBE_MOD_POSIX_EXT, 1, 0, 23, 2, ext_1, none, 0, 0, SCRIBE_EXT_MAPPED_BYTES},
	{SCRIBE_MOD_POSIX_EXT, 2, 0, 24, 2, ext_2, none, 0, 0, -1},
	{SCRIBE_MOD_H5F, 1, 0, 1, 2, h5f_ints, h5f_1, 0, 0, -1},
	{SCRIBE_MOD_H5F, 2, 0, 1, 4, h5f_ints, h5f_2, 0, 0, -1},
	{SCRIBE_MOD_H5D, 1, 0, 94, 17, none, none, 0, 0, -1},
	{SCRIBE_MOD_BGQ, 1, 1, 11, 1, none, none, 0, 0, -1},
	{SCRIBE_MOD_STDIO, 1, 0, 13, 15, stdio_1, none, 0, 0, -1},
};

static bool listed(const int *list, int i)
{
	for (; *list >= 0; list++) {
		if (*list == i)
			return true;
	}
	return false;
}

static void check_old(const struct old *o, const struct scribe_module *m, const void *rec)
{
	int64_t next = 1;
	double nextf = 0.5;

	assert_int_equal(((const struct scribe_base_record *)rec)->id, 0xabcdef);
	assert_int_equal(((const struct scribe_base_record *)rec)->rank, -1);
	for (int i = 0; i < m->ncounters; i++) {
		int64_t got = scribe_record_counters(m, rec)[i];
		int64_t want = listed(o->gone_ints, i) ? (i == o->zero ? 0 : -1) : next++;

		if (got != want)
			fail_msg("%s version %u: %s is %lld, not %lld", m->name, o->version, m->counters[i].name,
				 (long long)got, (long long)want);
	}
	for (int i = 0; i < m->nfcounters; i++) {
		double got = scribe_record_fcounters(m, rec)[i];
		double want = listed(o->gone_reals, i) ? -1 : nextf++;

		if (got != want)
			fail_msg("%s version %u: %s is %f, not %f", m->name, o->version, m->fcounters[i].name, got,
				 want);
	}
}

static void every_old_version(void **state)
{
	for (size_t k = 0; k < 2 * sizeof(olds) / sizeof(olds[0]); k++) {
		const struct old *o = &olds[k / 2];
		const struct scribe_module *m = scribe_module_by_id(o->module);
		int64_t words[300] = {0xabcdef, -1}, next = 1;
		size_t n = 2 + (size_t)o->skip_words;
		struct scribe_reader *r;
		const void *rec;
		size_t len;
		int fd;

		for (int i = 0; i < o->ints; i++)
			words[n++] = o->extra && i >= o->extra_at && i < o->extra_at + o->extra ? 0 : next++;
		for (int i = 0; i < o->reals; i++)
			words[n++] = real(0.5 + i);
		fd = log_of_words(o->module, o->version, words, n, k % 2);
		r = must_open(fd);
		assert_int_equal(scribe_reader_borrow_record(r, o->module, &rec, &len), 1);
		assert_int_equal(len, m->record_bytes);
		check_old(o, m, rec);
		if (o->module == SCRIBE_MOD_H5D)
			assert_int_equal(((const struct scribe_h5d_record *)rec)->file_rec_id, 0);
		assert_int_equal(scribe_reader_borrow_record(r, o->module, &rec, &len), 0);
		scribe_reader_free(r);
		close(fd);
	}
}

static void pnetcdf_files(void **state)
{
	for (int k = 0; k < 4; k++) {
		bool two = k & 1, swapped = k & 2;
		int64_t words[8] = {5, 2, 10, 7, real(1), real(2), real(3), real(4)};
		int fd = log_of_words(SCRIBE_MOD_PNETCDF_FILE, two ? 2 : 1, words, two ? 8 : 6, swapped);
		struct scribe_reader *r = must_open(fd);
		struct scribe_pnetcdf_file_record rec;
		size_t len;

		assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_PNETCDF_FILE, &rec, sizeof(rec), &len), 1);
		for (int i = 0; i < SCRIBE_PNETCDF_FILE_COUNT; i++)
			assert_int_equal(rec.counters[i], i == SCRIBE_PNETCDF_FILE_OPENS ? 17 : -1);
		assert_true(rec.fcounters[SCRIBE_PNETCDF_FILE_F_OPEN_START_TIMESTAMP] == 1);
		assert_true(rec.fcounters[SCRIBE_PNETCDF_FILE_F_CLOSE_START_TIMESTAMP] == (two ? 2 : -1));
		assert_true(rec.fcounters[SCRIBE_PNETCDF_FILE_F_OPEN_END_TIMESTAMP] == (two ? 3 : -1));
		assert_true(rec.fcounters[SCRIBE_PNETCDF_FILE_F_CLOSE_END_TIMESTAMP] == (two ? 4 : 2));
		assert_true(rec.fcounters[SCRIBE_PNETCDF_FILE_F_WAIT_TIME] == -1);
		scribe_reader_free(r);
		close(fd);
	}
}

/* POSIX version 1 records with stdio counts have no newest form. */
static void posix_1_with_stdio_is_left_out(void **state)
{
	int64_t words[2 * 85] = {1, 0};
	struct scribe_reader *r;
	struct scribe_posix_record rec;
	size_t len;
	int fd;

	words[2 + 6] = 3; /* fopen calls */
	words[85] = 2;    /* id of the second record */
	fd = log_of_words(SCRIBE_MOD_POSIX, 1, words, 170, false);
	r = must_open(fd);
	assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &rec, sizeof(rec), &len), 1);
	assert_int_equal(rec.base.id, 2);
	assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &rec, sizeof(rec), &len), 0);
	scribe_reader_free(r);
	close(fd);
}

/* Text, which no byte order changes, is 16 bytes further on. */
static void process_1(void **state)
{
	for (int swapped = 0; swapped < 2; swapped++) {
		int64_t words[64] = {9, 3};
		const struct scribe_process_record *rec;
		struct scribe_reader *r;
		size_t len;
		int fd;

		for (int i = 0; i < 12; i++)
			words[2 + i] = i + 1;
		words[14] = real(0.5);
		words[15] = real(1.5);
		strcpy((char *)&words[16], "a host");
		strcpy((char *)&words[24], "/usr/bin/a program with a name");
		for (int i = 16; swapped && i < 64; i++)
			words[i] = (int64_t)__builtin_bswap64((uint64_t)words[i]);
		fd = log_of_words(SCRIBE_MOD_PROCESS, 1, words, 64, swapped);
		r = must_open(fd);
		assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_PROCESS, (const void **)&rec, &len), 1);
		assert_int_equal(len, sizeof(*rec));
		assert_int_equal(rec->base.rank, 3);
		assert_int_equal(rec->proc_id, 1);
		assert_int_equal(rec->operations, 12);
		assert_true(rec->start == 0.5 && rec->end == 1.5);
		assert_true(rec->cpu_time == -1 && rec->tracing_time == -1);
		assert_string_equal(rec->host, "a host");
		assert_string_equal(rec->exe, "/usr/bin/a program with a name");
		scribe_reader_free(r);
		close(fd);
	}
}

static void lustre_1(void **state)
{
	int64_t words[10] = {9, -1, 48, 2, 0, 1 << 20, 3, 11, 12, 13};

	for (int swapped = 0; swapped < 2; swapped++) {
		int fd = log_of_words(SCRIBE_MOD_LUSTRE, 1, words, 10, swapped);
		struct scribe_reader *r = must_open(fd);
		const struct scribe_lustre_record *rec;
		size_t len;

		assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_LUSTRE, (const void **)&rec, &len), 1);
		assert_int_equal(len, 32 + 72 + 24);
		assert_int_equal(rec->base.id, 9);
		assert_int_equal(rec->num_comps, 1);
		assert_int_equal(rec->num_stripes, 3);
		assert_int_equal(rec->comps[0].counters[SCRIBE_LUSTRE_COMP_STRIPE_SIZE], 1 << 20);
		assert_int_equal(rec->comps[0].counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT], 3);
		assert_int_equal(rec->comps[0].counters[SCRIBE_LUSTRE_COMP_EXT_START], 0);
		assert_int_equal(rec->comps[0].counters[SCRIBE_LUSTRE_COMP_MIRROR_ID], -1);
		assert_int_equal(((const int64_t *)&rec->comps[1])[2], 13);
		scribe_reader_free(r);
		close(fd);
	}
}

/* Components that the runtime left unused (stripe size -1) go, with their stripes. */
static void lustre_trailing_components(void **state)
{
	int64_t words[4 + 2 * 9 + 3] = {9, 0, 2, 3};
	int64_t *second = words + 4 + 9, *osts = words + 4 + 18;
	const struct scribe_lustre_record *rec;
	struct scribe_reader *r;
	size_t len;
	int fd;

	words[4 + SCRIBE_LUSTRE_COMP_STRIPE_COUNT] = 2;
	second[SCRIBE_LUSTRE_COMP_STRIPE_SIZE] = -1;
	second[SCRIBE_LUSTRE_COMP_STRIPE_COUNT] = 1;
	osts[0] = 5;
	osts[1] = 6;
	osts[2] = 7;
	fd = log_of_words(SCRIBE_MOD_LUSTRE, 2, words, sizeof(words) / 8, false);
	r = must_open(fd);
	assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_LUSTRE, (const void **)&rec, &len), 1);
	assert_int_equal(len, 32 + 72 + 16);
	assert_int_equal(rec->num_comps, 1);
	assert_int_equal(rec->num_stripes, 2);
	assert_int_equal(((const int64_t *)&rec->comps[1])[1], 6);
	scribe_reader_free(r);
	close(fd);
}

/* Bins one off from the first record's are brought to its number. */
static void heatmap_bins(void **state)
{
	/* base, width, bins, two pointers, writes, reads: 3, 4 and 2 bins */
	int64_t words[] = {1, 0, real(0.5), 3, 77, 78, 1,          2, 3, 4, 5, 6, 1,         1, real(0.5), 4,
			   0, 0, 1,         2, 3,  9,  4,          5, 6, 9, 1, 2, real(0.5), 2, 0,         0,
			   1, 2, 4,         5, 1,  3,  real(0.25), 2, 0, 0, 1, 2, 4,         5};
	static const int64_t want[4][8] = {
		{3, 1, 2, 3, 4, 5, 6}, {3, 1, 2, 3, 4, 5, 6}, {3, 1, 2, 0, 4, 5, 0}, {2, 1, 2, 4, 5}};

	for (int swapped = 0; swapped < 2; swapped++) {
		int fd = log_of_words(SCRIBE_MOD_HEATMAP, 1, words, sizeof(words) / 8, swapped);
		struct scribe_reader *r = must_open(fd);
		const struct scribe_heatmap_record *rec;
		size_t len;

		for (int i = 0; i < 4; i++) {
			assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_HEATMAP, (const void **)&rec, &len),
					 1);
			assert_int_equal(rec->base.rank, i);
			assert_int_equal(rec->nbins, want[i][0]);
			assert_int_equal(rec->unused[0], 0);
			assert_int_equal(len, 48 + 16 * rec->nbins);
			assert_memory_equal(rec->bins, &want[i][1], (size_t)rec->nbins * 16);
		}
		assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_HEATMAP, (const void **)&rec, &len), 0);
		scribe_reader_free(r);
		close(fd);
	}
}

static void mpiio_traces_of_version_1_have_no_offsets(void **state)
{
	int64_t words[13 + 4] = {1, 0, 0};
	struct scribe_reader *r;
	const struct scribe_dxt_record *rec;
	size_t len;
	int fd;

	words[11] = 1; /* one write */
	words[13] = 4096;
	words[14] = 100;
	fd = log_of_words(SCRIBE_MOD_DXT_MPIIO, 1, words, 17, false);
	r = must_open(fd);
	assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_DXT_MPIIO, (const void **)&rec, &len), 1);
	assert_int_equal(rec->segments[0].offset, -1);
	assert_int_equal(rec->segments[0].length, 100);
	scribe_reader_free(r);
	close(fd);
}

static void stock_fault_on_request(void **state)
{
	int64_t words[2 + 64 + 17] = {1, 0};
	struct scribe_posix_record rec;
	size_t len;

	for (int i = 0; i < 17; i++)
		words[2 + 64 + i] = real(2.5);
	for (int stock = 0; stock < 2; stock++) {
		int fd = log_of_words(SCRIBE_MOD_POSIX, 3, words, 83, true);
		struct scribe_reader *r = must_open(fd);

		scribe_reader_as_stock(r, stock);
		assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &rec, sizeof(rec), &len), 1);
		assert_int_equal(rec.fcounters[SCRIBE_POSIX_F_META_TIME] == 2.5, !stock);
		assert_true(rec.fcounters[SCRIBE_POSIX_F_SLOWEST_RANK_TIME] == 2.5);
		assert_true(rec.fcounters[SCRIBE_POSIX_F_VARIANCE_RANK_BYTES] == (stock ? 0 : 2.5));
		scribe_reader_free(r);
		close(fd);
		fd = log_of_words(SCRIBE_MOD_POSIX, 2, words, 81, false);
		r = must_open(fd);
		scribe_reader_as_stock(r, stock);
		assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &rec, sizeof(rec), &len), 1);
		assert_true(rec.fcounters[SCRIBE_POSIX_F_META_TIME] == 2.5);
		assert_true(rec.fcounters[SCRIBE_POSIX_F_SLOWEST_RANK_TIME] == (stock ? 0 : 2.5));
		assert_true(rec.fcounters[SCRIBE_POSIX_F_MAX_WRITE_TIME] == 2.5);
		scribe_reader_free(r);
		close(fd);
	}
}

static void record_ids(void **state)
{
	static const struct {
		const char *name;
		uint64_t id;
	} known[] = {
		{"", 10211412111675192767ull},
		{"a", 2110215103713784748ull},
		{"<STDIN>", 14734109647742566553ull},
		{"<STDOUT>", 15920181672442173319ull},
		{"<STDERR>", 7238257241479193519ull},
		{"heatmap:POSIX", 16592106915301738621ull},
		{"heatmap:STDIO", 3989511027826779520ull},
		{"heatmap:MPIIO", 3668870418325792824ull},
		{"/projects/radix-io/snyder/tmp/test/mpi-io-test.tmp.dat", 5367110662850514526ull},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(scribe_record_id(known[i].name, strlen(known[i].name)), known[i].id);
}

static void error_texts(void **state)
{
	struct scribe_err e;
	char longer[2000];

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	assert_int_equal(scribe_err_set(&e, -SCRIBE_E_FORMAT, "a\nb\t%s", "c\x1b"), -SCRIBE_E_FORMAT);
	assert_string_equal(e.text, "a\\nb\\x09c\\x1b");
	assert_int_equal(e.code, -SCRIBE_E_FORMAT);
	assert_int_equal(scribe_err_set(&e, -5, "%s", longer), -5);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_int_equal(scribe_err_set(NULL, -7, "x"), -7);
	assert_string_equal(scribe_strerror(-SCRIBE_E_TRUNCATED), "the file ends too early");
	assert_string_equal(scribe_strerror(-ENOENT), "No such file or directory");
}

static void module_table(void **state)
{
	static const int ours[] = {48, 49, 50, 51, 52, 53, 54};

	for (int id = -1; id < 70; id++) {
		const struct scribe_module *m = scribe_module_by_id(id);
		bool known = (id >= 0 && id <= 17 && id != SCRIBE_MOD_APXC) || (id >= 48 && id <= 54);

		assert_int_equal(m != NULL, known);
		if (!m)
			continue;
		assert_int_equal(m->id, id);
		assert_ptr_equal(scribe_module_by_name(m->name), m);
		assert_int_equal(m->ncounters == 0, m->counters_at == 0);
		assert_null(scribe_counter_name(m, -1));
		assert_null(scribe_counter_name(m, m->ncounters));
		assert_null(scribe_fcounter_name(m, m->nfcounters));
	}
	assert_string_equal(scribe_counter_name(scribe_module_by_id(1), SCRIBE_POSIX_SLOWEST_RANK_BYTES),
			    "POSIX_SLOWEST_RANK_BYTES");
	assert_string_equal(scribe_counter_name(scribe_module_by_id(14), 0), "MPI_SEND_CALL_COUNT");
	assert_string_equal(
		scribe_fcounter_name(scribe_module_by_id(14), SCRIBE_APMPI_F_COUNT + SCRIBE_APMPI_F_SYNC_COUNT),
		"MPI_TOTAL_COMM_TIME");
	assert_ptr_equal(scribe_module_by_name("MPIIO"), scribe_module_by_id(2));
	assert_null(scribe_module_by_name("nothing"));
	assert_non_null(scribe_module_by_id(ours[3]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_old_version),
		cmocka_unit_test(pnetcdf_files),
		cmocka_unit_test(posix_1_with_stdio_is_left_out),
		cmocka_unit_test(process_1),
		cmocka_unit_test(lustre_1),
		cmocka_unit_test(lustre_trailing_components),
		cmocka_unit_test(heatmap_bins),
		cmocka_unit_test(mpiio_traces_of_version_1_have_no_offsets),
		cmocka_unit_test(stock_fault_on_request),
		cmocka_unit_test(record_ids),
		cmocka_unit_test(error_texts),
		cmocka_unit_test(module_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
