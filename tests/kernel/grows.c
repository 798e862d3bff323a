// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory as it is used: little at the start, more before it is needed, by a thread of
 * the loader while its caller does something else; what nobody adds folds, and counts.
 */
#include "tests/kernel/watched.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILES    30000u
#define FEW_CPUS 8 /* sizes follow the processors */
#define LITTLE   (36u << 20)

struct sums {
	uint64_t records, folded, opens;
};

static void make_files(int go)
{
	char name[32], c;

	if (read(go, &c, 1) != 1)
		_exit(96);
	for (unsigned i = 0; i < FILES; i++) {
		int fd;

		snprintf(name, sizeof(name), "f%u", i);
		fd = open(name, O_CREAT | O_WRONLY, 0644);
		if (fd < 0 || close(fd) < 0 || unlink(name) < 0)
			_exit(95);
	}
	_exit(0);
}

static int add(void *ctx, const struct scribe_slot_view *v)
{
	struct sums *s = ctx;
	bool folded = v->slot->kind == SCRIBE_KIND_CATCHALL;

	s->records += !folded;
	for (unsigned i = 0; i < v->nshards; i++) {
		s->opens += v->shard[i]->opens;
		if (folded)
			s->folded += v->shard[i]->opens;
	}
	return 0;
}

/* What a process that makes files has left behind; meanwhile nobody polls. */
static struct sums run(struct watched *w)
{
	struct scribe_job_entry job = {.active = 1, .quota = 100000};
	struct scribe_err err = {0};
	uint32_t index, proc_id;
	struct sums s = {0};
	int go[2];
	pid_t pid;

	assert_int_equal(scribe_bpf_set_job(w->bpf, 0, &job), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		make_files(go[0]);
	assert_int_equal(scribe_bpf_enrol(w->bpf, pid, 0, &index, &proc_id, &err), 0);
	assert_int_equal(write(go[1], "g", 1), 1);
	close(go[0]);
	close(go[1]);
	watched_wait(pid);
	assert_int_equal(scribe_bpf_drain_and_free(w->bpf, index, add, &s), 0);
	return s;
}

static uint64_t overflowed_files(struct watched *w)
{
	struct scribe_ledger l;

	assert_int_equal(scribe_bpf_ledger(w->bpf, 0, &l), 0);
	return l.v[SCRIBE_L_OVERFLOWED_FILES];
}

static uint64_t begin(struct watched *w, bool whole)
{
	const struct scribe_bpf_options options = {.whole = whole, .nobody_joins = true};

	watched_begin(w, &options);
	return scribe_bpf_memory(w->bpf);
}

static void little_at_the_start(void **state)
{
	struct watched w;
	uint64_t whole = begin(&w, true), used;

	(void)state;
	watched_end(&w);
	used = begin(&w, false);
	watched_end(&w);
	assert_true(whole > 114688ull << 10);
	if (sysconf(_SC_NPROCESSORS_CONF) <= FEW_CPUS)
		assert_in_range(used, 0, LITTLE);
}

static void more_before_it_is_needed(void **state)
{
	struct watched w;
	uint64_t before = begin(&w, false);
	struct sums s;

	(void)state;
	scribe_bpf_keep_growing(w.bpf);
	s = run(&w);
	assert_int_equal(s.opens, FILES);
	assert_int_equal(s.folded, 0);
	assert_int_equal(overflowed_files(&w), 0);
	assert_true(s.records >= FILES);
	assert_true(scribe_bpf_memory(w.bpf) > before + (FILES / 2 << 10));
	watched_end(&w);
}

static void what_nobody_adds_folds(void **state)
{
	struct watched w;
	struct sums s;

	(void)state;
	begin(&w, false);
	s = run(&w);
	assert_int_equal(s.opens, FILES);
	assert_true(s.folded > 0 && s.folded < FILES);
	assert_true(overflowed_files(&w) > 0);
	/* who comes by late finds it low, and adds some: for the next one there is room again */
	watched_take(&w);
	assert_true(scribe_bpf_free_slots(w.bpf) > SCRIBE_SLOTS_CHUNK);
	watched_end(&w);
}

static void all_where_nobody_may_be_there(void **state)
{
	struct watched w;
	uint64_t before = begin(&w, true);
	struct sums s = run(&w);

	(void)state;
	assert_int_equal(s.opens, FILES);
	assert_int_equal(s.folded, 0);
	assert_int_equal(scribe_bpf_memory(w.bpf), before);
	watched_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_at_the_start),
		cmocka_unit_test(more_before_it_is_needed),
		cmocka_unit_test(what_nobody_adds_folds),
		cmocka_unit_test(all_where_nobody_may_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
