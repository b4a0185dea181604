/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - a check of a CSV file of a workspace, in a box of its own on that workspace.
 *
 * The checker (guest/csv/) reads the file there.  Its report is hostile, and worth as much as the
 * validator's.
 */
#pragma once

#include "executor/redact/known.h"
#include "executor/run/limits.h"

/* Its members are table.c's own. */
struct table {
	struct sandbox *sandbox;
	struct blob job;       /* of guest/csv/job.h */
	struct redact *redact; /* of all that the box says; or NULL */
	bool runs;
	struct csv_report report;
	struct err why; /* ERR_none: there is a report */
	void (*done)(void *self, void *report, const struct err *e);
	void *self;
};

struct table_ask {
	const struct workspace *workspace; /* outlives the check */
	const struct limits *limits;       /* table_limits() */
	const char *path;                  /* real bytes, below the workspace */
	struct validate_csv_data *request; /* without path and session; its blobs are taken */
	const struct known *known;         /* secrets that the file may have */
	/* Exactly once, when the box has ended, maybe before table_begin() returns; it may free
	 * the table.  A struct csv_report, which is cleared afterwards.  NULL: *e says why. */
	void (*done)(void *self, void *report, const struct err *e);
	void *self;
};

/* The limits of such a box on a workspace of that size. */
struct limits table_limits(const struct workspace_limits *room);
void table_begin(struct table *, const struct table_ask *);
/* The check ends soon, with that error; done is still called. */
void table_cancel(struct table *, enum err_code, const char *why);

/* Reads what the checker wrote; strict and bounded, for tests.  The caller clears *report. */
int table_read(const struct blob *answer, struct csv_report *report, struct err *);
