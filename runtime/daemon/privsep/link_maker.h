/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links of library probes are made and taken off by processes of their own: making one reads the
 * file, whose server may not answer, and taking one off waits for other processors. Each link
 * is made by a process that ends itself at its deadline. Must not know: libraries, jobs.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_LINK_MAKER_H
#define RUNTIME_DAEMON_PRIVSEP_LINK_MAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "uprobes/attach/link.h"

/* Start both, before privileges are given up. Without them nothing else here is to be called. */
int scribe_linker_open(struct scribe_err *err);
/* No more: what was given to be closed is closed by then, or after some seconds by itself. */
void scribe_linker_close(void);
bool scribe_linker_is_there(void);

/* Links by uprobe_multi; `plan` is none of an event's. See uprobes/attach/attach.h. */
extern const struct scribe_link_maker scribe_linker;

#endif
