// SPDX-License-Identifier: BSD-3-Clause
// Calls that few programs make, in a folder that can clone: what each counts as is in tests/trace/rare.bats.
#include "prog.h"

#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#define BLOCK  4096
#define DOWN   6000 /* descriptors that one close_range takes */
#define EVENTS 300  /* requests of one io_submit */

static void clones(int from)
{
	struct file_clone_range range = {
		.src_fd = from, .src_offset = BLOCK, .src_length = 2L * BLOCK, .dest_offset = 8L * BLOCK};
	_Alignas(struct file_dedupe_range) char
		room[sizeof(struct file_dedupe_range) + sizeof(struct file_dedupe_range_info)] = {0};
	struct file_dedupe_range *same = (void *)room;
	int whole = prog_open("whole", O_RDWR | O_CREAT), part = prog_open("part", O_RDWR | O_CREAT);

	MUST(ioctl(whole, FICLONE, from));
	MUST(ioctl(part, FICLONERANGE, &range));
	same->src_length = BLOCK;
	same->dest_count = 1;
	same->info[0].dest_fd = whole;
	MUST(ioctl(from, FIDEDUPERANGE, same));
	EXACT(same->info[0].bytes_deduped, BLOCK);
	MUST(close(whole));
	MUST(close(part));
}

static void empty_paths(void)
{
	char text[64];
	int at = prog_open("empty", O_RDWR | O_CREAT), link;

	MUST(syscall(SYS_faccessat2, at, "", R_OK, AT_EMPTY_PATH));
	MUST(linkat(at, "", AT_FDCWD, "second", AT_EMPTY_PATH));
	MUST(symlink("target", "link"));
	link = prog_open("link", O_PATH | O_NOFOLLOW);
	EXACT(readlinkat(link, "", text, sizeof(text)), 6);
	MUST(close(link));
	MUST(close(at));
}

static void by_handle(void)
{
	struct {
		struct file_handle h;
		char bytes[MAX_HANDLE_SZ];
	} of = {.h = {.handle_bytes = MAX_HANDLE_SZ}};
	int made = prog_open("handle", O_RDWR | O_CREAT), where = prog_open(".", O_RDONLY | O_DIRECTORY), mount, again;

	MUST(close(made));
	MUST(name_to_handle_at(AT_FDCWD, "handle", &of.h, &mount, 0));
	again = MUST(open_by_handle_at(where, &of.h, O_RDWR));
	EXACT(write(again, "by handle", 9), 9);
	MUST(close(again));
	MUST(close(where));
}

static void many_descriptors(void)
{
	const struct rlimit most = {DOWN + 100, DOWN + 100};
	int first = prog_open("many", O_RDWR | O_CREAT), last = first;

	MUST(setrlimit(RLIMIT_NOFILE, &most));
	for (int i = 1; i < DOWN; i++)
		last = MUST(dup(first));
	MUST(syscall(SYS_close_range, first, last, 0));
	/* the same numbers, other files */
	EXACT(prog_open("few", O_RDWR | O_CREAT), first);
	EXACT(write(first, "few", 3), 3);
	MUST(close(first));
}

static void many_requests(void)
{
	static struct iocb request[EVENTS], *list[EVENTS];
	static struct io_event done[EVENTS];
	static char block[BLOCK];
	aio_context_t context = 0;
	int fd = prog_open("requests", O_RDWR | O_CREAT);

	MUST(syscall(SYS_io_setup, EVENTS, &context));
	for (int i = 0; i < EVENTS; i++) {
		request[i] = (struct iocb){.aio_fildes = (unsigned)fd,
					   .aio_lio_opcode = IOCB_CMD_PWRITE,
					   .aio_buf = (unsigned long)block,
					   .aio_nbytes = BLOCK,
					   .aio_offset = (long long)i * BLOCK};
		list[i] = &request[i];
	}
	EXACT(syscall(SYS_io_submit, context, EVENTS, list), EVENTS);
	EXACT(syscall(SYS_io_getevents, context, EVENTS, EVENTS, done, NULL), EVENTS);
	MUST(syscall(SYS_io_destroy, context));
	MUST(close(fd));
}

int main(void)
{
	static char text[16 * BLOCK];
	int from = prog_open("from", O_RDWR | O_CREAT);

	memset(text, 'x', sizeof(text));
	EXACT(write(from, text, sizeof(text)), sizeof(text));
	MUST(fsync(from));
	clones(from);
	MUST(readahead(from, 0, BLOCK));
	MUST(syscall(SYS_syncfs, from));
	MUST(close(from));
	MUST(mknod("made", S_IFREG | 0600, 0));
	MUST(setxattr("made", "user.a", "value", 5, 0));
	EXACT(getxattr("made", "user.a", text, 100), 5);
	empty_paths();
	by_handle();
	many_descriptors();
	many_requests();
	return 0;
}
