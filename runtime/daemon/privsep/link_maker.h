/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes and removes links of library probes in separate processes: making one may wait for a file server,
 * removing one waits for other processors. Must not know: libraries, jobs.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_LINK_MAKER_H
#define RUNTIME_DAEMON_PRIVSEP_LINK_MAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "uprobes/attach/link.h"

/* Before privileges are given up. If it fails, nothing else here may be called. */
int scribe_linker_open(struct scribe_err *err);
/* Waits some seconds for links that are being closed. */
void scribe_linker_close(void);
bool scribe_linker_is_there(void);

/* Links by uprobe_multi; an event's plan is -EINVAL. */
extern const struct scribe_link_maker scribe_linker;

#endif
