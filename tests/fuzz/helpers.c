/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands, confinement and probes for fuzz_message.c; see kernel.h. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "logfmt/nodes/part.h"
#include "logfmt/nodes/parts.h"
#include "runtime/daemon/privsep/helper.h"
#include "runtime/daemon/privsep/helper_main.h"
#include "runtime/daemon/privsep/helper_spawner.h"
#include "runtime/daemon/privsep/link_maker.h"
#include "runtime/daemon/privsep/procfs_reader.h"
#include "runtime/daemon/privsep/sandbox.h"
#include "runtime/daemon/privsep/sandbox_syscalls.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kernel.h"
#include "uprobes/attach/attach.h"
#include "uprobes/attach/kernel_tables.h"
#include "uprobes/elf/library_find.h"

static struct {
	int rc;
	unsigned looks;
	char file[1 << 16];
	size_t file_bytes;
} hands;

struct fuzz_put fuzz_put = {.fd = -1};

/* ---- uprobes: no library is probed ---- */

struct scribe_find *scribe_find_new(const char *cache)
{
	return NULL;
}

struct scribe_find *scribe_find_free(struct scribe_find *f)
{
	return NULL;
}

void scribe_find_cached(const struct scribe_find *f, scribe_found_fn fn, void *ctx)
{
}

void scribe_find_listed(const char *list, scribe_found_fn fn, void *ctx)
{
}

int scribe_find_open(const char *path)
{
	return -1;
}

bool scribe_uprobes_need_admin(enum scribe_uprobe_level level)
{
	(void)level;
	return false;
}

size_t scribe_uprobes_attached(const struct scribe_uprobes *u)
{
	return 0;
}

int scribe_uprobes_open(struct scribe_bpf *b, const struct scribe_uprobes_options *options,
			struct scribe_uprobes **ret_u, struct scribe_err *err)
{
	return scribe_err_set(err, -ENOTSUP, "no probes");
}

bool scribe_uprobes_adopted(const struct scribe_uprobes *u)
{
	return true;
}

struct scribe_uprobes *scribe_uprobes_free(struct scribe_uprobes *u)
{
	return NULL;
}

struct scribe_uprobes *scribe_uprobes_close_keep_pins(struct scribe_uprobes *u)
{
	return NULL;
}

void scribe_uprobes_drop_pinned(struct scribe_bpf *b)
{
}

int scribe_uprobes_file(struct scribe_uprobes *u, int fd, const char *label, bool site,
			struct scribe_uprobes_result *ret, struct scribe_err *err)
{
	return scribe_err_set(err, -ENOTSUP, "no probes");
}

const struct scribe_uprobed *scribe_uprobes_known(const struct scribe_uprobes *u, uint64_t dev, uint64_t ino)
{
	return NULL;
}

const struct scribe_uprobed *scribe_uprobes_current(struct scribe_uprobes *u, const struct stat *st)
{
	return NULL;
}

bool scribe_uprobes_tick(struct scribe_uprobes *u, struct scribe_err *err)
{
	return false;
}

bool scribe_uprobes_busy(const struct scribe_uprobes *u)
{
	return false;
}

bool scribe_uprobes_busy_with(const struct scribe_uprobes *u, uint64_t dev, uint64_t ino)
{
	return false;
}

const struct scribe_link_maker scribe_linker;

bool scribe_linker_is_there(void)
{
	return false;
}

int scribe_linker_open(struct scribe_err *err)
{
	return 0;
}

void scribe_linker_close(void)
{
}

int scribe_procfs_open(struct scribe_err *err)
{
	return 0;
}

void scribe_procfs_close(void)
{
}

void scribe_procfs_look(uid_t uid, pid_t pid, struct scribe_process_look *ret)
{
	*ret = (struct scribe_process_look){0};
}

int scribe_procfs_root(uid_t uid, pid_t pid)
{
	return -1;
}

bool scribe_procfs_start_ticks(uid_t uid, pid_t pid, uint64_t *ret)
{
	*ret = 1;
	return true;
}

uint64_t scribe_uprobes_give_way(struct scribe_uprobes *u)
{
	return 0;
}

void scribe_uprobes_forget_others(struct scribe_uprobes *u)
{
}

bool scribe_uprobes_detach_one(struct scribe_uprobes *u)
{
	return false;
}

const struct scribe_uprobed *scribe_uprobes_known_inode(const struct scribe_uprobes *u, uint64_t ino)
{
	return NULL;
}

void scribe_uprobes_load_wanted(struct scribe_uprobes *u)
{
}

