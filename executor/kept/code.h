/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - the code of runs, if the setting keep_code says that it is kept:
 * <state>/code/<owner>/<execution id>.
 *
 * The audit log has only digests.  Who sees that a run failed can read here what it was, as long as
 * the setting says, and nobody but its owner.  An owner's oldest files go when they are too old,
 * more than its share of keep_code_bytes, or too many.  That is looked at every some runs, so what
 * is kept may be a little more in between.
 */
#pragma once

#include "common/base/blob.h"
#include "common/base/err.h"
#include "common/base/owner.h"

/* In start(); state: the state directory, or -1: nothing is kept. */
void code_open(int state);
/* Copies what it keeps; small code is written at once, more in a thread.  A failure is logged: the
 * run goes on. */
void code_keep(const struct owner *, const char *execution_id, const struct blob *code);
/* not_found: it was not kept, or no longer is, or is another's. */
int code_load(const struct owner *, const char *execution_id, struct blob *code, struct err *);
