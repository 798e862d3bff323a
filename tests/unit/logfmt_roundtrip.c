/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is written is what is read: every sample log through the writer in every
 * compression, generated logs with all modules, the other byte order, names of
 * any bytes, old record versions.
 */
#include "logfmt_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "logfmt/file/names.h"

static const enum scribe_compression all_compressions[] = {SCRIBE_COMP_ZLIB, SCRIBE_COMP_BZIP2, SCRIBE_COMP_NONE};

static void copy_records(struct scribe_reader *r, struct scribe_writer *w)
{
	for (int id = 0; id < ALL_MODULES; id++) {
		const void *rec;
		size_t len;
		int rc;

		while ((rc = scribe_reader_borrow_record(r, id, &rec, &len)) > 0) {
			if (scribe_writer_record(w, id, rec, len))
				fail_msg("%s", scribe_writer_error(w)->text);
		}
		if (rc < 0)
			fail_msg("%s", scribe_reader_error(r)->text);
		if (scribe_reader_header(r)->partial_flag >> id & 1)
			scribe_writer_partial(w, id);
	}
}

/* A copy of the log through reader and writer. */
static int copy_log(int fd, const struct scribe_writer_options *o)
{
	struct scribe_reader *r = must_open(fd);
	struct scribe_writer *w = NULL;
	const struct scribe_mount *mounts;
	size_t n = scribe_reader_mounts(r, &mounts);
	struct scribe_name name;
	int out = memory_file();

	assert_int_equal(scribe_writer_create_fd(out, o, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, scribe_reader_job(r), scribe_reader_exe(r), mounts, n), 0);
	while (scribe_reader_next_name(r, &name) > 0)
		assert_int_equal(scribe_writer_name(w, name.id, name.bytes, name.len), 0);
	copy_records(r, w);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	scribe_reader_free(r);
	return out;
}

static void assert_same_logs(int a, int b)
{
	struct scribe_reader *ra = must_open(a), *rb = must_open(b);
	struct dump da = dump_reader(ra), db = dump_reader(rb);

	assert_same_dump(&da, &db);
	assert_int_equal(scribe_reader_header(ra)->partial_flag, scribe_reader_header(rb)->partial_flag);
	free(da.bytes);
	free(db.bytes);
	scribe_reader_free(ra);
	scribe_reader_free(rb);
}

static void every_sample_log(void **state)
{
	DIR *dir = opendir(SCRIBE_TEST_DATA "/logs");
	struct dirent *e;
	int logs = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		const char *dot = strrchr(e->d_name, '.');
		int fd;

		if (!dot || strcmp(dot, ".darshan") != 0)
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		for (size_t i = 0; i < 3; i++) {
			struct scribe_writer_options o = {.compression = all_compressions[i]};
			int copy = copy_log(fd, &o);

			assert_same_logs(fd, copy);
			close(copy);
		}
		close(fd);
		logs++;
	}
	closedir(dir);
	assert_true(logs >= 20);
}

static void every_module_generated(void **state)
{
	for (size_t i = 0; i < 3; i++) {
		for (int level = 0; level < 10; level += 3) {
			struct scribe_writer_options o = {
				.compression = all_compressions[i], .level = level, .dxt_threads = true};
			int a = random_log(&o, ~0ull, 7, 20);
			int b = copy_log(a, &o);

			assert_same_logs(a, b);
			close(a);
			close(b);
		}
	}
}

