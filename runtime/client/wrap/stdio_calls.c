/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted stream calls: each calls the next definition and passes its bytes to streams.c, as
 * uprobes/kern/stdio.bpf.h does. Scans and wide characters count by positions. Must not know: memory, daemon,
 * kernel.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#include "runtime/client/wrap/stdio_real.h"
#include "runtime/client/wrap/stream_ends.h"
#include "runtime/client/wrap/streams.h"

typedef unsigned int wint;
typedef int wchar; /* wchar_t */

extern FILE *stdin, *stdout;

#define READ  SCRIBE_OP_READ
#define WRITE SCRIBE_OP_WRITE

#define BEGIN(f) \
	struct scribe_counter_slot *s = scribe_stream_of(f); \
	uint64_t start = s ? scribe_stream_now() : 0

/* Programs call these at exit: they do not use an otherwise unused standard stream. */
#define BEGIN_BESIDE(f) \
	struct scribe_counter_slot *s = scribe_stream_idle(f) ? NULL : scribe_stream_of(f); \
	uint64_t start = s ? scribe_stream_now() : 0

/* Bytes only follow from positions. */
#define BEGIN_AT(f) \
	BEGIN(f); \
	int64_t at = s ? scribe_stream_position(f) : 0

/* `from`: negative without a position. `done`: success. */
static void moved(struct scribe_counter_slot *s, FILE *f, unsigned op, int64_t from, uint64_t start, bool done)
{
	int64_t to = scribe_stream_position(f);

	if (scribe_seccomp & SCRIBE_SECCOMP_CALLS)
		scribe_stream_unsized();
	else if (from >= 0 && to > from)
		scribe_stream_data(s, op, (uint64_t)(to - from), start);
	else if (from < 0 && to < 0 && done)
		scribe_stream_data(s, op, 0, start); /* a pipe: bytes unknown, as in Darshan */
}

