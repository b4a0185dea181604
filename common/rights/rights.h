/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rights.h - policies of the operator: what a principal or a namespace may use, and how much of it.
 *
 * A YAML file: one mapping for each policy, under its name. `for` says whom it is for, the rest are
 * rows of rights.def:
 *
 *   ci:
 *     for: {principal: "token:ci"}
 *     tools: [execute_code, create_session, terminate_session]
 *     languages: [python]
 *     calls_per_minute: 120
 *
 * The first policy that is for a caller is the only one that counts.  Without one, settings alone
 * hold.  What a policy does not name, it does not limit.  It never allows what the settings do not,
 * but sessions, concurrent and waiting stand in place of settings, and may be more.
 */
#pragma once

#include "common/base/blob.h"
#include "common/base/err.h"
#include "common/base/owner.h"
#include "common/table/schema.h"

#include <stdio.h>

#define RIGHTS_FILE "policies.yaml"

enum {
	RIGHTS_FILE_MAX = 1 << 20, /* bytes */
	RIGHTS_MAX = 1000,         /* policies */
	RIGHTS_NAME = 65,          /* bytes with the zero byte */
};

struct rights_list {
	bool given; /* else everything is allowed */
	struct texts names;
};

struct rights_number {
	bool given;
	uint64_t value;
};

struct rights {
	char name[RIGHTS_NAME];
	struct owner owner; /* principal or namespace "": any */
#define NAMES(name, where, doc)             struct rights_list name;
#define AMOUNT(name, where, low, high, doc) struct rights_number name;
#include "common/rights/rights.def"
};

struct rights_book {
	struct rights *items;
	size_t count;
};

/* ---- the file ---- */

/* The whole file or nothing: -1 names the line, the policy and what is wrong. */
int rights_read(const struct blob *file, struct rights_book *, struct err *);
void rights_clear(struct rights_book *);
/* NULL: none is for that caller. */
const struct rights *rights_find(const struct rights_book *, const struct owner *);
/* A policy as lines "name: value". */
void rights_print(const struct rights *, FILE *);

/* ---- in force, in a daemon ---- */

/* Opens the directory `given`, or "policies" below state if that is "", and reads the file; a later
 * change is read within a second. Call before entering the jail. */
int rights_open(const char *given, const char *state, struct err *);
void rights_close(void);
/* Those of a caller, valid until the next call; NULL: only settings hold. */
const struct rights *rights_of(const struct owner *);

/* ---- checks ---- */

bool rights_allow(const struct rights_list *, const char *name);
/* -1: denied, which names the field, the policy and what it allows.  rights NULL, name NULL: 0. */
int rights_check(const struct rights *, const struct rights_list *, const char *field,
    const char *name, struct err *);
int rights_check_all(const struct rights *, const struct rights_list *, const char *field,
    const struct texts *names, struct err *);
/* The number of the policy; setting: there is none. */
uint64_t rights_number(const struct rights *, const struct rights_number *, uint64_t setting);
