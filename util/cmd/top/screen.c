// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe top` on a terminal; the only file with curses. State is one static struct screen. */
#include "util/cmd/top/screen.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/text/human.h"

#define KEYS_MAX 32
/* Levels of drilling down: job, rank, process, files. */
#define DEPTH_MAX 4
#define HEAD_ROWS 2
#define ESCAPE    27

static volatile sig_atomic_t asked_to_end;

struct looking {
	struct scribe_top_scope scope;
	char job_id[128];
};

struct screen {
	const struct scribe_top_options *options;
	struct scribe_live_link *link;
	struct scribe_top_names *names;
	struct scribe_top_sample before, now;
	struct scribe_top_rows rows;
	struct looking at[DEPTH_MAX];
	int depth;
	enum scribe_top_sort sort;
	char filter[64], message[256];
	size_t selected, first;
	bool filtering, pausing, helping, ended;
	int key[KEYS_MAX], keys;
};

static void on_signal(int sig)
{
	(void)sig;
	asked_to_end = 1;
}

static struct scribe_top_scope *scope_of(struct screen *s)
{
	struct looking *l = &s->at[s->depth];

	l->scope.job_id = l->job_id[0] ? l->job_id : NULL; /* set again, because levels are copied */
	return &l->scope;
}

static bool go_on(void *ctx)
{
	struct screen *s = ctx;
	int key;

	timeout(0);
	while (s->keys < KEYS_MAX && (key = getch()) != ERR) {
		s->ended = s->ended || (key == 'q' && !s->filtering);
		s->key[s->keys++] = key;
	}
	return !s->ended && !asked_to_end;
}

static int rows_shown(void)
{
	return LINES - HEAD_ROWS - 1;
}

static void move_to(struct screen *s, size_t row)
{
	const size_t shown = rows_shown() > 0 ? (size_t)rows_shown() : 1;

	s->selected = row < s->rows.n ? row : s->rows.n ? s->rows.n - 1 : 0;
	if (s->selected < s->first)
		s->first = s->selected;
	if (s->selected >= s->first + shown)
		s->first = s->selected - shown + 1;
}

static void say(struct screen *s, const struct scribe_err *err)
{
	scribe_human_text(err->text, s->message, sizeof(s->message));
}

static void make_rows(struct screen *s)
{
	const struct scribe_top_scope *scope = scope_of(s);
	struct scribe_err err = {0};
	bool by_name = s->filter[0] || s->sort == SCRIBE_TOP_BY_NAME;
	int rc;

	scribe_top_rows_clear(&s->rows);
	rc = scribe_top_rows_make(s->before.at_ns ? &s->before : &s->now, &s->now, scope, &s->rows);
	if (rc < 0)
		scribe_err_set(&err, rc, "out of memory");
	else if (by_name) /* filtering and sorting need all names, otherwise those on the screen suffice */
		rc = scribe_top_names_fetch(s->names, s->link, &s->rows, 0, s->rows.n, &err);
	if (rc == 0 && s->filter[0])
		scribe_top_rows_filter(&s->rows, s->filter, scope->view, s->names);
	scribe_top_rows_sort(&s->rows, s->sort, scope->view, s->names);
	move_to(s, s->selected);
	if (rc == 0 && scope->view == SCRIBE_TOP_FILES)
		rc = scribe_top_names_fetch(s->names, s->link, &s->rows, s->first, s->first + (size_t)LINES, &err);
	if (rc < 0 && rc != -ECANCELED)
		say(s, &err);
}

static void take_sample(struct screen *s)
{
	struct scribe_top_sample now;
	struct scribe_err err = {0};
	int rc = scribe_sample_take(s->link, &now, &err);

	if (rc == -ECANCELED)
		return;
	if (rc < 0) {
		say(s, &err); /* the old samples stay on the screen */
		return;
	}
	s->message[0] = 0;
	scribe_sample_clear(&s->before);
	s->before = s->now;
	s->now = now;
	make_rows(s);
}

static void put_line(int y, const char *text, attr_t how)
{
	static const struct scribe_top_column all = {.head = "", .left = true};
	static char fitted[SCRIBE_TOP_CELL];

	scribe_top_fit(&all, text, COLS, fitted);
	attrset(how);
	move(y, 0);
	clrtoeol();
	addstr(fitted);
	attrset(A_NORMAL);
}

static void draw_title(struct screen *s)
{
	const struct scribe_top_scope *scope = scope_of(s);
	char text[1200], job[512] = "", filter[256] = "", of[64] = "";

	if (scope->pid)
		snprintf(of, sizeof(of), " of process %d", (int)scope->pid);
	else if (scope->rank >= 0)
		snprintf(of, sizeof(of), " of rank %lld", (long long)scope->rank);
	if (scope->job_id)
		scribe_human_text(scope->job_id, job, sizeof(job));
	if (s->filter[0])
		scribe_human_text(s->filter, filter, sizeof(filter));
	snprintf(text, sizeof(text), "ioscribe top%s: %zu %s%s%s%s by %s%s%s, %.1f s", s->pausing ? " PAUSED" : "",
		 s->rows.n, scribe_top_view_name(scope->view), of, job[0] ? " of job " : "", job,
		 scribe_top_sort_name(s->sort), filter[0] ? " with " : "", filter, s->rows.seconds);
	put_line(0, text, A_BOLD);
}

