/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/kernel/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

void watched_scratch(struct watched *w)
{
	memset(w, 0, sizeof(*w));
	snprintf(w->dir, sizeof(w->dir), "/tmp/ioscribe-kernel.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	assert_int_equal(chmod(w->dir, 0777), 0);
	assert_int_equal(chdir(w->dir), 0);
}

uint32_t *watched_version(struct scribe_bpf *bpf)
{
	return &bpf->ctl->wire_version;
}

void watched_begin(struct watched *w, const struct scribe_bpf_options *options)
{
	struct scribe_bpf_options o = *options;
	const char *level = getenv("IOSCRIBE_TEST_ATTACH");
	struct scribe_err err = {0};

	watched_scratch(w);
	if (level)
		o.level = scribe_bpf_level_of(level);
	if (scribe_bpf_open(&o, &w->bpf, &err) < 0 || scribe_bpf_attach(w->bpf, &err) < 0)
		fail_msg("%s", err.text);
}

void watched_end(struct watched *w)
{
	char command[128];

	scribe_bpf_free(w->bpf);
	free(w->told);
	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", w->dir);
	assert_int_equal(system(command), 0);
}

static int take(void *ctx, const struct scribe_event *ev, const char *text)
{
	struct watched *w = ctx;
	size_t n = ev->text_bytes < sizeof(w->told->text) - 1 ? ev->text_bytes : sizeof(w->told->text) - 1;

	if (w->n == w->room) {
		w->room = w->room ? w->room * 2 : 256;
		w->told = realloc(w->told, w->room * sizeof(*w->told));
		assert_non_null(w->told);
	}
	w->told[w->n].ev = *ev;
	memcpy(w->told[w->n].text, text, n);
	w->told[w->n].text[n] = 0;
	w->n++;
	w->position = scribe_bpf_position(w->bpf);
	return 0;
}

void watched_take(struct watched *w)
{
	while (scribe_bpf_poll(w->bpf, 0, take, w) > 0)
		;
}

const char *watched_program(struct watched *w, const char *name)
{
	static char to[8][192];
	static unsigned n;
	char *at = to[n++ % 8], command[512];

	snprintf(at, sizeof(to[0]), "%s/%s", w->dir, name);
	snprintf(command, sizeof(command), "cp '" WATCHED_PROGRAMS "/%s' '%s' && chmod 755 '%s'", name, at, at);
	assert_int_equal(system(command), 0);
	return at;
}

static void put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		_exit(97);
	}
	close(fd);
}

static void put_map(pid_t pid, const char *which, uint32_t id)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, which);
	snprintf(text, sizeof(text), "0 %u 1", id);
	put_text(path, text);
}

static void child(const struct how *how, int go)
{
	bool mapped = how->namespaces & CLONE_NEWUSER;
	char path[256], c;

	if (read(go, &c, 1) != 1)
		_exit(96);
	if (!freopen("/dev/null", "w", stdout)) /* no regular file: it does not count */
		_exit(91);
	if (how->cwd && chdir(how->cwd) < 0)
		_exit(92);
	if (how->cgroup) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", how->cgroup);
		put_text(path, "0");
	}
	if (!mapped && setgroups(0, NULL) < 0)
		_exit(95);
	if (setresgid(mapped ? 0 : how->gid, mapped ? 0 : how->gid, mapped ? 0 : how->gid) < 0 ||
	    setresuid(mapped ? 0 : how->uid, mapped ? 0 : how->uid, mapped ? 0 : how->uid) < 0)
		_exit(94);
	execve(how->argv[0], (char *const *)how->argv, how->env);
	fprintf(stderr, "%s: %s\n", how->argv[0], strerror(errno));
	_exit(93);
}

pid_t watched_start(const struct how *how)
{
	int go[2];
	pid_t pid;

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	fflush(NULL);
	pid = (pid_t)syscall(SYS_clone, (long)how->namespaces | SIGCHLD, NULL, NULL, NULL, NULL);
	assert_true(pid >= 0);
	if (pid == 0)
		child(how, go[0]);
	if (how->namespaces & CLONE_NEWUSER) {
		put_map(pid, "uid_map", how->uid);
		put_map(pid, "gid_map", how->gid);
	}
	assert_int_equal(write(go[1], "g", 1), 1);
	close(go[0]);
	close(go[1]);
	return pid;
}

void watched_wait(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

pid_t watched_run(struct watched *w, const struct how *how)
{
	pid_t pid = watched_start(how);

	watched_wait(pid);
	watched_take(w);
	return pid;
}

const struct told *watched_join(const struct watched *w, pid_t pid)
{
	for (size_t i = w->n; i-- > 0;)
		if (w->told[i].ev.type == SCRIBE_EV_JOIN && w->told[i].ev.tgid == (uint32_t)pid)
			return &w->told[i];
	return NULL;
}

unsigned watched_count(const struct watched *w, pid_t pid, uint32_t type, uint32_t flags)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->told[i].ev.type == type && (!pid || w->told[i].ev.tgid == (uint32_t)pid) &&
		     (!flags || (w->told[i].ev.exec.flags & flags) == flags);
	return n;
}

bool watched_named(const struct watched *w, pid_t pid, const char *leaf)
{
	size_t n = strlen(leaf);

	for (size_t i = 0; i < w->n; i++)
		if (w->told[i].ev.type == SCRIBE_EV_NAME && (!pid || w->told[i].ev.tgid == (uint32_t)pid) &&
		    !strncmp(w->told[i].text, leaf, n) && w->told[i].text[n] == '/')
			return true;
	return false;
}

void watched_job(const char *variable, struct scribe_job_entry *ret_job)
{
	struct scribe_job_entry job = {.active = 1, .quota = 256, .match = SCRIBE_MATCH_ENV, .uid = WATCHED_UID};

	assert_int_equal(scribe_job_set_variable(&job, variable), 0);
	*ret_job = job;
}
