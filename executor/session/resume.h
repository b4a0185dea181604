/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.h - recovers sessions after this daemon or its builder ended in any way and was restarted:
 * their files survive, their programs do not.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/* Before builder_open(), and after it. */
void resume_open(void);
int resume_prepare(struct err *);
/* In start(), after the builder's: resumes sessions, wipes workspaces that belong to none. */
void resume_start(void);
/* Do sessions survive a restart? */
bool resume_keeps(void);