/* Without dxt_threads the file has 32-byte segments, and thread ids read as 0. */
static void dxt_without_threads(void **state)
{
	struct scribe_writer_options wide = {.dxt_threads = true};
	int a = random_log(&wide, 1ull << SCRIBE_MOD_DXT_POSIX | 1ull << SCRIBE_MOD_DXT_MPIIO, 5, 4);
	int b = copy_log(a, NULL);
	struct scribe_reader *ra = must_open(a), *rb = must_open(b);

	assert_int_equal(scribe_reader_header(ra)->mod_ver[SCRIBE_MOD_DXT_POSIX], 2);
	assert_int_equal(scribe_reader_header(ra)->mod_ver[SCRIBE_MOD_DXT_MPIIO], 3);
	assert_int_equal(scribe_reader_header(rb)->mod_ver[SCRIBE_MOD_DXT_POSIX], 1);
	assert_int_equal(scribe_reader_header(rb)->mod_ver[SCRIBE_MOD_DXT_MPIIO], 2);
	for (int id = SCRIBE_MOD_DXT_POSIX; id <= SCRIBE_MOD_DXT_MPIIO; id++) {
		const void *pa, *pb;
		size_t la, lb;

		while (scribe_reader_borrow_record(ra, id, &pa, &la) > 0) {
			const struct scribe_dxt_record *x = pa, *y;

			assert_int_equal(scribe_reader_borrow_record(rb, id, &pb, &lb), 1);
			y = pb;
			assert_int_equal(la, lb);
			assert_memory_equal(x, y, sizeof(*x));
			for (int64_t i = 0; i < x->write_count + x->read_count; i++) {
				assert_memory_equal(&x->segments[i], &y->segments[i], 32);
				assert_int_equal(y->segments[i].thread, 0);
			}
		}
	}
	scribe_reader_free(ra);
	scribe_reader_free(rb);
	close(a);
	close(b);
}

/* ---- the other byte order: an uncompressed log turned by hand ---- */
static void turn(char *p, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t w;

		memcpy(&w, p + 8 * i, 8);
		w = __builtin_bswap64(w);
		memcpy(p + 8 * i, &w, 8);
	}
}

/* Bytes of a record that are words: all but names, uuids and the like. */
static void turn_record(int id, char *p, size_t len)
{
	switch (id) {
	case SCRIBE_MOD_DFS:
		turn(p, (584 - 32) / 8);
		break;
	case SCRIBE_MOD_DAOS:
		turn(p, 648 / 8);
		turn(p + 680, 2);
		break;
	case SCRIBE_MOD_PROCESS:
		turn(p, 144 / 8);
		break;
	case SCRIBE_MOD_APMPI:
		turn(p, (len - 128) / 8);
		break;
	case SCRIBE_MOD_DXT_POSIX:
	case SCRIBE_MOD_DXT_MPIIO:
		turn(p, 3);
		turn(p + 88, (len - 88) / 8);
		break;
	case SCRIBE_MOD_LUSTRE: {
		int64_t comps;

		memcpy(&comps, p + 16, 8);
		for (int64_t i = 0; i < comps; i++)
			turn(p + 32 + 72 * i, 7);
		turn(p + 32 + 72 * comps, (len - 32 - 72 * (size_t)comps) / 8);
		turn(p, 4);
		break;
	}
	default:
		turn(p, len / 8);
	}
}

static char *whole_file(int fd, size_t *ret_n)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *bytes = malloc((size_t)n + 1);

	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, (size_t)n, 0), n);
	*ret_n = (size_t)n;
	return bytes;
}

static void turn_versions(uint32_t *v, int n)
{
	for (int i = 0; i < n; i++)
		v[i] = __builtin_bswap32(v[i]);
}

