/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who joins a job at exec, and who does not: environments of every shape and
 * size, static and Go programs, namespaces, cgroups, descent, many jobs.
 */
#include "tests/kernel/watched.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ON  "IOSCRIBE_ENABLE=1"
#define OFF "IOSCRIBE_DISABLE=1"
#define VAR "SLURM_JOB_ID=4711"

static struct watched W;
static const char *plain;

static int begin(void **state)
{
	struct scribe_bpf_options options = {.slots = 4096, .procs = 512, .tables = 8192, .ring_bytes = 8 << 20};

	watched_begin(&W, &options);
	plain = watched_program(&W, "drops");
	return 0;
}

static int end(void **state)
{
	watched_end(&W);
	return 0;
}

static pid_t start(char *const *env, uint32_t uid, int namespaces, const char *cgroup)
{
	const char *argv[] = {plain, "write", "file", NULL};
	struct how how = {
		.uid = uid, .gid = WATCHED_GID, .namespaces = namespaces, .cgroup = cgroup, .argv = argv, .env = env};

	unlink("file");
	return watched_run(&W, &how);
}

static bool joins(char *const *env)
{
	return watched_join(&W, start(env, WATCHED_UID, 0, NULL)) != NULL;
}

static void set(const struct scribe_job_entry *job)
{
	assert_int_equal(scribe_bpf_set_job(W.bpf, 1, job), 0);
}

static void watch(void)
{
	struct scribe_job_entry job;

	watched_job(VAR, &job);
	set(&job);
}

static void the_environment_decides(void **state)
{
	static const struct {
		const char *env[4];
		bool opt_in, opt_out; /* does it join such a job? */
	} cases[] = {
		{{NULL}, false, false},
		{{ON}, false, false},
		{{VAR}, false, true},
		{{ON, VAR}, true, true},
		{{VAR, ON}, true, true},
		{{"A=", VAR, "B=" ON, ON}, true, true},
		{{VAR, ON, OFF}, false, false},
		{{OFF, VAR, ON}, false, false},
		{{VAR, "IOSCRIBE_DISABLE=0", ON}, true, true},
		{{VAR, "IOSCRIBE_ENABLE=0"}, false, true},
		{{VAR, "IOSCRIBE_ENABLE=11"}, false, true},
		{{VAR, "IOSCRIBE_ENABLE="}, false, true},
		{{VAR, "XIOSCRIBE_ENABLE=1"}, false, true},
		{{VAR, "X=IOSCRIBE_ENABLE=1"}, false, true},
		{{ON, "SLURM_JOB_ID=471"}, false, false},
		{{ON, "SLURM_JOB_ID=47111"}, false, false},
		{{ON, "SLURM_JOB_ID=4712"}, false, false},
		{{ON, "XSLURM_JOB_ID=4711"}, false, false},
		{{ON, "OTHER=" VAR}, false, false},
	};
	struct scribe_job_entry job;

	watched_job(VAR, &job);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *env[5] = {(char *)cases[i].env[0], (char *)cases[i].env[1], (char *)cases[i].env[2],
				(char *)cases[i].env[3]};

		job.flags = 0;
		set(&job);
		if (joins(env) != cases[i].opt_in)
			fail_msg("opt-in, case %zu", i);
		job.flags = SCRIBE_JF_OPT_OUT;
		set(&job);
		if (joins(env) != cases[i].opt_out)
			fail_msg("opt-out, case %zu", i);
	}
}

static void only_the_jobs_user_joins(void **state)
{
	char *env[] = {ON, VAR, NULL};

	watch();
	assert_null(watched_join(&W, start(env, WATCHED_UID + 1, 0, NULL)));
	assert_null(watched_join(&W, start(env, 0, 0, NULL)));
	assert_non_null(watched_join(&W, start(env, WATCHED_UID, 0, NULL)));
	scribe_bpf_close_job(W.bpf, 1);
	assert_null(watched_join(&W, start(env, WATCHED_UID, 0, NULL)));
}

static void what_has_joined_is_told_and_recorded(void **state)
{
	const char *argv[] = {plain, "fork", "first", plain, "write", "second", NULL};
	char *env[] = {"A=1", ON, VAR, NULL};
	struct how how = {.uid = WATCHED_UID, .gid = WATCHED_GID, .argv = argv, .env = env};
	const struct told *join;
	uint32_t child = 0;
	pid_t pid;

	watch();
	pid = watched_run(&W, &how);
	join = watched_join(&W, pid);
	assert_non_null(join);
	assert_int_equal(join->ev.join.job, 1);
	assert_int_equal(scribe_bpf_proc(W.bpf, join->ev.proc)->uid, WATCHED_UID);
	assert_int_equal(scribe_bpf_proc(W.bpf, join->ev.proc)->proc_id, join->ev.proc_id);
	assert_int_equal(scribe_bpf_proc(W.bpf, join->ev.proc)->parent_serial, 0);
	assert_true(watched_named(&W, pid, "first"));
	assert_int_equal(watched_count(&W, pid, SCRIBE_EV_EXEC, 0), 1);
	assert_int_equal(watched_count(&W, pid, SCRIBE_EV_EXIT, 0), 1);
	for (size_t i = 0; i < W.n; i++)
		if (W.told[i].ev.type == SCRIBE_EV_FORK && W.told[i].ev.fork.parent == join->ev.proc_id)
			child = W.told[i].ev.tgid;
	assert_int_not_equal(child, 0);
	assert_null(watched_join(&W, (pid_t)child)); /* it was enrolled already */
	assert_true(watched_named(&W, (pid_t)child, "second"));
}

