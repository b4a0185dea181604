/* SPDX-License-Identifier: Apache-2.0 */
/* program_code.c - what a program is given: the code of a run, and values of its session's bridge.
 */
#include "executor/sandbox/program.h"

#include "common/base/auto.h"

#include <string.h>

enum {
	UNREAD_BYTES = 8 << 20, /* bytes a program may leave unread between its statements */
};

static int
add_guard(struct program *p, struct err *e)
{
	if (p->guard.data == NULL)
		return 0;

	uint8_t *to = control_add(&p->control, GUEST_PROFILE, p->guard.size, e);

	if (to == NULL)
		return -1;
	memcpy(to, p->guard.data, p->guard.size);
	return 0;
}

/* An interpreter that was not forked from a zygote finds the files by itself. */
static int
add_files(struct program *p, struct err *e)
{
	return p->files && p->forked && control_add(&p->control, GUEST_FILES, 0, e) == NULL ? -1
	                                                                                    : 0;
}

static int
add_packages(struct program *p, struct err *e)
{
	return p->packages && control_add(&p->control, GUEST_PACKAGES, 0, e) == NULL ? -1 : 0;
}

static int
add_manners(struct program *p, struct err *e)
{
	uint8_t *to = p->manners == 0 ? NULL : control_add(&p->control, GUEST_MANNERS, 1, e);

	if (to != NULL)
		*to = (uint8_t)('0' + p->manners);
	return to == NULL && p->manners != 0 ? -1 : 0;
}

static int
add_bytes(struct program *p, enum guest_frame kind, const void *data, size_t size, struct err *e)
{
	uint8_t *to = control_add(&p->control, kind, size, e);

	if (to != NULL && size > 0)
		memcpy(to, data, size);
	return to != NULL ? 0 : -1;
}

static int
add_invocation(struct program *p, struct err *e)
{
	for (size_t i = 0; p->arguments != NULL && i < p->arguments->count; i++) {
		const char *argument = p->arguments->items[i];

		if (add_bytes(p, GUEST_ARGUMENT, argument, strlen(argument), e) < 0)
			return -1;
	}
	return p->input != NULL && p->input->size > 0
	           ? add_bytes(p, GUEST_INPUT, p->input->data, p->input->size, e)
	           : 0;
}

int
program_add_code(struct program *p, struct err *e)
{
	enum guest_frame kind = p->statement ? GUEST_STATEMENT : GUEST_CODE;
	uint8_t *to = NULL;

	if (add_guard(p, e) == 0 && add_manners(p, e) == 0 && add_files(p, e) == 0 &&
	    add_packages(p, e) == 0 && add_invocation(p, e) == 0 &&
	    control_add_secrets(&p->control, p->secrets, e) == 0)
		to = control_add(&p->control, kind, p->code.size, e);
	if (to == NULL)
		return -1;
	memcpy(to, p->code.data, p->code.size);
	blob_clear(&p->code);
	blob_clear(&p->guard);
	return 0;
}

int
program_bridge(struct program *p, const char *key, const struct blob *json, struct err *e)
{
	size_t length = strlen(key);

	if (p->control.outgoing.size > UNREAD_BYTES)
		return err_set(e, ERR_limit_exceeded,
		    "data: the session's interpreter has %d MB of data still to read; send more "
		    "after the running code has ended",
		    UNREAD_BYTES >> 20);

	uint8_t *to = control_add(&p->control, GUEST_BRIDGE, length + 1 + json->size, e);

	if (to == NULL)
		return -1;
	to = mempcpy(to, key, length);
	*to = '\n';
	memcpy(to + 1, json->data, json->size);
	control_send(&p->control);
	return 0;
}