#define ITEMS(name, op, pointer) \
	EXPORT size_t name(pointer p, size_t size, size_t n, FILE *f); \
	EXPORT size_t name(pointer p, size_t size, size_t n, FILE *f) \
	{ \
		REAL(size_t, #name, 0, pointer, size_t, size_t, FILE *) \
		BEGIN(f); \
		size_t got = real(p, size, n, f); \
		if (s && got && size) \
			scribe_stream_data(s, op, got *size, start); \
		return got; \
	}
ITEMS(fread, READ, void *)
ITEMS(fread_unlocked, READ, void *)
ITEMS(fwrite, WRITE, const void *)
ITEMS(fwrite_unlocked, WRITE, const void *)

#define ITEMS_CHK(name) \
	EXPORT size_t name(void *p, size_t capacity, size_t size, size_t n, FILE *f); \
	EXPORT size_t name(void *p, size_t capacity, size_t size, size_t n, FILE *f) \
	{ \
		REAL(size_t, #name, 0, void *, size_t, size_t, size_t, FILE *) \
		BEGIN(f); \
		size_t got = real(p, capacity, size, n, f); \
		if (s && got && size) \
			scribe_stream_data(s, READ, got *size, start); \
		return got; \
	}
ITEMS_CHK(__fread_chk)
ITEMS_CHK(__fread_unlocked_chk)

#define PUT_ONE(name) \
	EXPORT int name(int c, FILE *f); \
	EXPORT int name(int c, FILE *f) \
	{ \
		REAL(int, #name, END, int, FILE *) \
		BEGIN(f); \
		int rc = real(c, f); \
		if (s && rc != END) \
			scribe_stream_data(s, WRITE, 1, start); \
		return rc; \
	}
PUT_ONE(fputc)
PUT_ONE(putc)
PUT_ONE(fputc_unlocked)
PUT_ONE(putc_unlocked)
PUT_ONE(_IO_putc)

#define PUT_ONE_OUT(name) \
	EXPORT int name(int c); \
	EXPORT int name(int c) \
	{ \
		REAL(int, #name, END, int) \
		BEGIN(stdout); \
		int rc = real(c); \
		if (s && rc != END) \
			scribe_stream_data(s, WRITE, 1, start); \
		return rc; \
	}
PUT_ONE_OUT(putchar)
PUT_ONE_OUT(putchar_unlocked)

#define GET_ONE(name) \
	EXPORT int name(FILE *f); \
	EXPORT int name(FILE *f) \
	{ \
		REAL(int, #name, END, FILE *) \
		BEGIN(f); \
		int rc = real(f); \
		if (s && rc != END) \
			scribe_stream_data(s, READ, 1, start); \
		return rc; \
	}
GET_ONE(fgetc)
GET_ONE(getc)
GET_ONE(fgetc_unlocked)
GET_ONE(getc_unlocked)
GET_ONE(_IO_getc)

#define GET_ONE_IN(name) \
	EXPORT int name(void); \
	EXPORT int name(void) \
	{ \
		REAL(int, #name, END, void) \
		BEGIN(stdin); \
		int rc = real(); \
		if (s && rc != END) \
			scribe_stream_data(s, READ, 1, start); \
		return rc; \
	}
GET_ONE_IN(getchar)
GET_ONE_IN(getchar_unlocked)

/* ---- wide characters and words: by position ---- */

#define PUT_AT(name, type, result) \
	EXPORT result name(type c, FILE *f); \
	EXPORT result name(type c, FILE *f) \
	{ \
		REAL(result, #name, (result)END, type, FILE *) \
		BEGIN_AT(f); \
		result rc = real(c, f); \
		if (s) \
			moved(s, f, WRITE, at, start, rc != (result)END); \
		return rc; \
	}
PUT_AT(fputwc, wchar, wint)
PUT_AT(putwc, wchar, wint)
PUT_AT(fputwc_unlocked, wchar, wint)
PUT_AT(putwc_unlocked, wchar, wint)
PUT_AT(putw, int, int)
PUT_AT(fputws, const wchar *, int)
PUT_AT(fputws_unlocked, const wchar *, int)
#undef PUT_AT

#define PUT_AT_OUT(name) \
	EXPORT wint name(wchar c); \
	EXPORT wint name(wchar c) \
	{ \
		REAL(wint, #name, (wint)END, wchar) \
		BEGIN_AT(stdout); \
		wint rc = real(c); \
		if (s) \
			moved(s, stdout, WRITE, at, start, rc != (wint)END); \
		return rc; \
	}
PUT_AT_OUT(putwchar)
PUT_AT_OUT(putwchar_unlocked)

#define GET_AT(name, result) \
	EXPORT result name(FILE *f); \
	EXPORT result name(FILE *f) \
	{ \
		REAL(result, #name, (result)END, FILE *) \
		BEGIN_AT(f); \
		result rc = real(f); \
		if (s) \
			moved(s, f, READ, at, start, rc != (result)END); \
		return rc; \
	}
GET_AT(fgetwc, wint)
GET_AT(getwc, wint)
GET_AT(fgetwc_unlocked, wint)
GET_AT(getwc_unlocked, wint)
GET_AT(getw, int)

#define GET_AT_IN(name) \
	EXPORT wint name(void); \
	EXPORT wint name(void) \
	{ \
		REAL(wint, #name, (wint)END, void) \
		BEGIN_AT(stdin); \
		wint rc = real(); \
		if (s) \
			moved(s, stdin, READ, at, start, rc != (wint)END); \
		return rc; \
	}
GET_AT_IN(getwchar)
GET_AT_IN(getwchar_unlocked)

#define PUT_STRING(name) \
	EXPORT int name(const char *text, FILE *f); \
	EXPORT int name(const char *text, FILE *f) \
	{ \
		REAL(int, #name, END, const char *, FILE *) \
		BEGIN(f); \
		int rc = real(text, f); \
		if (s && rc >= 0) \
			scribe_stream_data(s, WRITE, strlen(text), start); \
		return rc; \
	}
PUT_STRING(fputs)
PUT_STRING(fputs_unlocked)

EXPORT int puts(const char *text);
EXPORT int puts(const char *text)
{
	REAL(int, "puts", END, const char *)
	BEGIN(stdout);
	int rc = real(text);

	if (s && rc >= 0)
		scribe_stream_data(s, WRITE, strlen(text) + 1, start);
	return rc;
}

/* May contain a NUL: then the position decides. */
static uint64_t line_bytes(const struct scribe_counter_slot *s, FILE *f, const char *to, size_t capacity)
{
	uint64_t n = strlen(to);
	int64_t now;

	if ((n && to[n - 1] == '\n') || n + 1 >= capacity || s->pos < 0 || scribe_stream_standard(f) >= 0)
		return n;
	now = scribe_stream_position(f) - s->pos;
	return now > (int64_t)n && now < (int64_t)capacity && !to[now] ? (uint64_t)now : n;
}

#define GET_LINE(name) \
	EXPORT char *name(char *to, int n, FILE *f); \
	EXPORT char *name(char *to, int n, FILE *f) \
	{ \
		REAL(char *, #name, NULL, char *, int, FILE *) \
		BEGIN(f); \
		char *got = real(to, n, f); \
		if (s && got) \
			scribe_stream_data(s, READ, line_bytes(s, f, got, (size_t)n), start); \
		return got; \
	}
GET_LINE(fgets)
GET_LINE(fgets_unlocked)

#define GET_LINE_CHK(name) \
	EXPORT char *name(char *to, size_t capacity, int n, FILE *f); \
	EXPORT char *name(char *to, size_t capacity, int n, FILE *f) \
	{ \
		REAL(char *, #name, NULL, char *, size_t, int, FILE *) \
		BEGIN(f); \
		char *got = real(to, capacity, n, f); \
		if (s && got) \
			scribe_stream_data(s, READ, line_bytes(s, f, got, (size_t)n), start); \
		return got; \
	}
GET_LINE_CHK(__fgets_chk)
GET_LINE_CHK(__fgets_unlocked_chk)

/* The newline is not in the result. */
EXPORT char *gets(char *to);
EXPORT char *gets(char *to)
{
	REAL(char *, "gets", NULL, char *)
	BEGIN_AT(stdin);
	char *got = real(to);

	if (s && got)
		moved(s, stdin, READ, at, start, true);
	return got;
}

EXPORT char *__gets_chk(char *to, size_t capacity);
EXPORT char *__gets_chk(char *to, size_t capacity)
{
	REAL(char *, "__gets_chk", NULL, char *, size_t)
	BEGIN_AT(stdin);
	char *got = real(to, capacity);

	if (s && got)
		moved(s, stdin, READ, at, start, true);
	return got;
}

#define GET_WIDE_LINE(name) \
	EXPORT wchar *name(wchar *to, int n, FILE *f); \
	EXPORT wchar *name(wchar *to, int n, FILE *f) \
	{ \
		REAL(wchar *, #name, NULL, wchar *, int, FILE *) \
		BEGIN_AT(f); \
		wchar *got = real(to, n, f); \
		if (s && got) \
			moved(s, f, READ, at, start, true); \
		return got; \
	}
GET_WIDE_LINE(fgetws)
GET_WIDE_LINE(fgetws_unlocked)

#define GET_WIDE_LINE_CHK(name) \
	EXPORT wchar *name(wchar *to, size_t capacity, int n, FILE *f); \
	EXPORT wchar *name(wchar *to, size_t capacity, int n, FILE *f) \
	{ \
		REAL(wchar *, #name, NULL, wchar *, size_t, int, FILE *) \
		BEGIN_AT(f); \
		wchar *got = real(to, capacity, n, f); \
		if (s && got) \
			moved(s, f, READ, at, start, true); \
		return got; \
	}
GET_WIDE_LINE_CHK(__fgetws_chk)
GET_WIDE_LINE_CHK(__fgetws_unlocked_chk)

EXPORT ssize_t getline(char **to, size_t *capacity, FILE *f);
EXPORT ssize_t getline(char **to, size_t *capacity, FILE *f)
{
	REAL(ssize_t, "getline", -1, char **, size_t *, FILE *)
	BEGIN(f);
	ssize_t got = real(to, capacity, f);

	if (s && got > 0)
		scribe_stream_data(s, READ, (uint64_t)got, start);
	return got;
}

#define GET_DELIM(name) \
	EXPORT ssize_t name(char **to, size_t *capacity, int delim, FILE *f); \
	EXPORT ssize_t name(char **to, size_t *capacity, int delim, FILE *f) \
	{ \
		REAL(ssize_t, #name, -1, char **, size_t *, int, FILE *) \
		BEGIN(f); \
		ssize_t got = real(to, capacity, delim, f); \
		if (s && got > 0) \
			scribe_stream_data(s, READ, (uint64_t)got, start); \
		return got; \
	}
GET_DELIM(getdelim)
GET_DELIM(__getdelim)

/* ---- formats: variadic functions call the list forms ---- */

/* name and its target; its stream, and parameters before the format */
#define WITH(...) __VA_ARGS__

/* The result is the number of bytes. */
#define PRINT_LIST(name, stream, parameters, types, arguments) \
	EXPORT int name(parameters const char *format, va_list list); \
	EXPORT int name(parameters const char *format, va_list list) \
	{ \
		REAL(int, #name, END, types const char *, va_list) \
		BEGIN(stream); \
		int rc = real(arguments format, list); \
		if (s && rc > 0) \
			scribe_stream_data(s, WRITE, (uint64_t)rc, start); \
		return rc; \
	}
PRINT_LIST(vfprintf, f, WITH(FILE *f, ), WITH(FILE *, ), WITH(f, ))
PRINT_LIST(vprintf, stdout, , , )
PRINT_LIST(__vfprintf_chk, f, WITH(FILE *f, int flag, ), WITH(FILE *, int, ), WITH(f, flag, ))
PRINT_LIST(__vprintf_chk, stdout, WITH(int flag, ), WITH(int, ), WITH(flag, ))

#define VARIADIC(name, to, letter, parameters, arguments) \
	EXPORT int name(parameters const letter *format, ...); \
	EXPORT int name(parameters const letter *format, ...) \
	{ \
		va_list list; \
		int rc; \
		va_start(list, format); \
		rc = to(arguments format, list); \
		va_end(list); \
		return rc; \
	}
VARIADIC(fprintf, vfprintf, char, WITH(FILE *f, ), WITH(f, ))
VARIADIC(printf, vprintf, char, , )
VARIADIC(__fprintf_chk, __vfprintf_chk, char, WITH(FILE *f, int flag, ), WITH(f, flag, ))
VARIADIC(__printf_chk, __vprintf_chk, char, WITH(int flag, ), WITH(flag, ))

/* By position. */
#define LIST_AT(name, op, letter, stream, parameters, types, arguments) \
	EXPORT int name(parameters const letter *format, va_list list); \
	EXPORT int name(parameters const letter *format, va_list list) \
	{ \
		REAL(int, #name, END, types const letter *, va_list) \
		BEGIN_AT(stream); \
		int rc = real(arguments format, list); \
		if (s) \
			moved(s, stream, op, at, start, rc != END); \
		return rc; \
	}
#define WIDE_PRINT(in_list, in_list_out, variadic, variadic_out, parameters, types, arguments) \
	LIST_AT(in_list, WRITE, wchar, f, WITH(FILE *f, parameters), WITH(FILE *, types), WITH(f, arguments)) \
	LIST_AT(in_list_out, WRITE, wchar, stdout, WITH(parameters), WITH(types), WITH(arguments)) \
	VARIADIC(variadic, in_list, wchar, WITH(FILE *f, parameters), WITH(f, arguments)) \
	VARIADIC(variadic_out, in_list_out, wchar, WITH(parameters), WITH(arguments))
WIDE_PRINT(vfwprintf, vwprintf, fwprintf, wprintf, , , )
WIDE_PRINT(__vfwprintf_chk, __vwprintf_chk, __fwprintf_chk, __wprintf_chk, WITH(int flag, ), WITH(int, ), WITH(flag, ))

#define SCAN(prefix, letter, w) \
	LIST_AT(prefix##vf##w##scanf, READ, letter, f, WITH(FILE *f, ), WITH(FILE *, ), WITH(f, )) \
	LIST_AT(prefix##v##w##scanf, READ, letter, stdin, , , ) \
	VARIADIC(prefix##f##w##scanf, prefix##vf##w##scanf, letter, WITH(FILE *f, ), WITH(f, )) \
	VARIADIC(prefix##w##scanf, prefix##v##w##scanf, letter, , )
SCAN(, char, )
SCAN(__isoc99_, char, )
SCAN(__isoc23_, char, )
SCAN(, wchar, w)
SCAN(__isoc99_, wchar, w)
SCAN(__isoc23_, wchar, w)

/* Not counted; moves the position back. */
EXPORT int ungetc(int c, FILE *f);
EXPORT int ungetc(int c, FILE *f)
{
	REAL(int, "ungetc", END, int, FILE *)
	struct scribe_counter_slot *s = scribe_stream_of(f);
	int rc = real(c, f);

	if (s && rc != END)
		scribe_stream_back(s, 1);
	return rc;
}

EXPORT wint ungetwc(wint c, FILE *f);
EXPORT wint ungetwc(wint c, FILE *f)
{
	REAL(wint, "ungetwc", (wint)END, wint, FILE *)
	struct scribe_counter_slot *s = scribe_stream_of(f);
	int64_t at = s ? scribe_stream_position(f) : 0;
	wint rc = real(c, f);

	if (s && rc != (wint)END)
		scribe_stream_back(s, at - scribe_stream_position(f));
	return rc;
}

#define SEEK_TO(name, type) \
	EXPORT int name(FILE *f, type to, int from); \
	EXPORT int name(FILE *f, type to, int from) \
	{ \
		REAL(int, #name, END, FILE *, type, int) \
		BEGIN_BESIDE(f); \
		int rc = real(f, to, from); \
		if (s && rc == 0) \
			scribe_stream_seek(s, f, start); \
		return rc; \
	}
SEEK_TO(fseek, long)
SEEK_TO(fseeko, off_t)
SEEK_TO(fseeko64, int64_t)

#define SEEK_POS(name) \
	EXPORT int name(FILE *f, const void *to); \
	EXPORT int name(FILE *f, const void *to) \
	{ \
		REAL(int, #name, END, FILE *, const void *) \
		BEGIN_BESIDE(f); \
		int rc = real(f, to); \
		if (s && rc == 0) \
			scribe_stream_seek(s, f, start); \
		return rc; \
	}
SEEK_POS(fsetpos)
SEEK_POS(fsetpos64)

EXPORT void rewind(FILE *f);
EXPORT void rewind(FILE *f)
{
	REAL(void, "rewind", , FILE *)
	BEGIN_BESIDE(f);
	real(f);
	if (s)
		scribe_stream_seek(s, f, start);
}

#define FLUSH(name) \
	EXPORT int name(FILE *f); \
	EXPORT int name(FILE *f) \
	{ \
		REAL(int, #name, END, FILE *) \
		BEGIN_BESIDE(f); \
		int rc = real(f); \
		if (s && rc == 0) \
			scribe_stream_flush(s, f, start); \
		return rc; \
	}
FLUSH(fflush)
FLUSH(fflush_unlocked)
