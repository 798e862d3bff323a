/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says of a process whose name looks like the end of the name and fields of its own. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/daemon/base/procfs.h"

static void parent_and_start_behind_an_odd_name(void **state)
{
	int ready[2], go[2];
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready) | pipe(go), 0);
	child = fork();
	if (child == 0) {
		close(go[1]);
		prctl(PR_SET_NAME, "x) S 1 (y\n)");
		_exit(write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(scribe_parent_pid((uint32_t)child), getpid());
	assert_true(scribe_start_ticks((uint32_t)child) >= scribe_start_ticks((uint32_t)getpid()));
	assert_true(scribe_start_ticks((uint32_t)getpid()) > 0);
	close(go[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(scribe_parent_pid((uint32_t)child), 0);
	assert_int_equal(scribe_start_ticks((uint32_t)child), 0);
}

/* A child that runs, waits for us, or is stopped. */
static bool is_runnable(void (*what)(void))
{
	const pid_t child = fork();
	bool found = false, last = true;

	if (child == 0)
		for (;;)
			what();
	/* It needs some time until it waits. */
	for (int same = 0; same < 20; same = found == last ? same + 1 : 0) {
		last = found;
		usleep(5000);
		found = scribe_process_state((uint32_t)child) == 'R';
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return found;
}

static void spin(void)
{
}

static void wait_for_signal(void)
{
	pause();
}

static void stop(void)
{
	raise(SIGSTOP);
}

static void who_waits_for_a_processor(void **state)
{
	(void)state;
	assert_true(is_runnable(spin));
	assert_false(is_runnable(wait_for_signal));
	assert_false(is_runnable(stop));
	assert_int_equal(scribe_process_state(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parent_and_start_behind_an_odd_name),
		cmocka_unit_test(who_waits_for_a_processor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
