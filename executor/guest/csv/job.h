/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - what the executor and the checker of CSV files say to each other.
 *
 * Standard input is a file with the parts of the job, each after its size in 64 bits: the path of
 * the file below the current directory, the flattened validate_csv_data, and the secrets that the
 * file may have.  Standard output is a flattened csv_report if the exit status is 0.  If it is one
 * of an error, standard output is its text.
 */
#pragma once

#include "common/base/err.h"

#define JOB_PROGRAM "/cloister/check/csv"

enum {
	JOB_BYTES = 1 << 20, /* a path, a request and 64 KiB of secrets are less */
	JOB_FAILED = 64,     /* the exit status of the first error */
};

/* Errors that a file or a request can cause, in the order of their exit statuses. */
static const enum err_code job_errors[] = { ERR_invalid_argument, ERR_limit_exceeded,
	ERR_path_not_allowed, ERR_not_found, ERR_session_busy };

#define JOB_SHRANK (JOB_FAILED + 4) /* session_busy */