static void draw_row(struct screen *s, int y, const struct scribe_top_row *row, attr_t how)
{
	static char cell[SCRIBE_TOP_CELL], fitted[SCRIBE_TOP_CELL];
	int x = 0;

	attrset(how);
	mvhline(y, 0, ' ', COLS);
	for (const struct scribe_top_column *c = scribe_top_columns(scope_of(s)->view); c->head; c++) {
		int width = c->width ? c->width : COLS - x;

		if (c->wide && COLS < SCRIBE_TOP_WIDE)
			continue;
		if (x >= COLS)
			break;
		if (width > COLS - x)
			width = COLS - x;
		if (row)
			c->cell(row, s->names, cell);
		else
			snprintf(cell, sizeof(cell), "%s", c->head);
		scribe_top_fit(c, cell, width, fitted);
		mvaddstr(y, x, fitted);
		x += width + 1;
	}
	attrset(A_NORMAL);
}

static void draw_help(void)
{
	static const char *const lines[] = {
		"1 2 3 4      jobs, processes, ranks, files; Tab: the next of them",
		"Enter        what the selected row consists of; Backspace: back",
		"arrows       select a row; Page Up, Page Down, Home, End",
		"s S          sort by the next, the previous key",
		"/            a text to filter by: job, user, program or file; empty: all",
		"space        pause, and go on",
		"h ?          this; any key: back",
		"q            end",
		"",
		"READ/s WRITE/s   bytes a second     OPS/s   operations a second",
		"META/s           of these opens and stats, and of a job failed lookups, too",
		"MEAN MAX         time of a read or write: between the samples, the longest ever",
		"SIZE             mean bytes of a read or write",
		"LAYERS           by what the file is used: POSIX, STDIO, MPIIO, H5F, H5D ...",
	};

	for (int y = 0; y < LINES - 1; y++)
		put_line(y, (size_t)y < sizeof(lines) / sizeof(lines[0]) ? lines[y] : "", A_NORMAL);
}

static void draw(struct screen *s)
{
	char text[1500], shown[256];

	erase();
	if (s->helping) {
		draw_help();
	} else {
		draw_title(s);
		draw_row(s, 1, NULL, A_REVERSE);
		for (int i = 0; i < rows_shown() && s->first + (size_t)i < s->rows.n; i++)
			draw_row(s, HEAD_ROWS + i, &s->rows.row[s->first + (size_t)i],
				 s->first + (size_t)i == s->selected ? A_STANDOUT : A_NORMAL);
		if (!s->rows.n && rows_shown() > 0)
			put_line(HEAD_ROWS, s->filter[0] ? "nothing with that text" : "nothing is traced now", A_DIM);
	}
	snprintf(text, sizeof(text), "filter: %s_", scribe_human_text(s->filter, shown, sizeof(shown)));
	if (s->filtering)
		put_line(LINES - 1, text, A_BOLD);
	else if (s->message[0])
		put_line(LINES - 1, s->message, A_BOLD);
	else if (!s->helping && scope_of(s)->view == SCRIBE_TOP_JOBS &&
		 scribe_top_most_metadata(&s->rows, text, sizeof(text)))
		put_line(LINES - 1, text, A_BOLD);
	else
		put_line(LINES - 1, "1-4 view  Enter in  Backspace out  s sort  / filter  space pause  h help  q end",
			 A_DIM);
	refresh();
}

static void look_at(struct screen *s, enum scribe_top_view view)
{
	scope_of(s)->view = view;
	s->selected = s->first = 0;
	make_rows(s);
}

/* Opens the selected row: a job's or rank's processes, a process's files. */
static void enter(struct screen *s)
{
	const struct scribe_top_row *row = s->selected < s->rows.n ? &s->rows.row[s->selected] : NULL;
	struct looking *next = &s->at[s->depth + 1];
	enum scribe_top_view view = scope_of(s)->view;

	if (!row || view == SCRIBE_TOP_FILES || s->depth + 1 >= DEPTH_MAX)
		return;
	*next = s->at[s->depth];
	snprintf(next->job_id, sizeof(next->job_id), "%s", row->job->id);
	if (view == SCRIBE_TOP_PROCESSES)
		next->scope.pid = row->process->pid;
	if (view == SCRIBE_TOP_RANKS) {
		next->scope.rank = row->rank;
		next->scope.unit = row->unit;
	}
	s->depth++;
	look_at(s, view == SCRIBE_TOP_PROCESSES ? SCRIBE_TOP_FILES : SCRIBE_TOP_PROCESSES);
}

static void back(struct screen *s)
{
	if (!s->depth)
		return;
	s->depth--;
	look_at(s, scope_of(s)->view);
}

