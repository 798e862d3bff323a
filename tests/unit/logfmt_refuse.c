/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bad input: each kind is refused by one line that says what and where, and
 * nothing that a file can hold crashes the reader or makes it take memory
 * without bound.
 */
#include "logfmt_support.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <zlib.h>

/* Open and read all; the first error's code, its line in `text`. */
static int read_all(int fd, char text[512])
{
	struct scribe_reader *r = NULL;
	struct scribe_err err = {0};
	struct dump d;
	int rc = scribe_reader_open_fd(fd, "FILE", &r, &err);

	text[0] = 0;
	if (rc) {
		snprintf(text, 512, "%s", err.text);
		assert_null(r);
		return rc;
	}
	d = dump_reader(r);
	snprintf(text, 512, "%s", d.text);
	free(d.bytes);
	scribe_reader_free(r);
	return d.error;
}

static void refused(int fd, int code, const char *part)
{
	char text[512];
	int rc = read_all(fd, text);

	if (rc != code || !strstr(text, part) || strncmp(text, "FILE: ", 6) != 0 || strchr(text, '\n'))
		fail_msg("code %d (%d wanted), line \"%s\" (\"%s\" wanted)", rc, code, text, part);
}

static int file_of(const void *bytes, size_t n)
{
	int fd = memory_file();

	assert_int_equal(write(fd, bytes, n), n);
	return fd;
}

/* ---- not logs ---- */
static void other_files(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		int code;
		const char *part;
	} cases[] = {
		{"", 0, -SCRIBE_E_FORMAT, "the file is empty"},
		{"hello, world", 12, -SCRIBE_E_FORMAT, "no log version in its first 8 bytes"},
		{"3.4", 3, -SCRIBE_E_FORMAT, "no log version"},
		{"3.41xyz\0", 8, -SCRIBE_E_FORMAT, "no log version"},
		{"-3.41\0\0\0", 8, -SCRIBE_E_FORMAT, "no log version"},
		{"\x1f\x8b\x08\0\0\0\0\0", 8, -SCRIBE_E_FORMAT, "Darshan 2"},
		{"BZh91AY&", 8, -SCRIBE_E_FORMAT, "bzip2 data"},
		{"\x7f"
		 "ELF\2\1\1\0",
		 8, -SCRIBE_E_FORMAT, "a program"},
		{"# darshan log version: 3.41\n", 28, -SCRIBE_E_FORMAT, "text that darshan-parser printed"},
		{"2.05\0\0\0\0", 8, -SCRIBE_E_VERSION, "log version 2.05 is not one"},
		{"3.42\0\0\0\0", 8, -SCRIBE_E_VERSION, "log version 3.42 is not one"},
		{"9.99\0\0\0\0", 8, -SCRIBE_E_VERSION, "log version 9.99 is not one"},
		{"3.41\0\0\0\0", 8, -SCRIBE_E_TRUNCATED, "header: 8 of 1328 bytes"},
		{"3.21\0\0\0\0", 8, -SCRIBE_E_TRUNCATED, "header: 8 of 360 bytes"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = file_of(cases[i].bytes, cases[i].n);

		refused(fd, cases[i].code, cases[i].part);
		close(fd);
	}
}

