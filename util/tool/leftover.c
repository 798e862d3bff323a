// SPDX-License-Identifier: BSD-3-Clause
/* Removes unfinished files when a signal ends the program. For programs with one writing thread. */
#include "util/tool/leftover.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define MOST 64 /* files of an export; more are not removed */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
static const char *volatile unfinished[MOST];
static volatile sig_atomic_t is_watching;

/* Signal handler. */
static void remove_all(int signal)
{
	for (size_t i = 0; i < MOST; i++)
		if (unfinished[i])
			(void)unlink(unfinished[i]);
	(void)raise(signal); /* SA_RESETHAND: ends the program as without this handler */
}

static void catch_signals(void)
{
	struct sigaction ours = {.sa_handler = remove_all, .sa_flags = (int)SA_RESETHAND}, now;

	/*
	 * Called with the first file, so that other commands keep the default. Ignored signals (nohup) stay
	 * ignored.
	 */
	is_watching = 1;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &ours, NULL);
	/* A limit of file sizes then becomes a write error, like a full disk. */
	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		(void)signal(SIGXFSZ, SIG_IGN);
}

/* `path` is borrowed until scribe_leftover_forget. */
void scribe_leftover_add(const char *path)
{
	if (!is_watching)
		catch_signals();
	for (size_t i = 0; i < MOST; i++)
		if (!unfinished[i]) {
			unfinished[i] = path;
			return;
		}
}

void scribe_leftover_forget(const char *path)
{
	for (size_t i = 0; path && i < MOST; i++)
		if (unfinished[i] == path)
			unfinished[i] = NULL;
}
