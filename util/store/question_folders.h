/* SPDX-License-Identifier: BSD-3-Clause */
/* Where questions are looked for. */
#ifndef UTIL_STORE_QUESTION_FOLDERS_H
#define UTIL_STORE_QUESTION_FOLDERS_H

#include <stddef.h>

#include "logfmt/base/err.h"

#define SCRIBE_QUESTION_FOLDERS 8192 /* bytes of a list */

/* Add one to the list, which begins empty. 0 or -E2BIG. */
int scribe_question_folder_add(char *folders, size_t cap, const char *folder, struct scribe_err *err);
/* Add those of the environment, then those beside the program as installed, or else as built. */
int scribe_question_folders(char *folders, size_t cap, struct scribe_err *err);

#endif
