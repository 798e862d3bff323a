/* SPDX-License-Identifier: BSD-3-Clause */
/* The work of ioscribe query. */
#ifndef UTIL_CMD_QUERY_QUERY_H
#define UTIL_CMD_QUERY_QUERY_H

/* The command line of ioscribe query; returns the exit status. */
int scribe_query_main(int argc, char **argv);

#endif
