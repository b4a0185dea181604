/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.h - sessions after this daemon, or its builder, has ended by whatever road and was started
 * again: their files are there, what ran is not.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/* Before builder_open(), and after it. */
void resume_open(void);
int resume_prepare(struct err *);
/* In start(), behind the builder's: takes up what was left, wipes what belongs to no session. */
void resume_start(void);
/* Will sessions of now be there after a restart? */
bool resume_keeps(void);