static void other_things(void **state)
{
	struct scribe_reader *r = NULL;
	struct scribe_err err = {0};
	int p[2];

	assert_int_equal(scribe_reader_open("/nonexistent/log", &r, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/log: cannot open"));
	assert_int_equal(scribe_reader_open("/", &r, &err), -EISDIR);
	assert_non_null(strstr(err.text, "a directory, not a log"));
	assert_int_equal(pipe(p), 0);
	assert_int_equal(scribe_reader_open_fd(p[0], "FILE", &r, &err), -ESPIPE);
	assert_non_null(strstr(err.text, "must be a file, not a pipe"));
	assert_int_equal(scribe_reader_open_fd(-1, "FILE", &r, &err), -EBADF);
	assert_int_equal(scribe_reader_open("/nonexistent/log", &r, NULL), -ENOENT);
	assert_null(r);
	close(p[0]);
	close(p[1]);
}

/* ---- damaged headers ---- */
struct patch {
	struct scribe_log_header h;
	char *rest;
	size_t n;
};

/* An uncompressed log in parts, to be changed and written again. */
static struct patch take_apart(uint64_t modules)
{
	struct scribe_writer_options o = {.compression = SCRIBE_COMP_NONE, .dxt_threads = true};
	struct patch p;
	int fd = random_log(&o, modules, 2, 3);
	off_t n = lseek(fd, 0, SEEK_END);

	p.n = (size_t)n - sizeof(p.h);
	p.rest = malloc(p.n);
	assert_int_equal(pread(fd, &p.h, sizeof(p.h), 0), sizeof(p.h));
	assert_int_equal(pread(fd, p.rest, p.n, sizeof(p.h)), p.n);
	close(fd);
	return p;
}

static char *region(struct patch *p, int module)
{
	return p->rest + p->h.mod_map[module].off - sizeof(p->h);
}

static void refused_patch(struct patch *p, int code, const char *part)
{
	int fd = memory_file();

	assert_int_equal(pwrite(fd, &p->h, sizeof(p->h), 0), sizeof(p->h));
	assert_int_equal(pwrite(fd, p->rest, p->n, sizeof(p->h)), p->n);
	refused(fd, code, part);
	close(fd);
	free(p->rest);
}

#define ONLY(m) (1ull << SCRIBE_MOD_##m)

static void damaged_headers(void **state)
{
	struct patch p;

	p = take_apart(ONLY(POSIX));
	p.h.magic = 1;
	refused_patch(&p, -SCRIBE_E_FORMAT, "wrong magic number at offset 8");
	p = take_apart(ONLY(POSIX));
	p.h.comp_type = 3;
	refused_patch(&p, -SCRIBE_E_FORMAT, "unknown compression 3 at offset 16");
	p = take_apart(ONLY(POSIX));
	p.h.mod_map[SCRIBE_MOD_POSIX].off = 4;
	refused_patch(&p, -SCRIBE_E_FORMAT, "POSIX region of 1408 bytes at offset 4 is not within the file");
	p = take_apart(ONLY(POSIX));
	p.h.mod_map[SCRIBE_MOD_POSIX].len = UINT64_MAX;
	refused_patch(&p, -SCRIBE_E_FORMAT, "POSIX region of 18446744073709551615 bytes");
	p = take_apart(ONLY(POSIX));
	p.h.mod_map[SCRIBE_MOD_POSIX].len += 1;
	refused_patch(&p, -SCRIBE_E_TRUNCATED, "the file is cut short");
	p = take_apart(ONLY(POSIX));
	p.h.mod_map[40] = (struct scribe_log_map){1 << 20, 1};
	refused_patch(&p, -SCRIBE_E_TRUNCATED, "module 40 region of 1 bytes at offset 1048576");
	p = take_apart(ONLY(POSIX));
	p.h.name_map = (struct scribe_log_map){sizeof(p.h), 10};
	refused_patch(&p, -SCRIBE_E_TRUNCATED, "no job region behind the header");
	p = take_apart(ONLY(POSIX));
	p.h.name_map = (struct scribe_log_map){1ull << 40, 0};
	refused_patch(&p, -SCRIBE_E_TRUNCATED, "name region at offset 1099511627776 is beyond the end");
	p = take_apart(ONLY(POSIX));
	p.h.mod_ver[SCRIBE_MOD_POSIX] = 5;
	refused_patch(&p, -SCRIBE_E_VERSION, "POSIX region (file offset");
	p = take_apart(ONLY(STDIO));
	p.h.mod_ver[SCRIBE_MOD_STDIO] = 0;
	refused_patch(&p, -SCRIBE_E_VERSION, "record version 0, this program knows 1 to 2");
	p = take_apart(ONLY(DXT_MPIIO));
	p.h.mod_ver[SCRIBE_MOD_DXT_MPIIO] = 4;
	refused_patch(&p, -SCRIBE_E_VERSION, "record version 4, this program knows 1 to 3");
}

static void set_word(char *at, int64_t value)
{
	memcpy(at, &value, 8);
}

static void damaged_regions(void **state)
{
	struct patch p;

	p = take_apart(ONLY(POSIX));
	p.h.mod_map[SCRIBE_MOD_POSIX].len -= 100;
	refused_patch(&p, -SCRIBE_E_TRUNCATED, "ends in the middle of a record (604 of 704 bytes)");
	p = take_apart(ONLY(DXT_POSIX));
	set_word(region(&p, SCRIBE_MOD_DXT_POSIX) + 88, -1);
	refused_patch(&p, -SCRIBE_E_LIMIT, "segment counts out of range (-1, ");
	p = take_apart(ONLY(DXT_POSIX));
	set_word(region(&p, SCRIBE_MOD_DXT_POSIX) + 96, INT64_MAX);
	refused_patch(&p, -SCRIBE_E_LIMIT, "DXT_POSIX region (file offset");
	p = take_apart(ONLY(DXT_POSIX));
	set_word(region(&p, SCRIBE_MOD_DXT_POSIX) + 88, 1000000);
	refused_patch(&p, -SCRIBE_E_TRUNCATED, "ends in the middle of a record");
	p = take_apart(ONLY(LUSTRE));
	set_word(region(&p, SCRIBE_MOD_LUSTRE) + 16, 1ll << 60);
	refused_patch(&p, -SCRIBE_E_LIMIT, "components or stripes out of range");
	p = take_apart(ONLY(LUSTRE));
	set_word(region(&p, SCRIBE_MOD_LUSTRE) + 24, -5);
	refused_patch(&p, -SCRIBE_E_LIMIT, ", -5)");
	p = take_apart(ONLY(HEATMAP));
	set_word(region(&p, SCRIBE_MOD_HEATMAP) + 24, 1ll << 40);
	refused_patch(&p, -SCRIBE_E_LIMIT, "bins out of range (1099511627776, 0)");
	p = take_apart(ONLY(MDHIM));
	set_word(region(&p, SCRIBE_MOD_MDHIM) + 16 + 8 * SCRIBE_MDHIM_SERVERS, 1ll << 50);
	refused_patch(&p, -SCRIBE_E_LIMIT, "servers out of range");
	p = take_apart(ONLY(APMPI));
	p.h.mod_map[SCRIBE_MOD_APMPI].len -= 8;
	refused_patch(&p, -SCRIBE_E_TRUNCATED, "APMPI region");
	p = take_apart(ONLY(POSIX));
	p.h.name_map.len -= 1;
	refused_patch(&p, -SCRIBE_E_TRUNCATED, "name region (file offset");
}

static void damaged_trailers(void **state)
{
	struct scribe_log_trailer t;
	char text[512];
	int fd = random_log(NULL, ONLY(POSIX) | ONLY(PROCESS) | ONLY(LEDGER), 2, 3);
	off_t n = lseek(fd, 0, SEEK_END), at = n - (off_t)sizeof(t);

	assert_int_equal(read_all(fd, text), 0);
	assert_int_equal(pread(fd, &t, sizeof(t), at), sizeof(t));
	t.map[SCRIBE_MOD_PROCESS - SCRIBE_OWN_FIRST].off = (uint64_t)at; /* into the trailer */
	assert_int_equal(pwrite(fd, &t, sizeof(t), at), sizeof(t));
	refused(fd, -SCRIBE_E_TRUNCATED, "PROCESS region");
	t.map[SCRIBE_MOD_PROCESS - SCRIBE_OWN_FIRST].off = 3;
	assert_int_equal(pwrite(fd, &t, sizeof(t), at), sizeof(t));
	refused(fd, -SCRIBE_E_FORMAT, "PROCESS region");
	/* cut anywhere: never a log that lacks our modules silently */
	while (n-- > 0) {
		assert_int_equal(ftruncate(fd, n), 0);
		assert_true(read_all(fd, text) < 0);
		if (n == at + 10)
			assert_non_null(strstr(text, "trailer: not at the end of the file"));
	}
	close(fd);
}

/* A trimmed count in a LUSTRE record that cannot be right leaves the record as it is. */
static void lustre_counts_that_do_not_add_up(void **state)
{
	struct patch p = take_apart(ONLY(LUSTRE));
	char text[512];
	int fd = memory_file();

	set_word(region(&p, SCRIBE_MOD_LUSTRE) + 32 + 8 * SCRIBE_LUSTRE_COMP_STRIPE_COUNT, INT64_MAX);
	assert_int_equal(pwrite(fd, &p.h, sizeof(p.h), 0), sizeof(p.h));
	assert_int_equal(pwrite(fd, p.rest, p.n, sizeof(p.h)), p.n);
	assert_int_equal(read_all(fd, text), 0);
	close(fd);
	free(p.rest);
}

/* ---- compressed regions made by hand ---- */
static void put_region(int fd, struct scribe_log_header *h, const void *bytes, size_t n, struct scribe_log_map *map)
{
	off_t end = lseek(fd, 0, SEEK_END);

	if ((size_t)end < sizeof(*h))
		end = sizeof(*h);
	assert_int_equal(pwrite(fd, bytes, n, end), n);
	*map = (struct scribe_log_map){(uint64_t)end, n};
	assert_int_equal(pwrite(fd, h, sizeof(*h), 0), sizeof(*h));
}

static void put_zlib(int fd, struct scribe_log_header *h, const void *bytes, size_t n, struct scribe_log_map *map)
{
	void *z;
	size_t zn;

	assert_int_equal(scribe_deflate_region(bytes, n, &z, &zn, NULL), 0);
	put_region(fd, h, z, zn, map);
	free(z);
}

static int start_log(struct scribe_log_header *h)
{
	struct scribe_log_map job;
	void *bytes;
	size_t n;
	int fd = memory_file();

	scribe_log_header_init(h);
	assert_int_equal(scribe_job_region_encode(some_job(), "x", NULL, 0, &bytes, &n, NULL), 0);
	put_zlib(fd, h, bytes, n, &job);
	free(bytes);
	return fd;
}

static void damaged_compression(void **state)
{
	struct scribe_log_header h;
	struct scribe_log_map map;
	static char big[3u << 20];
	int fd;

	fd = memory_file(); /* job region is no zlib */
	scribe_log_header_init(&h);
	put_region(fd, &h, "not compressed at all", 21, &map);
	refused(fd, -SCRIBE_E_COMPRESSION, "job region (file offset 1330, plain byte 0): zlib data are damaged");
	close(fd);
	fd = memory_file(); /* too short */
	put_zlib(fd, &h, big, 100, &map);
	refused(fd, -SCRIBE_E_TRUNCATED, "job region (file offset 1328): 100 plain bytes, at least 1081");
	close(fd);
	fd = memory_file(); /* too long */
	put_zlib(fd, &h, big, 5000, &map);
	refused(fd, -SCRIBE_E_LIMIT, "job region");
	close(fd);
	fd = start_log(&h); /* a name without an end */
	memset(big, 'n', sizeof(big));
	put_zlib(fd, &h, big, sizeof(big), &h.name_map);
	put_region(fd, &h, "", 0, &map);
	refused(fd, -SCRIBE_E_LIMIT, "a name of more than 1048576 bytes");
	close(fd);
	fd = start_log(&h); /* stream cut in the middle */
	put_zlib(fd, &h, big, sizeof(big), &h.mod_map[SCRIBE_MOD_POSIX]);
	h.mod_ver[SCRIBE_MOD_POSIX] = 4;
	h.mod_map[SCRIBE_MOD_POSIX].len -= 10;
	put_region(fd, &h, "", 0, &map);
	refused(fd, -SCRIBE_E_TRUNCATED, "POSIX region");
	close(fd);
	scribe_log_header_init(&h);
	h.comp_type = SCRIBE_COMP_BZIP2;
	fd = memory_file();
	put_region(fd, &h, "BZh9 no bzip2 after all", 23, &map);
	refused(fd, -SCRIBE_E_COMPRESSION, "bzip2 data are damaged");
	close(fd);
}

static long peak_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* Names and records that expand a million times: an error, not the machine's memory. */
static void zip_bombs(void **state)
{
	struct scribe_writer_options o = {.compression = SCRIBE_COMP_BZIP2};
	struct scribe_log_header h;
	struct scribe_log_map map;
	unsigned size = 96u << 20, packed = 1u << 20;
	char *zeros = calloc(1, size), *bomb = malloc(packed);
	long before;
	int fd;

	assert_int_equal(BZ2_bzBuffToBuffCompress(bomb, &packed, zeros, size, 9, 0, 0), BZ_OK);
	free(zeros);
	before = peak_kib();
	fd = random_log(&o, 0, 0, 3);
	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	put_region(fd, &h, bomb, packed, &h.mod_map[SCRIBE_MOD_DXT_POSIX]);
	h.mod_ver[SCRIBE_MOD_DXT_POSIX] = 1;
	put_region(fd, &h, "", 0, &map);
	{
		struct scribe_reader *r = must_open(fd);
		const void *rec;
		size_t len;
		int rc;

		while ((rc = scribe_reader_borrow_record(r, SCRIBE_MOD_DXT_POSIX, &rec, &len)) > 0)
			;
		assert_int_equal(rc, -SCRIBE_E_LIMIT);
		assert_non_null(strstr(scribe_reader_error(r)->text, "not a plausible log"));
		scribe_reader_free(r);
	}
	close(fd);
	free(bomb);
	assert_true(peak_kib() - before < 64 * 1024);
}

/* ---- 3.00: names with a length ---- */
static void old_names(void **state)
{
	struct {
		char version[8];
		int64_t magic;
		uint8_t comp, pad[3];
		uint32_t partial;
		struct scribe_log_map name, mod[16];
		uint32_t ver[16];
	} h = {.version = "3.00", .magic = SCRIBE_LOG_MAGIC, .comp = SCRIBE_COMP_NONE};
	char job[1064 + 4] = {0}, names[2 * (8 + 4 + 3)];
	uint32_t three = 3, huge = 1u << 31;
	struct scribe_reader *r;
	struct scribe_name name;
	int fd = memory_file();

	_Static_assert(sizeof(h) == 360, "old header");
	strcpy(job + 1064, "exe");
	for (int i = 0; i < 2; i++) {
		memset(names + 15 * i, 0, 8);
		names[15 * i] = (char)(i + 1);
		memcpy(names + 15 * i + 8, &three, 4);
		memcpy(names + 15 * i + 12, i ? "a\0b" : "xyz", 3);
	}
	h.name = (struct scribe_log_map){sizeof(h) + sizeof(job), sizeof(names)};
	assert_int_equal(write(fd, &h, sizeof(h)), sizeof(h));
	assert_int_equal(write(fd, job, sizeof(job)), sizeof(job));
	assert_int_equal(write(fd, names, sizeof(names)), sizeof(names));
	r = must_open(fd);
	assert_int_equal(scribe_reader_info(r)->version, 300);
	assert_string_equal(scribe_reader_exe(r), "exe");
	assert_int_equal(scribe_reader_next_name(r, &name), 1);
	assert_int_equal(name.id, 1);
	assert_string_equal(name.bytes, "xyz");
	assert_int_equal(scribe_reader_next_name(r, &name), 1);
	assert_int_equal(name.len, 3); /* a NUL inside is possible here */
	assert_memory_equal(name.bytes, "a\0b", 4);
	assert_int_equal(scribe_reader_next_name(r, &name), 0);
	scribe_reader_free(r);
	assert_int_equal(pwrite(fd, &huge, 4, (off_t)(sizeof(h) + sizeof(job) + 8)), 4);
	refused(fd, -SCRIBE_E_LIMIT, "a name of 2147483648 bytes, at most 1048576");
	h.name.len -= 1;
	assert_int_equal(pwrite(fd, &three, 4, (off_t)(sizeof(h) + sizeof(job) + 8)), 4);
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	refused(fd, -SCRIBE_E_TRUNCATED, "ends in the middle of a name");
	close(fd);
}

/* ---- truncation at every byte, every bit of the header ---- */
static const char *const torn_logs[] = {"mpi-io-test-ppc64-3.0.1.darshan", "mpi-io-test-x86_64-3.5.0.darshan",
					"mpi-io-test-ppc64-3.1.6.darshan"};

#ifdef __SANITIZE_ADDRESS__ /* tens of times slower: a part of it, of bits at each place in their bytes */
#define STEP 5u
#else
#define STEP 1u
#endif

static int copy_sample(const char *name, size_t *ret_n)
{
	char path[512];
	static char bytes[1u << 16];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/logs/%s", SCRIBE_TEST_DATA, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, bytes, sizeof(bytes));
	assert_true(n > 0 && (size_t)n < sizeof(bytes));
	close(fd);
	*ret_n = (size_t)n;
	return file_of(bytes, (size_t)n);
}

static void truncated_at_every_byte(void **state)
{
	for (size_t i = 0; i < sizeof(torn_logs) / sizeof(torn_logs[0]); i++) {
		char text[512];
		size_t n;
		int fd = copy_sample(torn_logs[i], &n);

		assert_int_equal(read_all(fd, text), 0);
		while (n > 0) {
			n -= n < STEP ? n : STEP;
			assert_int_equal(ftruncate(fd, (off_t)n), 0);
			assert_true(read_all(fd, text) < 0);
			assert_int_equal(strncmp(text, "FILE: ", 6), 0);
			assert_null(strchr(text, '\n'));
		}
		close(fd);
	}
}

static void every_bit_of_the_header(void **state)
{
	for (size_t i = 0; i < sizeof(torn_logs) / sizeof(torn_logs[0]); i++) {
		char text[512];
		size_t n;
		int fd = copy_sample(torn_logs[i], &n);
		size_t header = i == 1 ? 1328 : 360;

		for (size_t bit = 0; bit < header * 8; bit += STEP) {
			unsigned char was, now;
			int rc;

			assert_int_equal(pread(fd, &was, 1, (off_t)(bit / 8)), 1);
			now = was ^ (unsigned char)(1u << bit % 8);
			assert_int_equal(pwrite(fd, &now, 1, (off_t)(bit / 8)), 1);
			rc = read_all(fd, text);
			assert_true(rc <= 0);
			assert_int_equal(rc < 0, text[0] != 0);
			assert_int_equal(pwrite(fd, &was, 1, (off_t)(bit / 8)), 1);
		}
		assert_int_equal(read_all(fd, text), 0);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files),
		cmocka_unit_test(other_things),
		cmocka_unit_test(damaged_headers),
		cmocka_unit_test(damaged_regions),
		cmocka_unit_test(damaged_trailers),
		cmocka_unit_test(lustre_counts_that_do_not_add_up),
		cmocka_unit_test(damaged_compression),
		cmocka_unit_test(zip_bombs),
		cmocka_unit_test(old_names),
		cmocka_unit_test(truncated_at_every_byte),
		cmocka_unit_test(every_bit_of_the_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