uint64_t scribe_uprobes_inside_since(const struct scribe_uprobes *u)
{
	return SCRIBE_UPROBED_NEVER;
}

uint64_t scribe_uprobes_named(const struct scribe_uprobes *u, const char *name)
{
	return 0;
}

bool scribe_uprobes_shape(const struct scribe_uprobes *u, int64_t key, struct scribe_access_pattern *ret_shape)
{
	return false;
}

int scribe_uprobes_table(const struct scribe_uprobes *u, const char *name)
{
	return -1;
}

void scribe_tables_sweep(int table_fd, bool (*alive)(void *ctx, uint32_t proc_id), void *ctx)
{
}

void scribe_tables_move_shapes(int shapes_fd,
			       void (*take)(void *ctx, int64_t key, const struct scribe_access_pattern *shape),
			       void *ctx)
{
}

/* ---- hands ---- */

void fuzz_hands(int rc, unsigned looks)
{
	hands.rc = rc;
	hands.looks = looks;
}

void fuzz_hands_file(const void *bytes, size_t n)
{
	hands.file_bytes = n < sizeof(hands.file) ? n : sizeof(hands.file);
	memcpy(hands.file, bytes, hands.file_bytes);
}

void fuzz_hands_image(int fd)
{
	ssize_t n = pread(fd, hands.file, sizeof(hands.file), 0);

	hands.file_bytes = n > 0 ? (size_t)n : 0;
}

int scribe_sandbox(enum scribe_process_role role, struct scribe_err *err)
{
	return 0;
}

void scribe_calls_report(void)
{
}

bool scribe_helpers_lost(void)
{
	return false;
}

int scribe_helpers_open(bool for_run, struct scribe_err *err)
{
	return 0;
}

void scribe_helpers_close(void)
{
}

void scribe_helpers_end_hung(void)
{
}

int scribe_helper_start(struct scribe_helper *h, uid_t uid, gid_t gid, const char *user, struct scribe_err *err)
{
	return scribe_helper_start_as(h, &(struct scribe_helper_wanted){0}, err);
}

int scribe_helper_start_as(struct scribe_helper *h, const struct scribe_helper_wanted *who, struct scribe_err *err)
{
	*h = (struct scribe_helper){.pid = -1, .sock = -1};
	if (hands.rc == -EPERM)
		return scribe_err_set(err, -EPERM, "cannot become user");
	h->sock = 1 << 20; /* no descriptor: never used as one here */
	return 0;
}

void scribe_helper_stop(struct scribe_helper *h)
{
	*h = (struct scribe_helper){.pid = -1, .sock = -1};
}

int scribe_helper_mkdirs(struct scribe_helper *h, const char *path, unsigned own, struct scribe_err *err)
{
	return hands.rc < 0 ? scribe_err_set(err, hands.rc, "cannot make %.60s", path) : 0;
}

int scribe_helper_create(struct scribe_helper *h, const char *path, struct scribe_err *err)
{
	int rc = scribe_helper_mkdirs(h, path, 0, err);

	return rc < 0 ? rc : memfd_create("created", MFD_CLOEXEC);
}

int scribe_helper_resolve(struct scribe_helper *h, int root_fd, const char *path, bool nofollow, uint32_t deadline_ms)
{
	return -EPIPE;
}

bool scribe_helper_resolved(struct scribe_helper *h, struct scribe_helper_path *ret, int *ret_rc)
{
	*ret_rc = -EPIPE;
	return true;
}

int scribe_helper_send(int sock, const void *data, size_t bytes, int fd)
{
	return -EPIPE;
}

int scribe_helper_recv_within(int sock, void *data, size_t bytes, int *ret_fd, int ms)
{
	return -EPIPE;
}

int scribe_helper_process_text(struct scribe_helper *h, pid_t pid, bool environment, size_t at, uint32_t deadline_ms)
{
	return -EPIPE;
}

bool scribe_helper_process_text_read(struct scribe_helper *h, struct scribe_helper_path *ret, int *ret_rc)
{
	*ret_rc = -EPIPE;
	return true;
}

int scribe_helper_search(struct scribe_helper *h, const struct scribe_search *s)
{
	return -EPIPE;
}

int scribe_helper_found(struct scribe_helper *h, struct scribe_helper_found *ret, int *ret_fd, int ms)
{
	return -EPIPE;
}

int scribe_helper_analyse(struct scribe_helper *h, int fd, struct scribe_elf_analysis *ret, int ms)
{
	return -EPIPE;
}

int scribe_helper_analyse_begin(struct scribe_helper *h, int fd, uint32_t deadline_ms)
{
	return -EPIPE;
}

