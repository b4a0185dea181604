/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.h - approvald's records in a scratch directory, with a clock, a spool and a bus of the
 * test.
 *
 * For programs linked with the wraps of `asked` in guards.cmake.
 */
#pragma once

#include "common/bus/bus.h"
#include "executor/approvald/options.h"
#include "executor/approvald/request.h"
#include "executor/approvald/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ASKED_NOW = 1800000000 }; /* seconds: 2027-01-15 08:00:00 */

extern struct asked {
	char directory[64];
	int state;       /* a descriptor of it */
	uint64_t now_ms; /* the clock */
	bool spool_full;
	size_t events;
	int event; /* the last one */
	char detail[512];
	size_t replies;
	enum msg_id message; /* of the next replies */
	void (*replied)(void *reply);
} asked;

extern const struct owner asked_ann, asked_bob;

/* Setup and teardown of each case: no records, the settings' defaults. */
int asked_set_up(void **unused);
int asked_tear_down(void **unused);
/* As a process that starts. */
void asked_restart(void);

/* A request of ann for that subject, which is canonical. */
struct wish asked_wish(const char *subject);
struct approval *asked_make(const struct wish *);
/* That request, answered by a person; it must be possible. */
void asked_answer(struct approval *, int verdict, int duration);

#define ASKED_TEST(f) cmocka_unit_test_setup_teardown(f, asked_set_up, asked_tear_down)