static int turned_log(int fd, bool threads)
{
	struct scribe_reader *r = must_open(fd);
	size_t n;
	char *bytes = whole_file(fd, &n);
	struct scribe_log_header *h = (struct scribe_log_header *)bytes;
	struct scribe_log_header native = *scribe_reader_header(r); /* with the maps of the trailer */
	struct scribe_log_trailer t;
	int out = memory_file();
	char *p = bytes + native.name_map.off;

	scribe_reader_free(r);

	turn(bytes + sizeof(*h), 7);
	while (p < bytes + native.name_map.off + native.name_map.len) {
		turn(p, 1);
		p += 8 + strlen(p + 8) + 1;
	}
	for (int id = 0; id < ALL_MODULES; id++) {
		char *q = bytes + native.mod_map[id].off, *end = q + native.mod_map[id].len;
		bool dxt = id == SCRIBE_MOD_DXT_POSIX || id == SCRIBE_MOD_DXT_MPIIO;

		while (q < end) {
			uint64_t head[20]; /* records in a file are not aligned in memory */
			size_t left = (size_t)(end - q), len;

			memcpy(head, q, left < sizeof(head) ? left : sizeof(head));
			len = scribe_record_length(id, head, left);
			if (dxt && !threads)
				len = 104 + (len - 104) / 40 * 32;
			turn_record(id, q, len);
			q += len;
		}
	}
	turn(bytes + 8, 1);
	turn(bytes + 24, 1 + 2 + 2 * SCRIBE_MAX_MODULES);
	turn_versions(h->mod_ver, SCRIBE_MAX_MODULES);
	if (memcmp(h->pad, SCRIBE_TRAILER_MARK, sizeof(h->pad)) == 0) {
		memcpy(&t, bytes + n - sizeof(t), sizeof(t));
		turn((char *)t.map, 2 * SCRIBE_OWN_MODULES);
		turn_versions(t.ver, SCRIBE_OWN_MODULES);
		turn((char *)&t.partial_flag, 1);
		memcpy(bytes + n - sizeof(t), &t, sizeof(t));
	}
	assert_int_equal(pwrite(out, bytes, n, 0), n);
	free(bytes);
	return out;
}

static void other_byte_order(void **state)
{
	for (int threads = 0; threads < 2; threads++) {
		struct scribe_writer_options o = {
			.compression = SCRIBE_COMP_NONE, .dxt_threads = threads, .list_own = threads};
		int a = random_log(&o, ~0ull, 5, 20);
		int b = turned_log(a, threads);
		struct scribe_reader *r = must_open(b);

		assert_true(scribe_reader_info(r)->swapped);
		scribe_reader_free(r);
		assert_same_logs(a, b);
		close(a);
		close(b);
	}
}

/* ---- modules that nobody knows ---- */
static void unknown_modules_pass_through(void **state)
{
	struct scribe_writer *w;
	struct scribe_reader *r;
	const void *p;
	size_t len;
	int fd = memory_file();

	assert_int_equal(scribe_writer_create_fd(fd, NULL, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, some_job(), "x", NULL, 0), 0);
	assert_int_equal(scribe_writer_raw(w, SCRIBE_MOD_APXC, 1, "cray", 4), 0);
	assert_int_equal(scribe_writer_raw(w, 33, 9, "future", 6), 0);
	assert_int_equal(scribe_writer_raw(w, 64, 1, "x", 1), -EINVAL);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	r = must_open(fd);
	assert_int_equal(scribe_reader_info(r)->unknown, 1ull << 33 | 1ull << SCRIBE_MOD_APXC);
	assert_int_equal(scribe_reader_borrow_record(r, 33, &p, &len), 0);
	assert_int_equal(scribe_reader_borrow_raw(r, SCRIBE_MOD_APXC, &p, &len), 1);
	assert_int_equal(len, 4);
	assert_memory_equal(p, "cray", 4);
	assert_int_equal(scribe_reader_borrow_raw(r, SCRIBE_MOD_APXC, &p, &len), 0);
	assert_int_equal(scribe_reader_borrow_raw(r, 33, &p, &len), 1);
	assert_memory_equal(p, "future", 6);
	assert_int_equal(scribe_reader_borrow_raw(r, SCRIBE_MOD_POSIX, &p, &len), 0);
	scribe_reader_free(r);
	close(fd);
}

/*
 * Our own modules: the header that stock tools read does not list them, unless
 * asked for; partial flags go with them.
 */
