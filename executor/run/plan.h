/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - a checked request to run code, with its limits, policy and files. */
#pragma once

#include "common/base/hash.h"
#include "common/rights/rights.h"

#include "executor/run/check/policy.h"
#include "executor/run/limits.h"
#include "executor/session/session.h"

struct plan_file {
	char *path; /* from path_check() */
	struct blob content;
};

struct plan {
	unsigned language; /* of runtime.h */
	bool typed;        /* in Node: TypeScript */
	bool statement;    /* its definitions stay in the session */
	unsigned manners;  /* enum guest_manner */
	bool fresh;        /* in a session: in a new interpreter */
	bool contents;     /* its new files are returned with their content */
	bool lenient;      /* without domains that are not allowed, instead of not at all */
	uint32_t zygote;   /* 0: none */
	struct blob code;
	char digest[HASH_HEX]; /* of the code */
	uint64_t bytes;        /* of the code and the files */
	struct limits limits;
	struct policy policy;
	bool capture;
	struct texts domains;  /* that it may reach; none: no network */
	char *namespace;       /* selects secrets and approvals, and marks events; or NULL */
	struct texts packages; /* to install first */
	bool runs_without; /* lines of the code name them: a failure is a note, as in notebooks */
	struct texts secrets; /* names */
	bool all_secrets;     /* and all others of the namespace that can be set */
	struct texts arguments;
	struct blob input; /* standard input */
	struct plan_file *files;
	size_t nfiles;
};

/* Takes what it needs from *ask, which may request other limits.  session NULL: the run gets a
 * workspace of its own; rights give it the profile that it does not name; they are checked by
 * run_rights_check().  Error texts name the field.  After an error *plan is empty. */
int plan_read(struct plan *, struct execute_code *ask, const struct limits *,
    const struct session *, const struct rights *, struct err *);
void plan_clear(struct plan *);
