/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - calls of the REST API whose answer is fetched later.
 *
 * A job is a call that no connection waits for.  It belongs to its principal and tenant; for all
 * others it does not exist.  As in sandboxmcp, jobs are in memory: another gateway does not know
 * them, and they end with this one.
 */
#pragma once

#include "gateway/transport/http/metrics.h"

#include "common/base/err.h"

#include <jansson.h>

enum {
	JOB_ID = 32 + 1,
	JOB_PROBLEM = 4096, /* no error is longer */
};

struct http_request;

/*
 * Begins the call, a message of 2026-07-28, which the caller keeps.  Returns NULL and writes the
 * id; or, if the call was refused at once, the refusal, a message; *e: there is no room for a job.
 */
json_t *job_begin(const struct http_request *, const char *tenant, json_t *message,
    const struct operation *, char id[JOB_ID], struct err *);
/* {"job_id", "status", "result"}; NULL: no such job. */
json_t *job_status(const struct http_request *, const char *tenant, const char *id);
/* {"jobs", "total", "running", "queued"}, without results. */
json_t *job_list(const struct http_request *, const char *tenant);
/* Cancels the calls: nobody can fetch their answers any more. */
void job_drain(void);
void job_close(void);

/* A tool's text, parsed; NULL: it is no JSON. */
json_t *job_value(const json_t *text);
/* The same, if it says what was wrong with the call; NULL: it is a result. */
json_t *job_problem(const json_t *text);