static void own_modules_in_the_trailer(void **state)
{
	for (int listed = 0; listed < 2; listed++) {
		struct scribe_writer_options o = {.list_own = listed};
		struct scribe_process_record process = {.base = {1, 0}};
		struct scribe_log_header h;
		struct scribe_writer *w;
		struct scribe_reader *r;
		struct scribe_process_record got;
		size_t len;
		int fd = memory_file();

		assert_int_equal(scribe_writer_create_fd(fd, &o, &w, NULL), 0);
		assert_int_equal(scribe_writer_job(w, some_job(), "x", NULL, 0), 0);
		assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_PROCESS, &process, sizeof(process)), 0);
		assert_int_equal(scribe_writer_raw(w, 60, 3, "later", 5), 0);
		scribe_writer_partial(w, SCRIBE_MOD_PROCESS);
		scribe_writer_partial(w, SCRIBE_MOD_POSIX);
		assert_int_equal(scribe_writer_finish(w), 0);
		scribe_writer_free(w);
		assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
		assert_int_equal(h.mod_map[SCRIBE_MOD_PROCESS].len > 0, listed);
		assert_int_equal(h.mod_map[60].len > 0, listed);
		assert_int_equal(h.partial_flag >> SCRIBE_MOD_PROCESS & 1, listed);
		assert_int_equal(h.partial_flag >> SCRIBE_MOD_POSIX & 1, 1);
		assert_true(h.name_map.off > sizeof(h)); /* the job region must end somewhere for stock readers */
		assert_int_equal(h.name_map.len, 0);
		r = must_open(fd);
		assert_int_equal(scribe_reader_header(r)->partial_flag,
				 1ull << SCRIBE_MOD_PROCESS | 1ull << SCRIBE_MOD_POSIX);
		assert_int_equal(scribe_reader_info(r)->unknown, 1ull << 60);
		assert_int_equal(scribe_reader_header(r)->mod_ver[60], 3);
		assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_PROCESS, &got, sizeof(got), &len), 1);
		assert_memory_equal(&got, &process, sizeof(got));
		scribe_reader_free(r);
		close(fd);
	}
}

/* Records can be read again, alternately, and into a buffer that is too small first. */
static void reading_twice_and_alternately(void **state)
{
	struct scribe_writer_options o = {.dxt_threads = true};
	int fd = random_log(&o, 1ull << SCRIBE_MOD_POSIX | 1ull << SCRIBE_MOD_DXT_POSIX | 1ull << SCRIBE_MOD_HEATMAP, 9,
			    9);
	struct scribe_reader *r = must_open(fd);
	struct dump first = dump_reader(r), second;
	static uint64_t buf[RECORD_ROOM / 8];
	struct scribe_name name;
	size_t len = 0;
	int n = 0;

	scribe_reader_rewind_names(r);
	for (int id = 0; id < ALL_MODULES; id++)
		scribe_reader_rewind(r, id);
	second = dump_reader(r);
	assert_same_dump(&first, &second);
	scribe_reader_rewind(r, SCRIBE_MOD_POSIX);
	scribe_reader_rewind(r, SCRIBE_MOD_DXT_POSIX);
	scribe_reader_rewind_names(r);
	while (scribe_reader_next_record(r, SCRIBE_MOD_POSIX, buf, sizeof(buf), &len) == 1) {
		assert_int_equal(len, 704);
		assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_DXT_POSIX, buf, 8, &len), -SCRIBE_E_BUFFER);
		assert_true(len >= 104);
		assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_DXT_POSIX, buf, len, &len), 1);
		assert_int_equal(scribe_record_length(SCRIBE_MOD_DXT_POSIX, buf, len), len);
		assert_int_equal(scribe_reader_next_name(r, &name), 1);
		n++;
	}
	assert_int_equal(n, 9);
	free(first.bytes);
	free(second.bytes);
	scribe_reader_free(r);
	close(fd);
}

