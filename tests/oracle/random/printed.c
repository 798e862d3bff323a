// SPDX-License-Identifier: BSD-3-Clause
/* See printed.h. */
#include "tests/oracle/random/printed.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/sendfile.h>

char base[200], buffer[20000];
int fd, dir;
struct stat st;
struct statx sx;
pid_t pid;

static char outside[64];

void begin(int argc, char **argv)
{
	if (argc != 2)
		_exit(2);
	snprintf(base, sizeof(base), "%s", argv[1]);
	snprintf(outside, sizeof(outside), "/var/tmp/ioscribe-printed-%d", (int)getpid());
	MUST(syscall(SYS_close_range, 3, ~0u, 0));
	MUST(memfd_create("account", 0)); /* descriptor 3 in the random program */
	MUST(chdir(base));
	MUST(symlink(base, outside));
}

int finish(void)
{
	return unlink(outside) ? 3 : 0;
}

static const char *below_folder(const char *folder, const char *name)
{
	static char room[4][300];
	static unsigned at;
	char *to = room[at++ % 4];

	snprintf(to, sizeof(room[0]), "%s%s", folder, name);
	return to;
}

const char *in(const char *name)
{
	return below_folder(base, name);
}

const char *out(const char *name)
{
	return below_folder(outside, name);
}

void is(long have, int number)
{
	if (have != number)
		_exit(8);
}

struct iovec *two(long n)
{
	static struct iovec v[2];

	v[0] = (struct iovec){buffer, (size_t)n / 2};
	v[1] = (struct iovec){buffer + n / 2, (size_t)(n - n / 2)};
	return v;
}

long sendfile_from(int from, int to, long n)
{
	return sendfile(to, from, NULL, (size_t)n);
}

void mapped(int number)
{
	char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, number, 0);

	if (p == MAP_FAILED)
		_exit(3);
	MUST(msync(p, 4096, MS_ASYNC));
	munmap(p, 4096);
}

void stream(const char *name, unsigned n, unsigned bytes)
{
	FILE *f = fopen(name, "w");

	if (!f)
		_exit(3);
	while (n--)
		if (fwrite(buffer, bytes, 1, f) != 1)
			_exit(3);
	fclose(f);
}

static void in_child(const char *from, const char *to, const char *name, long bytes)
{
	pid = (pid_t)MUST(fork());
	if (pid == 0) {
		if (from) {
			MUST(unshare(CLONE_NEWNS));
			MUST(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
			MUST(mount(from, to, NULL, MS_BIND, NULL));
		} else {
			MUST(chroot(base));
			MUST(chdir("/"));
		}
		fd = (int)MUST(open(name, O_RDWR));
		MUST(pwrite(fd, buffer, (size_t)bytes, 0));
		MUST(stat(name, &st));
		MUST(close(fd));
		_exit(0);
	}
	MUST(waitpid(pid, NULL, 0));
}

void mounted(const char *from, const char *to, const char *name)
{
	in_child(from, to, name, 100);
}

void rooted(const char *name)
{
	in_child(NULL, NULL, name, 10);
}

void closed_by_exec(int number)
{
	MUST(fcntl(number, F_SETFD, FD_CLOEXEC));
}
