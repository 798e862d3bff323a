/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of a log in memory: merging, reduction over ranks, order of writing;
 * and the helper that puts files into the user's directories.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/records/bundle.h"
#include "runtime/daemon/privsep/helper.h"

static struct scribe_posix_record record(uint64_t id, int64_t rank, int64_t writes)
{
	struct scribe_posix_record r = {.base = {id, rank}};

	r.counters[SCRIBE_POSIX_OPENS] = 1;
	r.counters[SCRIBE_POSIX_WRITES] = writes;
	r.counters[SCRIBE_POSIX_BYTES_WRITTEN] = writes * 10;
	return r;
}

static void add(struct scribe_bundle *b, uint64_t id, int64_t rank, int64_t writes)
{
	struct scribe_posix_record r = record(id, rank, writes);

	assert_int_equal(scribe_bundle_add(b, SCRIBE_MOD_POSIX, &r, sizeof(r)), 0);
}

static const struct scribe_posix_record *find(const struct scribe_bundle *b, uint64_t id, int64_t rank)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->rec[i]->module == SCRIBE_MOD_POSIX && b->rec[i]->id == id && b->rec[i]->rank == rank)
			return (const void *)b->rec[i]->data;
	return NULL;
}

static void merge_and_reduce(void **state)
{
	struct scribe_bundle b = {0};

	(void)state;
	for (int64_t rank = 0; rank < 3; rank++) {
		add(&b, 100, rank, rank + 1); /* on every rank */
		add(&b, 200 + (uint64_t)rank, rank, 1);
	}
	add(&b, 300, 1, 5); /* on two of three */
	add(&b, 300, 2, 5);
	add(&b, 100, 2, 10); /* again the same rank: merged */
	assert_int_equal(b.n, 8);
	assert_int_equal(scribe_bundle_reduce(&b, 3), 0);
	assert_int_equal(b.n, 6);
	assert_non_null(find(&b, 100, -1));
	assert_null(find(&b, 100, 0));
	assert_int_equal(find(&b, 100, -1)->counters[SCRIBE_POSIX_WRITES], 1 + 2 + 3 + 10);
	assert_int_equal(find(&b, 100, -1)->base.rank, -1);
	assert_int_equal(find(&b, 300, 1)->counters[SCRIBE_POSIX_WRITES], 5);
	/* later I/O of one rank on a shared file goes into the shared record */
	add(&b, 100, 1, 100);
	assert_int_equal(b.n, 6);
	assert_int_equal(find(&b, 100, -1)->counters[SCRIBE_POSIX_WRITES], 116);
	assert_int_equal(scribe_bundle_add(&b, SCRIBE_MOD_POSIX, "short", 5), -EINVAL);
	scribe_bundle_clear(&b);
}

/* Layouts that every rank has become one, the first rank's; others stay one a rank. */
static void layouts(void **state)
{
	const size_t bytes = sizeof(struct scribe_lustre_record) + sizeof(struct scribe_lustre_comp);
	struct scribe_lustre_record *l = calloc(1, bytes);
	struct scribe_bundle b = {0};

	(void)state;
	assert_non_null(l);
	l->num_comps = 1;
	for (int64_t rank = 2; rank >= 0; rank--) {
		l->base = (struct scribe_base_record){100, rank};
		l->comps[0].counters[SCRIBE_LUSTRE_COMP_EXT_END] = rank;
		assert_int_equal(scribe_bundle_add(&b, SCRIBE_MOD_LUSTRE, l, bytes), 0);
		l->base.id = 200 + (uint64_t)rank;
		assert_int_equal(scribe_bundle_add(&b, SCRIBE_MOD_LUSTRE, l, bytes), 0);
	}
	free(l);
	assert_int_equal(scribe_bundle_reduce(&b, 3), 0);
	assert_int_equal(b.n, 4);
	for (size_t i = 0; i < b.n; i++) {
		l = (void *)b.rec[i]->data;
		assert_int_equal(l->base.rank, b.rec[i]->rank);
		assert_int_equal(l->base.rank, l->base.id == 100 ? -1 : (int64_t)l->base.id - 200);
		assert_int_equal(l->comps[0].counters[SCRIBE_LUSTRE_COMP_EXT_END],
				 l->base.id == 100 ? 0 : l->base.rank);
	}
	scribe_bundle_clear(&b);
}

static void worlds_of_one_rank_and_none(void **state)
{
	struct scribe_bundle b = {0};

	(void)state;
	assert_int_equal(scribe_bundle_reduce(&b, 4), 0);
	add(&b, 1, 0, 1);
	assert_int_equal(scribe_bundle_reduce(&b, 0), 0); /* no world: nothing is shared */
	assert_non_null(find(&b, 1, 0));
	assert_int_equal(scribe_bundle_reduce(&b, 1), 0); /* a world of one: all of it is */
	assert_non_null(find(&b, 1, -1));
	scribe_bundle_clear(&b);
}