/* Several streams in one region, as parallel writers leave them. */
static void many_streams_in_one_region(void **state)
{
	struct scribe_log_header h;
	struct scribe_posix_record rec;
	void *piece;
	size_t n, off = sizeof(h);
	int fd = memory_file();
	struct scribe_reader *r;
	char names[200];
	size_t len;

	scribe_log_header_init(&h);
	assert_int_equal(scribe_job_region_encode(some_job(), "x", some_mounts, 3, &piece, &n, NULL), 0);
	{
		void *z;
		size_t zn;

		assert_int_equal(scribe_deflate_region(piece, n, &z, &zn, NULL), 0);
		free(piece);
		assert_int_equal(pwrite(fd, z, zn, (off_t)off), zn);
		off += zn;
		free(z);
	}
	h.name_map.off = off;
	for (int i = 0; i < 3; i++) { /* one of them empty */
		n = i == 1 ? 0 : scribe_name_encode((uint64_t)i, "abc", 3, names, sizeof(names));
		assert_int_equal(scribe_deflate_region(names, n, &piece, &n, NULL), 0);
		assert_int_equal(pwrite(fd, piece, n, (off_t)off), n);
		off += n;
		free(piece);
	}
	h.name_map.len = off - h.name_map.off;
	h.mod_map[SCRIBE_MOD_POSIX].off = off;
	h.mod_ver[SCRIBE_MOD_POSIX] = 4;
	for (int i = 0; i < 50; i++) {
		memset(&rec, i, sizeof(rec));
		/* pieces need not end with a record */
		assert_int_equal(scribe_deflate_region(&rec, 300, &piece, &n, NULL), 0);
		assert_int_equal(pwrite(fd, piece, n, (off_t)off), n);
		off += n;
		free(piece);
		assert_int_equal(scribe_deflate_region((char *)&rec + 300, 404, &piece, &n, NULL), 0);
		assert_int_equal(pwrite(fd, piece, n, (off_t)off), n);
		off += n;
		free(piece);
	}
	h.mod_map[SCRIBE_MOD_POSIX].len = off - h.mod_map[SCRIBE_MOD_POSIX].off;
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	r = must_open(fd);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &rec, sizeof(rec), &len), 1);
		for (size_t k = 0; k < sizeof(rec); k++)
			assert_int_equal(((unsigned char *)&rec)[k], i);
	}
	assert_int_equal(scribe_reader_next_record(r, SCRIBE_MOD_POSIX, &rec, sizeof(rec), &len), 0);
	scribe_reader_free(r);
	close(fd);
}

static void long_command_lines_are_cut(void **state)
{
	char exe[5000];
	struct scribe_writer *w;
	struct scribe_reader *r;
	const struct scribe_mount *mounts;
	int fd = memory_file();

	memset(exe, 'e', sizeof(exe));
	exe[sizeof(exe) - 1] = 0;
	exe[10] = '\n'; /* would end the field */
	assert_int_equal(scribe_writer_create_fd(fd, NULL, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, some_job(), exe, some_mounts, 3), 0);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	r = must_open(fd);
	assert_int_equal(strlen(scribe_reader_exe(r)), SCRIBE_EXE_BYTES);
	assert_string_equal(scribe_reader_exe(r) + SCRIBE_EXE_BYTES - 11, "<TRUNCATED>");
	assert_int_equal(scribe_reader_exe(r)[10], ' ');
	assert_int_equal(scribe_reader_mounts(r, &mounts), 0);
	scribe_reader_free(r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_log),
		cmocka_unit_test(every_module_generated),
		cmocka_unit_test(dxt_without_threads),
		cmocka_unit_test(other_byte_order),
		cmocka_unit_test(unknown_modules_pass_through),
		cmocka_unit_test(own_modules_in_the_trailer),
		cmocka_unit_test(reading_twice_and_alternately),
		cmocka_unit_test(many_streams_in_one_region),
		cmocka_unit_test(long_command_lines_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
