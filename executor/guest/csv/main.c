/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloister-csv - checks a CSV file of a workspace, of any size, in a box.
 *
 * It maps the file, so that its memory does not depend on the file's size.  Only the pages in which
 * a secret is masked are copied.
 *
 * Trusts the executor for the job.  It trusts nothing in the workspace: programs of the session may
 * replace, change or shorten the file meanwhile, which harms their own report only.
 */
#include "executor/guest/csv/job.h"

#include "executor/redact/redact.h"
#include "validator/csv/charset.h"
#include "validator/csv/csv.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/codec/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* ---- the job ---- */

struct job {
	struct blob rest; /* not read yet */
	struct blob path, request;
	struct blob *secrets;
	size_t count;
};

static int
next_part(struct job *job, struct blob *part, struct err *e)
{
	uint64_t size;

	if (job->rest.size < sizeof size)
		return err_set(e, ERR_internal, "the job is incomplete");
	memcpy(&size, job->rest.data, sizeof size);
	if (size > job->rest.size - sizeof size)
		return err_set(e, ERR_internal, "the job is incomplete");
	*part = (struct blob){ (char *)job->rest.data + sizeof size, size };
	job->rest = (struct blob){ (char *)part->data + size, job->rest.size - sizeof size - size };
	return 0;
}

/* The parts stay where they are, and all ends with the process. */
static int
read_job(struct job *job, struct err *e)
{
	struct blob part;

	if (fdio_load_open(STDIN_FILENO, "the job", JOB_BYTES, &job->rest, e) < 0 ||
	    next_part(job, &job->path, e) < 0 || next_part(job, &job->request, e) < 0)
		return -1;
	job->path.data = strndup(job->path.data, job->path.size);
	if (job->path.data == NULL)
		return err_sys(e, "the job");
	while (job->rest.size > 0) {
		if (next_part(job, &part, e) < 0)
			return -1;
		struct blob *secrets =
		    realloc(job->secrets, (job->count + 1) * sizeof *job->secrets);
		if (secrets == NULL)
			return err_sys(e, "the job");
		job->secrets = secrets;
		secrets[job->count++] = part;
	}
	return 0;
}

static int
read_request(const struct job *job, struct validate_csv_data *ask, struct err *e)
{
	struct packed packed;

	if (wire_raise(&job->request, &packed, e) < 0)
		return -1;

	int status = wire_decode(MSG_validate_csv_data, &packed, ask, e);

	packed_clear(&packed);
	return status;
}

/* ---- the file ---- */

/* Opens each part of the path without following a link. */
static int
open_below(char *path, struct err *e)
{
	auto_fd int at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *part = path, *slash;

	for (; at >= 0 && (slash = strchr(part, '/')) != NULL; part = slash + 1) {
		*slash = '\0';
		int next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
		*slash = '/';
	}

	int fd = at < 0
	             ? -1
	             : openat(at, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return err_set(e, errno == ENOENT ? ERR_not_found : ERR_path_not_allowed, "path: %s",
	    errno == ELOOP || errno == ENOTDIR ? "a part of it is a link or no directory"
					       : strerrordesc_np(errno));
}

/* Writable only to mask secrets; nothing is written to the file. */
static int
map_file(char *path, bool writable, struct blob *text, struct err *e)
{
	auto_fd int fd = open_below(path, e);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "path");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_path_not_allowed, "path: not a regular file");
	*text = (struct blob){ (void *)(uintptr_t) "", (size_t)st.st_size };
	if (text->size == 0)
		return 0;
	text->data = mmap(NULL, text->size, PROT_READ | (writable ? PROT_WRITE : 0),
	    MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (text->data == MAP_FAILED)
		return err_sys(e, "map the file");
	madvise(text->data, text->size, MADV_SEQUENTIAL);
	return 0;
}

/* As sandbox_read_artifact masks them. */
static int
mask(const struct job *job, struct blob *text, struct err *e)
{
	struct redact *redact = job->count > 0 ? redact_new(job->secrets, job->count, e) : NULL;

	if (job->count > 0 && redact == NULL)
		return -1;
	redact_mask(redact, text);
	redact_free(redact);
	return 0;
}

/* The file is shorter than when it was mapped. */
static void
on_bus_error(int signal)
{
	static const char text[] = "path: the file became shorter while it was checked";

	(void)signal;
	(void)!write(STDOUT_FILENO, text, sizeof text - 1);
	_exit(JOB_SHRANK);
}

/* ---- the report ---- */

static int
write_report(struct csv_report *report, struct err *e)
{
	struct packed packed;
	struct blob bytes;

	if (wire_encode(MSG_csv_report, report, &packed, e) < 0)
		return -1;

	int status = wire_flatten(&packed, &bytes, e);

	packed_clear(&packed);
	if (status == 0) {
		status = fdio_write(STDOUT_FILENO, bytes.data, bytes.size, e);
		blob_clear(&bytes);
	}
	return status;
}

static int
check(struct err *e)
{
	struct job job = { 0 };
	struct validate_csv_data ask = { 0 };
	struct csv_report report = { 0 };
	struct blob text;

	if (read_job(&job, e) < 0 || read_request(&job, &ask, e) < 0 ||
	    map_file(job.path.data, job.count > 0, &text, e) < 0 || mask(&job, &text, e) < 0)
		return -1;
	return csv_check_bytes(&ask, &text, &report, e) < 0 ? -1 : write_report(&report, e);
}

/* An error that no file and no request causes ends in another status, and its text in the log. */
static int
report_error(const struct err *e)
{
	for (size_t i = 0; i < COUNT(job_errors); i++)
		if (e->code == job_errors[i]) {
			fputs(e->text, stdout);
			return JOB_FAILED + (int)i;
		}
	fputs(e->text, stderr);
	return 1;
}

int
main(void)
{
	struct sigaction action = { .sa_handler = on_bus_error };
	struct err e = { 0 };

	sigaction(SIGBUS, &action, NULL);
	charset_open();

	int status = check(&e) == 0 ? 0 : report_error(&e);

	fflush(NULL);
	_exit(
	    status); /* the kernel frees faster, and a sanitizer need not look for what was kept */
}
