// SPDX-License-Identifier: BSD-3-Clause
// Paths through symbolic links that mean something else a moment later: what each counts is in
// tests/trace/odd.bats.
#include "prog.h"

#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ROUNDS 100

static struct stat st;

static void file(const char *path)
{
	MUST(close(prog_open(path, O_WRONLY | O_CREAT)));
}

/* A link that is switched, and a folder in its place. */
static void switched(void)
{
	MUST(symlink("a", "l"));
	MUST(stat("l/f", &st));
	MUST(symlink("b", "n"));
	MUST(rename("n", "l"));
	MUST(access("l/f", R_OK));
	MUST(unlink("l"));
	MUST(mkdir("l", 0755));
	file("l/f");
	MUST(stat("l/f", &st));
	MUST(unlink("l/f"));
	MUST(rmdir("l"));
}

/* A link in a folder that is renamed; it is removed by a name of one component. */
static void carried(void)
{
	int folder;

	MUST(mkdir("d", 0755));
	MUST(symlink("../a", "d/in"));
	MUST(stat("d/in/f", &st));
	MUST(rename("d", "e"));
	MUST(stat("e/in/f", &st));
	MUST(mkdir("d", 0755));
	MUST(symlink("../b", "d/in"));
	MUST(stat("d/in/f", &st));
	MUST(unlink("d/in"));
	MUST(rmdir("d"));
	folder = prog_open("e", O_RDONLY | O_DIRECTORY);
	MUST(unlinkat(folder, "in", 0));
	MUST(close(folder));
	MUST(rmdir("e"));
}

static void exchanged(void)
{
	MUST(symlink("a", "x"));
	MUST(symlink("b", "y"));
	MUST(truncate("x/f", 1));
	MUST(syscall(SYS_renameat2, AT_FDCWD, "x", AT_FDCWD, "y", RENAME_EXCHANGE));
	MUST(truncate("x/f", 1));
	MUST(truncate("x/f", 1));
	MUST(unlink("x"));
	MUST(unlink("y"));
}

/* A link to a link; the second is absolute, and a child's. */
static void chained(const char *here)
{
	char target[4096];
	int status;
	pid_t pid;

	snprintf(target, sizeof(target), "%s/b", here);
	MUST(symlink("second", "first"));
	pid = (pid_t)MUST(fork());
	if (!pid)
		_exit(symlink(target, "second") ? 1 : 0);
	MUST(waitpid(pid, &status, 0));
	EXACT(status, 0);
	MUST(stat("first/f", &st));
	MUST(unlink("first"));
	MUST(unlink("second"));
}

int main(void)
{
	char here[2048];

	if (!getcwd(here, sizeof(here)))
		return 1;
	MUST(mkdir("a", 0755));
	MUST(mkdir("b", 0755));
	file("a/f");
	file("b/f");
	for (int i = 0; i < ROUNDS; i++) {
		switched();
		carried();
		exchanged();
		chained(here);
	}
	return 0;
}
