// SPDX-License-Identifier: BSD-3-Clause
/*
 * Questions as files of SQL or Python (docs/store.md). In SQL, :NAME becomes $N. Must not know the kind of
 * database.
 */
#include "util/store/question.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_QUESTIONS 1000 /* listed, of all folders */

void scribe_question_clear(struct scribe_question *q)
{
	free(q->sql);
	free(q->python);
	q->sql = q->python = NULL;
}

/* A name becomes part of a path, so dots and slashes are refused. */
static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n > 0 && n < SCRIBE_QUESTION_NAME && !s[n];
}

static bool is_number(const char *s)
{
	char *end;

	errno = 0;
	(void)strtoll(s, &end, 10);
	return *s && !isspace((unsigned char)*s) && !*end && !errno;
}

/* NAME.sql, or NAME.py, of the first folder with one. -1: none. */
static int find_file(const char *folders, const char *name, char *path, size_t cap)
{
	static const char *const kinds[] = {"sql", "py"};
	int fd = -1;

	while (fd < 0 && *folders) {
		size_t len = strcspn(folders, ":");

		for (size_t i = 0; i < 2 && len && fd < 0; i++) {
			if ((size_t)snprintf(path, cap, "%.*s/%s.%s", (int)len, folders, name, kinds[i]) < cap)
				/* nonblocking: the name may belong to a pipe */
				fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		}
		folders += len + (folders[len] == ':');
	}
	return fd;
}

static int read_file(const char *folders, const char *name, char *path, size_t cap, char **ret_text,
		     struct scribe_err *err)
{
	const int fd = find_file(folders, name, path, cap);
	struct stat st;
	FILE *f;
	size_t n;

	if (fd < 0)
		return scribe_err_set(err, -ENOENT, "no question is named '%.60s'; --list names those there are", name);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%s: not a regular file", path);
	}
	f = fdopen(fd, "r");
	*ret_text = f ? malloc(SCRIBE_QUESTION_BYTES) : NULL;
	if (!*ret_text) {
		if (f)
			fclose(f);
		else
			close(fd);
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", path);
	}
	n = fread(*ret_text, 1, SCRIBE_QUESTION_BYTES, f);
	fclose(f);
	if (n == SCRIBE_QUESTION_BYTES || memchr(*ret_text, 0, n)) {
		free(*ret_text);
		return scribe_err_set(err, -SCRIBE_E_LIMIT, "%s: no text of less than %d bytes", path,
				      SCRIBE_QUESTION_BYTES);
	}
	(*ret_text)[n] = 0;
	return 0;
}

/* "NAME integer = 3: text" */
static int take_parameter(struct scribe_question *q, char *line, const char *path, int number, struct scribe_err *err)
{
	struct scribe_question_parameter *p = &q->parameters[q->nparameters];
	char *about = strstr(line, ": "), *value = NULL, type[16];

	if (q->nparameters == SCRIBE_QUESTION_PARAMETERS)
		return scribe_err_set(err, -SCRIBE_E_LIMIT, "%s:%d: more than %d parameters", path, number,
				      SCRIBE_QUESTION_PARAMETERS);
	if (about) {
		*about = 0;
		value = strchr(line, '=');
		if (value)
			*value++ = 0;
	}
	if (!about || sscanf(line, " %63[A-Za-z0-9_] %15s", p->name, type) != 2 ||
	    (strcmp(type, "integer") && strcmp(type, "text")))
		return scribe_err_set(err, -SCRIBE_E_FORMAT,
				      "%s:%d: not 'parameter NAME integer|text [= DEFAULT]: what it is'", path, number);
	snprintf(p->about, sizeof(p->about), "%s", about + 2);
	p->is_number = *type == 'i';
	p->has_default = value != NULL;
	if (value) {
		value += strspn(value, " ");
		snprintf(p->value, sizeof(p->value), "%s", value);
	}
	if (value && p->is_number && !is_number(p->value))
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%s:%d: the default is no integer", path, number);
	q->nparameters++;
	return 0;
}

static long take_head(struct scribe_question *q, const char *text, const char *mark, const char *path,
		      struct scribe_err *err)
{
	const char *at = text;
	size_t skip = strlen(mark);

	for (int number = 1; !strncmp(at, mark, skip); number++) {
		size_t len = strcspn(at, "\n");
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)(len - skip), at + skip);
		at += len + (at[len] == '\n');
		if (strstr(line, "SPDX-License-Identifier"))
			continue;
		if (!strncmp(line, " parameter ", 11)) {
			if (take_parameter(q, line + 11, path, number, err) < 0)
				return err->code;
		} else if (!q->about[0]) {
			snprintf(q->about, sizeof(q->about), "%s", line + strspn(line, " "));
		}
	}
	return at - text;
}

static int parameter_by_name(const struct scribe_question *q, const char *name, size_t len)
{
	for (int i = 0; i < q->nparameters; i++)
		if (strlen(q->parameters[i].name) == len && !memcmp(q->parameters[i].name, name, len))
			return i;
	return -1;
}

