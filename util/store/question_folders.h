/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders with questions. */
#ifndef UTIL_STORE_QUESTION_FOLDERS_H
#define UTIL_STORE_QUESTION_FOLDERS_H

#include <stddef.h>

#include "logfmt/base/err.h"

#define SCRIBE_QUESTION_FOLDERS 8192 /* bytes of a list */

/* Appends to the list, initially "". 0 or -E2BIG. */
int scribe_question_folder_add(char *folders, size_t cap, const char *folder, struct scribe_err *err);
/* Appends the folders of the environment and of the installation or build tree. */
int scribe_question_folders(char *folders, size_t cap, struct scribe_err *err);

#endif