static void many_ranks_many_files(void **state)
{
	struct scribe_bundle b = {0};

	(void)state;
	for (int64_t rank = 0; rank < 40; rank++)
		for (uint64_t id = 0; id < 200; id++)
			if (id % 2 == 0 || (int64_t)id % 40 != rank)
				add(&b, id, rank, 1);
	assert_int_equal(scribe_bundle_reduce(&b, 40), 0);
	for (uint64_t id = 0; id < 200; id++) {
		const struct scribe_posix_record *r = find(&b, id, -1);

		assert_int_equal(r != NULL, id % 2 == 0);
		if (r)
			assert_int_equal(r->counters[SCRIBE_POSIX_OPENS], 40);
	}
	scribe_bundle_clear(&b);
}

static void written_and_read_again(void **state)
{
	struct scribe_writer_options o = {.compression = SCRIBE_COMP_NONE};
	struct scribe_log_job job = {.nprocs = 2};
	struct scribe_bundle b = {0}, again = {0};
	struct scribe_writer *w;
	struct scribe_reader *r;
	struct scribe_err err = {0};
	int fd = memfd_create("test", MFD_CLOEXEC);

	(void)state;
	add(&b, 2, 1, 1);
	add(&b, 1, 0, 1);
	add(&b, 3, 0, 3);
	add(&b, 3, 1, 4);
	assert_int_equal(scribe_bundle_reduce(&b, 2), 0);
	assert_int_equal(scribe_writer_create_fd(fd, &o, &w, &err), 0);
	assert_int_equal(scribe_writer_job(w, &job, "x", NULL, 0), 0);
	for (uint64_t id = 1; id <= 3; id++)
		assert_int_equal(scribe_writer_name(w, id, "/n", 2), 0);
	assert_int_equal(scribe_bundle_write(&b, w), 0);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	assert_int_equal(scribe_reader_open_fd(fd, "test", &r, &err), 0);
	assert_int_equal(scribe_bundle_read(&again, r, &err), 0);
	assert_int_equal(again.n, 3);
	assert_int_equal(again.names.used, 3);
	assert_int_equal(again.rec[0]->id, 1); /* rank 0's own, the shared one, then rank 1's */
	assert_int_equal(again.rec[1]->rank, -1);
	assert_int_equal(again.rec[2]->rank, 1);
	scribe_reader_free(r);
	scribe_bundle_clear(&b);
	scribe_bundle_clear(&again);
	close(fd);
}

static int answer_of(struct scribe_helper *h)
{
	int rc = 0;

	while (!scribe_helper_answered(h, &rc))
		usleep(1000);
	return rc;
}

/* A log of one byte put under its name. */
static int put(struct scribe_helper *h, const char *partial, const char *to, bool replace)
{
	struct scribe_helper_put p = {.partial = partial, .to = to, .replace = replace};
	int fd = memfd_create("log", MFD_CLOEXEC), rc;

	assert_int_equal(write(fd, "x", 1), 1);
	p.fd = fd;
	rc = scribe_helper_put(h, &p, 20000);
	close(fd);
	return rc < 0 ? rc : answer_of(h);
}

static void the_hand(void **state)
{
	char base[] = "/tmp/scribe-helper-XXXXXX", path[128], to[128];
	struct scribe_helper h;
	struct scribe_err err = {0};
	struct stat st;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(base));
	assert_int_equal(scribe_helper_start(&h, getuid(), getgid(), "", &err), 0);
	snprintf(path, sizeof(path), "%s/a/b/c.part", base);
	snprintf(to, sizeof(to), "%s/a/b/c", base);
	assert_true(scribe_helper_create(&h, path, &err) < 0);
	assert_non_null(strstr(err.text, "cannot create "));
	assert_int_equal(scribe_helper_mkdirs(&h, path, 0, &err), 0);
	fd = scribe_helper_create(&h, path, &err);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(scribe_helper_create(&h, path, &err), -EEXIST);
	assert_int_equal(put(&h, path, to, false), 0);
	assert_int_equal(stat(to, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0400);
	assert_int_equal(put(&h, path, to, false), -EEXIST); /* never over another's log */
	assert_int_equal(put(&h, path, to, true), 0);
	/* a link is not followed, neither to write nor to read */
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_true(scribe_helper_create(&h, path, &err) < 0);
	fd = memfd_create("copy", MFD_CLOEXEC);
	assert_int_equal(scribe_helper_fetch(&h, path, fd, 20000), 0);
	assert_true(answer_of(&h) < 0);
	close(fd);
	assert_int_equal(scribe_helper_remove(&h, path, &err), 0);
	assert_int_equal(scribe_helper_remove(&h, to, &err), 0);
	scribe_helper_stop(&h);
	assert_true(scribe_helper_create(&h, path, &err) < 0); /* no helper: an error, no crash */
	snprintf(path, sizeof(path), "rm -rf %s", base);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merge_and_reduce),
		cmocka_unit_test(layouts),
		cmocka_unit_test(worlds_of_one_rank_and_none),
		cmocka_unit_test(many_ranks_many_files),
		cmocka_unit_test(written_and_read_again),
		cmocka_unit_test(the_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