static void edit_filter(struct screen *s, int key)
{
	size_t n = strlen(s->filter);

	if (key == '\n' || key == '\r' || key == KEY_ENTER || key == ESCAPE) {
		s->filtering = false;
		if (key == ESCAPE)
			s->filter[0] = 0;
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && n) {
		s->filter[n - 1] = 0;
	} else if (key >= ' ' && key < 256 && key != 127 && n + 1 < sizeof(s->filter)) {
		s->filter[n] = (char)key;
		s->filter[n + 1] = 0;
	}
	make_rows(s);
}

static bool select_row(struct screen *s, int key)
{
	const size_t page = rows_shown() > 1 ? (size_t)rows_shown() - 1 : 1;

	if (key == KEY_UP)
		move_to(s, s->selected ? s->selected - 1 : 0);
	else if (key == KEY_DOWN)
		move_to(s, s->selected + 1);
	else if (key == KEY_PPAGE)
		move_to(s, s->selected > page ? s->selected - page : 0);
	else if (key == KEY_NPAGE)
		move_to(s, s->selected + page);
	else if (key == KEY_HOME)
		move_to(s, 0);
	else if (key == KEY_END)
		move_to(s, s->rows.n);
	else
		return false;
	make_rows(s);
	return true;
}

static void on_key(struct screen *s, int key)
{
	if (key == KEY_RESIZE) {
		make_rows(s);
	} else if (s->filtering) {
		edit_filter(s, key);
	} else if (s->helping) {
		s->helping = false;
	} else if (key >= '1' && key <= '4') {
		look_at(s, (enum scribe_top_view)(key - '1'));
	} else if (key == '\t') {
		look_at(s, (scope_of(s)->view + 1) % 4);
	} else if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		enter(s);
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		back(s);
	} else if (key == 's' || key == 'S') {
		s->sort = (s->sort + (key == 's' ? 1 : SCRIBE_TOP_SORTS - 1)) % SCRIBE_TOP_SORTS;
		make_rows(s);
	} else if (key == '/') {
		s->filtering = true;
	} else if (key == ' ') {
		s->pausing = !s->pausing;
	} else if (key == 'h' || key == '?') {
		s->helping = true;
	} else if (key == 'q') {
		s->ended = true;
	} else {
		(void)select_row(s, key);
	}
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int next_key(struct screen *s, int64_t until_ms)
{
	int64_t left = until_ms - now_ms();
	int key;

	if (s->keys) {
		key = s->key[0];
		memmove(s->key, s->key + 1, (size_t)--s->keys * sizeof(*s->key));
		return key;
	}
	timeout(s->pausing ? 500 : left > 0 ? (int)(left < 500 ? left : 500) : 0);
	return getch();
}

static void run(struct screen *s)
{
	const int64_t interval_ms = (int64_t)(s->options->interval_s * 1000);
	int64_t next_ms = now_ms() + interval_ms;

	make_rows(s);
	while (!s->ended && !asked_to_end) {
		int key;

		draw(s);
		key = next_key(s, next_ms);
		if (key != ERR)
			on_key(s, key);
		if (!s->pausing && !s->ended && now_ms() >= next_ms) {
			take_sample(s);
			/* From now, so that a slow sample is not followed at once by the next. */
			next_ms = now_ms() + interval_ms;
		}
	}
}

/* A signal must not end the program before the terminal is restored. */
static void watch_signals(void)
{
	struct sigaction on_end = {.sa_handler = on_signal};

	sigemptyset(&on_end.sa_mask);
	sigaction(SIGINT, &on_end, NULL);
	sigaction(SIGTERM, &on_end, NULL);
	sigaction(SIGHUP, &on_end, NULL);
}

static int show(struct screen *s, struct scribe_err *err)
{
	/* initscr would exit on an unknown terminal. */
	SCREEN *terminal = newterm(NULL, stdout, stdin);

	if (!terminal)
		return scribe_err_set(err, -ENOTTY, "this terminal is not known (TERM): --once needs none");
	watch_signals();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	s->link->go_on = go_on;
	s->link->ctx = s;
	run(s);
	s->link->go_on = NULL;
	endwin();
	delscreen(terminal);
	return 0;
}

int scribe_top_screen(const struct scribe_top_options *o, struct scribe_live_link *link, struct scribe_err *err)
{
	static struct screen s;
	int rc;

	s = (struct screen){.options = o, .link = link, .sort = o->sort, .names = scribe_top_names_new()};
	s.at[0].scope = o->scope;
	if (o->scope.job_id)
		snprintf(s.at[0].job_id, sizeof(s.at[0].job_id), "%s", o->scope.job_id);
	if (o->filter)
		snprintf(s.filter, sizeof(s.filter), "%s", o->filter);
	rc = s.names ? scribe_sample_take(link, &s.now, err) : scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc == 0 && link->job_id && !s.now.jobs)
		rc = scribe_err_set(err, -ENOENT, "no job %.100s here", link->job_id);
	if (rc == 0)
		rc = show(&s, err);
	scribe_top_rows_clear(&s.rows);
	scribe_sample_clear(&s.before);
	scribe_sample_clear(&s.now);
	scribe_top_names_free(s.names);
	return rc;
}