static void it_stays_through_exec(void **state)
{
	const char *argv[] = {"/bin/sh", "-c", "exec env -i \"$0\" write later", plain, NULL};
	char *env[] = {VAR, ON, "PATH=/usr/bin:/bin", NULL};
	struct how how = {.uid = WATCHED_UID, .gid = WATCHED_GID, .argv = argv, .env = env};
	pid_t pid;

	watch();
	pid = watched_run(&W, &how);
	assert_int_equal(watched_count(&W, pid, SCRIBE_EV_JOIN, 0), 1);
	assert_int_equal(watched_count(&W, pid, SCRIBE_EV_EXEC, 0), 3);
	assert_true(watched_named(&W, pid, "later"));
}

/* n strings of `bytes` with their NUL, `first` before and `last` behind them. */
static char **big(size_t n, size_t bytes, const char *first, const char *last)
{
	char **env = calloc(n + 5, sizeof(*env));
	size_t at = 0;

	env[at++] = strdup(VAR);
	if (first)
		env[at++] = strdup(first);
	for (size_t i = 0; i < n; i++) {
		char *s = malloc(bytes);

		memset(s, 'x', bytes - 1);
		s[bytes > 6 ? 5 : 0] = '=';
		s[bytes - 1] = 0;
		env[at++] = s;
	}
	if (last)
		env[at++] = strdup(last);
	return env;
}

static void freed(char **env)
{
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}

static void environments_of_any_size(void **state)
{
	static const struct {
		size_t n, bytes;
	} sizes[] = {
		{19, 100000},                         /* 1.9 MB of long strings */
		{33000, 40},                          /* of short ones */
		{120000, 2},                          /* hardly any string at all */
		{470, 4096},                          /* as long as what is read at a time, */
		{470, 4095},  {470, 4097},            /* one less and more */
		{1, 4094},    {1, 8190},   {1, 8191}, /* once, and where a second piece ends */
	};

	watch();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char **early = big(sizes[i].n, sizes[i].bytes, ON, NULL);
		char **late = big(sizes[i].n, sizes[i].bytes, NULL, ON);
		char **never = big(sizes[i].n, sizes[i].bytes, NULL, NULL);
		char **both = big(sizes[i].n, sizes[i].bytes, ON, OFF);

		if (!joins(early) || !joins(late) || joins(never) || joins(both))
			fail_msg("%zu strings of %zu bytes", sizes[i].n, sizes[i].bytes);
		freed(early);
		freed(late);
		freed(never);
		freed(both);
	}
}

/* The flag's text inside a long string, at every place around where a piece begins. */
static void a_piece_is_no_string(void **state)
{
	watch();
	for (size_t at = 4088; at < 4102; at++) {
		char *text = malloc(at + sizeof(ON));
		char *env[] = {VAR, text, NULL};

		memset(text, 'y', at);
		text[1] = '=';
		memcpy(text + at, ON, sizeof(ON));
		if (joins(env))
			fail_msg("at %zu", at);
		free(text);
	}
}

static void static_and_go_programs(void **state)
{
	static const char *const names[] = {"static_io", "go_io"};
	char *env[] = {VAR, ON, NULL};

	watch();
	for (size_t i = 0; i < 2; i++) {
		const char *argv[] = {watched_program(&W, names[i]), NULL};
		struct how how = {.uid = WATCHED_UID, .gid = WATCHED_GID, .argv = argv, .env = env};

		assert_non_null(watched_join(&W, watched_run(&W, &how)));
	}
}

static void namespaces(void **state)
{
	char *env[] = {VAR, ON, NULL}, *neither[] = {VAR, NULL};
	int all = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

	watch();
	assert_non_null(watched_join(&W, start(env, WATCHED_UID, CLONE_NEWPID, NULL)));
	assert_non_null(watched_join(&W, start(env, WATCHED_UID, CLONE_NEWUSER, NULL)));
	assert_non_null(watched_join(&W, start(env, WATCHED_UID, all, NULL)));
	assert_null(watched_join(&W, start(neither, WATCHED_UID, all, NULL)));
	assert_null(watched_join(&W, start(env, WATCHED_UID + 1, all, NULL)));
}

/* Where cgroup v2 is mounted. */
static void cgroup_root(char *ret, size_t cap)
{
	char line[512], at[128], type[64];
	FILE *f = fopen("/proc/mounts", "re");

	assert_non_null(f);
	ret[0] = 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %127s %63s", at, type) == 2 && !strcmp(type, "cgroup2"))
			snprintf(ret, cap, "%s", at);
	fclose(f);
	assert_true(ret[0]);
}

