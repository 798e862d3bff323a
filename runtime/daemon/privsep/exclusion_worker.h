/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PRIVSEP_EXCLUSION_WORKER_H
#define RUNTIME_DAEMON_PRIVSEP_EXCLUSION_WORKER_H

#include "runtime/daemon/privsep/helper_wire.h"
#include <stdbool.h>

/* `fd`: the memory file of scribe_helper_check_exclusion. */
int scribe_helper_check_texts(int fd, bool anew, struct scribe_helper_answer *ret_answer);

#endif