bool scribe_helper_analysed(struct scribe_helper *h, struct scribe_elf_analysis *ret, int *ret_rc)
{
	*ret_rc = -EPIPE;
	return true;
}

int scribe_helper_meet(struct scribe_helper *h, struct scribe_err *err)
{
	return 0;
}

int scribe_helper_peek(struct scribe_helper *h, pid_t pid, uint64_t at, size_t bytes, uint32_t *ret_value, int ms)
{
	return -EPIPE;
}

int scribe_helper_peek_begin(struct scribe_helper *h, pid_t pid, uint64_t at, size_t bytes, uint32_t deadline_ms)
{
	return -EPIPE;
}

bool scribe_helper_peeked(struct scribe_helper *h, uint32_t *ret_value, int *ret_rc)
{
	*ret_rc = -EPIPE;
	return true;
}

int scribe_uprobes_stat(int fd, struct stat *ret)
{
	return fstat(fd, ret) < 0 ? -errno : 0;
}

int scribe_helper_remove(struct scribe_helper *h, const char *path, struct scribe_err *err)
{
	return scribe_helper_mkdirs(h, path, 0, err);
}

/* A question under way: its answer and how many looks it takes. */
static int ask(struct scribe_helper *h, int rc)
{
	if (h->sock < 0)
		return -EPIPE;
	if (h->asked)
		return -EBUSY;
	h->asked = true;
	h->stash = rc;
	h->deadline_ns = hands.looks;
	return 0;
}

int scribe_helper_put(struct scribe_helper *h, const struct scribe_helper_put *put, uint32_t deadline_ms)
{
	struct scribe_reader *r;
	struct scribe_err err = {0};

	/* whatever clients have said: what is written is a log that reads, or a note to other nodes */
	if (strstr(put->to, "." SCRIBE_PART_BEGUN) || strstr(put->to, "." SCRIBE_PART_DONE))
		return ask(h, hands.rc);
	if (scribe_reader_open_fd(put->fd, "put", &r, &err) < 0)
		abort();
	scribe_reader_free(r);
	if (fuzz_put.keep) {
		close(fuzz_put.fd);
		fuzz_put.fd = fcntl(put->fd, F_DUPFD_CLOEXEC, 3);
		fuzz_put.n++;
		snprintf(fuzz_put.to, sizeof(fuzz_put.to), "%s", put->to);
	}
	return ask(h, hands.rc);
}

int scribe_helper_fetch(struct scribe_helper *h, const char *path, int fd, uint32_t deadline_ms)
{
	if (pwrite(fd, hands.file, hands.file_bytes, 0) < 0)
		abort();
	return ask(h, hands.rc);
}

int scribe_helper_days(struct scribe_helper *h, const char *path, size_t log_dir_bytes, uint32_t deadline_ms)
{
	if (log_dir_bytes > strlen(path))
		abort();
	return ask(h, hands.rc);
}

int scribe_helper_ready(struct scribe_helper *h, const char *path, unsigned own, bool remove, uint32_t deadline_ms)
{
	return ask(h, hands.rc);
}

int scribe_helper_attributes(struct scribe_helper *h, const char *attribute, int fd, uint32_t deadline_ms)
{
	if (pwrite(fd, hands.file, hands.file_bytes, lseek(fd, 0, SEEK_END)) < 0)
		abort();
	return ask(h, hands.rc);
}

int scribe_helper_merge(struct scribe_helper *h, const char *dir, bool incomplete, int fd, uint32_t deadline_ms)
{
	return ask(h, hands.rc);
}

int scribe_helper_check_exclusion(struct scribe_helper *h, int fd, bool anew, uint32_t deadline_ms)
{
	return ask(h, hands.rc);
}

/* Any bytes: a worker may have been taken over by who wrote the patterns. */
bool scribe_helper_answer(struct scribe_helper *h, struct scribe_helper_answer *ret)
{
	int rc;

	if (!scribe_helper_answered(h, &rc))
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, hands.file, hands.file_bytes < sizeof(*ret) ? hands.file_bytes : sizeof(*ret));
	ret->rc = rc;
	if (rc == 0 && hands.looks & 1)
		ret->n = 1; /* one that is taken */
	return true;
}

bool scribe_helper_answered(struct scribe_helper *h, int *ret_rc)
{
	if (!h->asked) {
		*ret_rc = -EPIPE;
		return true;
	}
	if (h->deadline_ns) {
		h->deadline_ns--;
		return false;
	}
	h->asked = false;
	*ret_rc = h->stash;
	if (*ret_rc == -ETIMEDOUT)
		h->sock = -1; /* of no use any more */
	return true;
}
