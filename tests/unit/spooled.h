/* SPDX-License-Identifier: Apache-2.0 */
/* spooled.h - a spool in a directory of the test, and instead of the bus an auditd that accepts
 * what it receives. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <sys/types.h>

enum {
	LIMIT = 8 << 20,
	MANY = 6000,
	UID = 40,
};

struct spooled_auditd {
	bool away;     /* replies unavailable */
	bool silent;   /* does not reply */
	uint64_t asks; /* also the last id */
	char got[MANY + 64][UID];
	size_t count;
	size_t largest;   /* batch */
	char *checkpoint; /* sent with its replies */
	char sent[512];   /* received with the last batch; "": none */
	void (*done)(void *self, void *reply, const struct err *e);
	void *self;
};

extern struct spooled_auditd spooled_auditd;
extern char spooled_directory[];
extern int spooled_state; /* the directory */

/* Setup and teardown of each case: an empty directory, and an auditd that is connected. */
int spooled_set_up(void **unused);
int spooled_tear_down(void **unused);

void spooled_open(uint64_t limit);
/* uid: that of the event, or NULL. */
int spooled_record_as(enum event, const char *detail, char uid[UID], struct err *);
int spooled_record(
    const char *detail, char uid[UID], struct err *); /* an event that starts a run */
void spooled_record_all(char uids[][UID], size_t count, const char *detail);
void spooled_turn(int64_t ms);
/* Runs until no event waits. */
void spooled_drain(void);
/* auditd must have these, in order, and no others. */
void spooled_expect(char uids[][UID], size_t count);
/* The size of a file in the directory; -1: it does not exist. */
off_t spooled_size(const char *name);
