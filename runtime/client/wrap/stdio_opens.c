/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes of streams. The kernel side counts their system calls and is informed before. Must not know:
 * memory, daemon.
 */
#include <stddef.h>

#include "runtime/client/wrap/stdio_real.h"
#include "runtime/client/wrap/streams.h"

#define OPEN(name) \
	EXPORT FILE *name(const char *path, const char *mode); \
	EXPORT FILE *name(const char *path, const char *mode) \
	{ \
		REAL(FILE *, #name, NULL, const char *, const char *) \
		scribe_stream_opening(); \
		FILE *f = real(path, mode); \
		scribe_stream_opened(f); \
		scribe_stream_forget(f); /* an earlier one, with an unseen close */ \
		return f; \
	}
OPEN(fopen)
OPEN(fopen64)

#define REOPEN(name) \
	EXPORT FILE *name(const char *path, const char *mode, FILE *f); \
	EXPORT FILE *name(const char *path, const char *mode, FILE *f) \
	{ \
		REAL(FILE *, #name, NULL, const char *, const char *, FILE *) \
		scribe_stream_forget(f); \
		scribe_stream_opening(); \
		FILE *again = real(path, mode, f); \
		scribe_stream_opened(again); \
		return again; \
	}
REOPEN(freopen)
REOPEN(freopen64)

EXPORT FILE *fdopen(int fd, const char *mode);
EXPORT FILE *fdopen(int fd, const char *mode)
{
	REAL(FILE *, "fdopen", NULL, int, const char *)
	FILE *f = real(fd, mode);

	scribe_stream_forget(f);
	scribe_stream_made(f);
	return f;
}

EXPORT FILE *popen(const char *command, const char *mode);
EXPORT FILE *popen(const char *command, const char *mode)
{
	REAL(FILE *, "popen", NULL, const char *, const char *)
	FILE *f = real(command, mode);

	scribe_stream_forget(f);
	return f;
}

#define TEMPORARY(name) \
	EXPORT FILE *name(void); \
	EXPORT FILE *name(void) \
	{ \
		REAL(FILE *, #name, NULL, void) \
		scribe_stream_opening(); \
		FILE *f = real(); \
		scribe_stream_opened(f); \
		scribe_stream_forget(f); \
		return f; \
	}
TEMPORARY(tmpfile)
TEMPORARY(tmpfile64)

#define CLOSE(name) \
	EXPORT int name(FILE *f); \
	EXPORT int name(FILE *f) \
	{ \
		REAL(int, #name, END, FILE *) \
		scribe_stream_forget(f); \
		return real(f); \
	}
CLOSE(fclose)
CLOSE(pclose)
