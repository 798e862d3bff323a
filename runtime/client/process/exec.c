/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interposed exec calls: programs that cannot load our libraries get an environment without them, otherwise
 * their loader prints errors. Runs on the program's threads, also after fork or vfork: no allocation. Must not
 * know: MPI, daemon.
 */
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "logfmt/base/preload.h"
#include "runtime/client/process/compat.h"

#define EXPORT __attribute__((visibility("default")))

extern char **environ;

typedef int exec_call(const char *, char *const[], char *const[]);
typedef int fexec_call(int, char *const[], char *const[]);
typedef int spawn_call(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
		       char *const[], char *const[]);

/* Looked up at load: a child of vfork must not. */
static exec_call *next_execve, *next_execvpe;
static fexec_call *next_fexecve;
static spawn_call *next_spawn, *next_spawnp;

__attribute__((constructor)) static void find(void)
{
	next_execve = (exec_call *)dlsym(RTLD_NEXT, "execve");
	next_execvpe = (exec_call *)dlsym(RTLD_NEXT, "execvpe");
	next_fexecve = (fexec_call *)dlsym(RTLD_NEXT, "fexecve");
	next_spawn = (spawn_call *)dlsym(RTLD_NEXT, "posix_spawn");
	next_spawnp = (spawn_call *)dlsym(RTLD_NEXT, "posix_spawnp");
}

static size_t room_for(const char *path, bool search, char *const env[])
{
	int kept = errno;
	/* errno must be that of execve. */
	size_t room = scribe_preload_room(path, search, env);

	errno = kept;
	return room;
}

static int execute(exec_call **next, const char *path, bool search, char *const argv[], char *const env[])
{
	/* On the stack, because a vfork child must not allocate; 1 entry if nothing is removed. */
	char *room[room_for(path, search, env)];

	if (!*next)
		find(); /* called by another library before our constructor */
	if (!*next) {
		errno = ENOSYS;
		return -1;
	}
	return (*next)(path, argv, scribe_preload_without(env, room, sizeof(room) / sizeof(room[0])));
}

static int spawn(spawn_call **next, bool search, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr, char *const argv[],
		 char *const env[])
{
	char *room[room_for(path, search, env)];

	if (!*next)
		find();
	if (!*next)
		return ENOSYS;
	return (*next)(pid, path, actions, attr, argv,
		       scribe_preload_without(env, room, sizeof(room) / sizeof(room[0])));
}

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	return execute(&next_execve, path, false, argv, env);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execute(&next_execve, path, false, argv, environ);
}

EXPORT int execvpe(const char *name, char *const argv[], char *const env[])
{
	return execute(&next_execvpe, name, true, argv, env);
}

EXPORT int execvp(const char *name, char *const argv[])
{
	return execute(&next_execvpe, name, true, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	{
		char *room[room_for(path, false, env)];

		if (!next_fexecve)
			find();
		if (!next_fexecve) {
			errno = ENOSYS;
			return -1;
		}
		return next_fexecve(fd, argv, scribe_preload_without(env, room, sizeof(room) / sizeof(room[0])));
	}
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
	return spawn(&next_spawn, false, pid, path, actions, attr, argv, env);
}

EXPORT int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
	return spawn(&next_spawnp, true, pid, name, actions, attr, argv, env);
}

/* Arguments of execl, with NULL. */
static size_t count(const char *first, va_list more)
{
	size_t n = 1;

	for (const char *a = first; a; a = va_arg(more, const char *))
		n++;
	return n;
}

/* `*ret_env`: the argument after NULL. */
static void collect(const char *first, va_list more, char **argv, char *const **ret_env)
{
	const char *a = first;
	size_t n = 0;

	for (; a; a = va_arg(more, const char *))
		argv[n++] = (char *)a;
	argv[n] = NULL;
	if (ret_env)
		*ret_env = va_arg(more, char *const *);
}

#define EXECL(name, next, search, with_env) \
	EXPORT int name(const char *path, const char *first, ...) \
	{ \
		char *const *env = environ; \
		va_list more; \
		size_t n; \
\
		va_start(more, first); \
		n = count(first, more); \
		va_end(more); \
		{ \
			char *argv[n]; \
\
			va_start(more, first); \
			collect(first, more, argv, (with_env) ? &env : NULL); \
			va_end(more); \
			return execute(next, path, search, argv, env); \
		} \
	}

EXECL(execl, &next_execve, false, false)
EXECL(execlp, &next_execvpe, true, false)
EXECL(execle, &next_execve, false, true)
