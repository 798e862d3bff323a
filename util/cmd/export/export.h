/* SPDX-License-Identifier: BSD-3-Clause */
/* The work of ioscribe export. */
#ifndef UTIL_CMD_EXPORT_EXPORT_H
#define UTIL_CMD_EXPORT_EXPORT_H

/* The command line of ioscribe export; returns the exit status. */
int scribe_export_main(int argc, char **argv);

#endif