static void cgroups(void **state)
{
	char root[200], job_dir[256], below[300], beside[256];
	struct scribe_job_entry job = {.active = 1, .quota = 64, .match = SCRIBE_MATCH_CGROUP, .uid = WATCHED_UID};
	char *env[] = {ON, NULL}, *none[] = {NULL}, *off[] = {OFF, NULL};
	bool inside, deeper, other, without, foreign, contained, out, disabled;
	struct stat st;

	cgroup_root(root, sizeof(root));
	snprintf(job_dir, sizeof(job_dir), "%s/ioscribe-joins-%d", root, (int)getpid());
	snprintf(below, sizeof(below), "%s/step", job_dir);
	snprintf(beside, sizeof(beside), "%s/ioscribe-beside-%d", root, (int)getpid());
	assert_int_equal(mkdir(job_dir, 0755), 0);
	assert_int_equal(mkdir(below, 0755), 0);
	assert_int_equal(mkdir(beside, 0755), 0);
	assert_int_equal(stat(job_dir, &st), 0);
	job.cgroup = st.st_ino;
	set(&job);
	inside = watched_join(&W, start(env, WATCHED_UID, 0, job_dir));
	deeper = watched_join(&W, start(env, WATCHED_UID, CLONE_NEWCGROUP | CLONE_NEWPID, below));
	other = watched_join(&W, start(env, WATCHED_UID, 0, beside));
	without = watched_join(&W, start(none, WATCHED_UID, 0, below));
	foreign = watched_join(&W, start(env, WATCHED_UID + 1, 0, below));
	contained = watched_join(&W, start(env, WATCHED_UID + 1, CLONE_NEWUSER, below));
	job.flags = SCRIBE_JF_OPT_OUT;
	set(&job);
	out = watched_join(&W, start(none, WATCHED_UID, 0, below));
	disabled = watched_join(&W, start(off, WATCHED_UID, 0, below));
	rmdir(below);
	rmdir(job_dir);
	rmdir(beside);
	assert_true(inside && deeper && contained && out);
	assert_false(other || without || foreign || disabled);
}

static uint64_t ticks_of(pid_t pid)
{
	char path[64], text[1024], *at;
	unsigned long long ticks = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	at = strrchr(text, ')');
	assert_non_null(at);
	for (int field = 2; field < 22; field++)
		at = strchr(at + 1, ' ');
	assert_int_equal(sscanf(at, "%llu", &ticks), 1);
	return ticks;
}

static void descent(void **state)
{
	struct scribe_job_entry job;
	char *env[] = {VAR, ON, NULL};
	pid_t idle = fork();

	watched_job(VAR, &job);
	if (idle == 0) {
		pause();
		_exit(0);
	}
	job.ancestor_pid = (uint32_t)getpid();
	set(&job);
	assert_true(joins(env));
	job.ancestor_ticks = ticks_of(getpid());
	set(&job);
	assert_true(joins(env));
	job.ancestor_ticks += 100; /* the process id has been given again since */
	set(&job);
	assert_false(joins(env));
	job.ancestor_pid = (uint32_t)idle;
	job.ancestor_ticks = 0;
	set(&job);
	assert_false(joins(env));
	kill(idle, 9);
	waitpid(idle, NULL, 0);
}

static void the_right_one_of_many_jobs(void **state)
{
	char text[64], *env[] = {ON, text, NULL};
	const struct told *join;

	for (uint32_t i = 2; i < 66; i++) { /* users of their own, and four jobs of one */
		struct scribe_job_entry job;

		snprintf(text, sizeof(text), "SLURM_JOB_ID=%u", i);
		watched_job(text, &job);
		if (i < 62)
			job.uid = WATCHED_UID + i;
		assert_int_equal(scribe_bpf_set_job(W.bpf, i, &job), 0);
	}
	for (uint32_t i = 2; i < 66; i += 3) {
		snprintf(text, sizeof(text), "SLURM_JOB_ID=%u", i);
		join = watched_join(&W, start(env, i < 62 ? WATCHED_UID + i : WATCHED_UID, 0, NULL));
		assert_non_null(join);
		assert_int_equal(join->ev.join.job, i);
	}
	snprintf(text, sizeof(text), "SLURM_JOB_ID=66");
	assert_null(watched_join(&W, start(env, WATCHED_UID, 0, NULL)));
	for (uint32_t i = 2; i < 66; i++)
		scribe_bpf_forget_job(W.bpf, i);
	snprintf(text, sizeof(text), "SLURM_JOB_ID=65");
	assert_null(watched_join(&W, start(env, WATCHED_UID, 0, NULL)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_decides),
		cmocka_unit_test(only_the_jobs_user_joins),
		cmocka_unit_test(what_has_joined_is_told_and_recorded),
		cmocka_unit_test(it_stays_through_exec),
		cmocka_unit_test(environments_of_any_size),
		cmocka_unit_test(a_piece_is_no_string),
		cmocka_unit_test(static_and_go_programs),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(cgroups),
		cmocka_unit_test(descent),
		cmocka_unit_test(the_right_one_of_many_jobs),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