/* Replaces :NAME by $N, except within quotes and comments. Values are bound, never inserted into the text. */
static int number_parameters(struct scribe_question *q, const char *s, const char *path, struct scribe_err *err)
{
	size_t size;
	FILE *to = open_memstream(&q->sql, &size);
	char quote = 0;
	int rc = 0;

	if (!to)
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", path);
	for (; *s && rc >= 0; s++) {
		size_t len = strspn(s + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		int at;

		if (!quote && s[0] == '-' && s[1] == '-') {
			s += strcspn(s, "\n");
			s -= *s == 0;
			fputc('\n', to);
			continue;
		}
		if (quote ? *s == quote : *s == '\'' || *s == '"')
			quote = quote ? 0 : *s;
		if (quote || *s != ':' || !len || s[1] == ':') { /* "::" is PostgreSQL's cast */
			fputc(*s, to);
			if (!quote && *s == ':' && s[1] == ':')
				fputc(*++s, to);
			continue;
		}
		at = parameter_by_name(q, s + 1, len);
		if (at < 0)
			rc = scribe_err_set(err, -SCRIBE_E_FORMAT, "%s: :%.*s is no parameter that its head describes",
					    path, (int)(len > 60 ? 60 : len), s + 1);
		fprintf(to, "$%d", at + 1);
		s += len;
	}
	if (fclose(to) && rc >= 0)
		rc = scribe_err_set(err, -ENOMEM, "%s: out of memory", path);
	return rc;
}

int scribe_question_load(struct scribe_question *q, const char *folders, const char *name, struct scribe_err *err)
{
	char path[PATH_MAX], *text = NULL;
	bool python;
	long head;
	int rc;

	if (!is_name(name))
		return scribe_err_set(err, -EINVAL, "'%.60s' is no name of a question: letters, digits and _", name);
	snprintf(q->name, sizeof(q->name), "%s", name);
	rc = read_file(folders, name, path, sizeof(path), &text, err);
	if (rc < 0)
		return rc;
	python = !strcmp(strrchr(path, '.'), ".py");
	head = take_head(q, text, python ? "#" : "--", path, err);
	rc = head < 0 ? (int)head : python ? 0 : number_parameters(q, text + head, path, err);
	free(text);
	if (rc < 0 || !python)
		return rc;
	q->python = strdup(path);
	return q->python ? 0 : scribe_err_set(err, -ENOMEM, "%s: out of memory", path);
}

/* Validated here, so that the error names the parameter. */
int scribe_question_set(struct scribe_question *q, const char *assignment, struct scribe_err *err)
{
	const char *value = strchr(assignment, '=');
	struct scribe_question_parameter *p;
	int at = value ? parameter_by_name(q, assignment, (size_t)(value - assignment)) : -1;

	if (!value)
		return scribe_err_set(err, -EINVAL, "'%.60s' is no NAME=VALUE", assignment);
	if (at < 0)
		return scribe_err_set(err, -EINVAL, "%s has no parameter '%.*s'; --list names them", q->name,
				      (int)(value - assignment > 60 ? 60 : value - assignment), assignment);
	p = &q->parameters[at];
	if (p->is_number && !is_number(value + 1))
		return scribe_err_set(err, -EINVAL, "%s: '%.60s' is no integer of 64 bits", p->name, value + 1);
	if (strlen(value + 1) >= sizeof(p->value))
		return scribe_err_set(err, -EINVAL, "%s: longer than %zu bytes", p->name, sizeof(p->value) - 1);
	snprintf(p->value, sizeof(p->value), "%s", value + 1);
	p->has_default = true;
	return 0;
}

int scribe_question_values(const struct scribe_question *q, struct scribe_sql_value *ret_values, struct scribe_err *err)
{
	for (int i = 0; i < q->nparameters; i++) {
		const struct scribe_question_parameter *p = &q->parameters[i];

		if (!p->has_default)
			return scribe_err_set(err, -EINVAL, "%s needs %s=VALUE: %s", q->name, p->name, p->about);
		ret_values[i] = p->is_number ? scribe_sql_int(strtoll(p->value, NULL, 10)) : scribe_sql_text(p->value);
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int add_folder(const char *folder, char (*names)[SCRIBE_QUESTION_NAME], int n)
{
	DIR *d = opendir(folder); /* a folder may be missing */
	struct dirent *e;

	while (d && (e = readdir(d)) && n < MAX_QUESTIONS) {
		const char *dot = strrchr(e->d_name, '.');
		size_t len = dot ? (size_t)(dot - e->d_name) : 0;

		if (!len || len >= SCRIBE_QUESTION_NAME || (strcmp(dot, ".sql") && strcmp(dot, ".py")))
			continue;
		snprintf(names[n], sizeof(names[n]), "%.*s", (int)len, e->d_name);
		n += is_name(names[n]);
	}
	if (d)
		closedir(d);
	return n;
}

int scribe_question_each(const char *folders, int (*each)(void *ctx, const char *name, struct scribe_err *err),
			 void *ctx, struct scribe_err *err)
{
	char(*names)[SCRIBE_QUESTION_NAME] = calloc(MAX_QUESTIONS, sizeof(*names));
	char folder[PATH_MAX];
	int n = 0, rc = 0;

	if (!names)
		return scribe_err_set(err, -ENOMEM, "questions: out of memory");
	while (*folders) {
		size_t len = strcspn(folders, ":");

		snprintf(folder, sizeof(folder), "%.*s", (int)len, folders);
		n = len ? add_folder(folder, names, n) : n;
		folders += len + (folders[len] == ':');
	}
	qsort(names, (size_t)n, sizeof(*names), by_text);
	for (int i = 0; i < n && rc >= 0; i++)
		if (!i || strcmp(names[i], names[i - 1])) /* of equal names the first folder's is loaded */
			rc = each(ctx, names[i], err);
	free(names);
	return rc;
}
