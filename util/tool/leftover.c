// SPDX-License-Identifier: BSD-3-Clause
/*
 * Removes unfinished files when a signal ends the program. A fixed array of the caller's path
 * strings, no memory. Must not know what is in them. One thread writes files; the handler only
 * calls what a handler may.
 */
#include "util/tool/leftover.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define MOST 64 /* files of one export; more are not looked after */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
static const char *volatile unfinished[MOST];
static volatile sig_atomic_t is_watching;

/* SA_RESETHAND: the signal that is raised again ends the program as it would have. */
static void remove_all(int signal)
{
	for (size_t i = 0; i < MOST; i++)
		if (unfinished[i])
			(void)unlink(unfinished[i]);
	(void)raise(signal);
}

/*
 * A signal that is ignored (nohup) or taken by someone else stays so. At the first file only:
 * commands that write none leave the signals alone.
 */
static void catch_signals(void)
{
	struct sigaction ours = {.sa_handler = remove_all, .sa_flags = (int)SA_RESETHAND}, now;

	is_watching = 1;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &ours, NULL);
	/* a limit of file sizes is an error of the write, as a full disk is */
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
