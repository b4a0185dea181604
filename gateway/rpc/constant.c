/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constant.c - a table by address.  An address identifies its value, because no value is ever
 * freed.
 *
 * Trusts the caller that adds a value not to change it.
 */
#include "gateway/rpc/constant.h"

#include "common/base/err.h"

#include <stdint.h>

enum {
	SLOTS = 1024, /* a power of two */
	MOST =
	    512, /* the tools of all revisions and more: half of the slots, so that searches end */
};

static struct constant slots[SLOTS];
static size_t used;

/* The value's slot, or the free slot for it. */
static struct constant *
slot_of(const json_t *value)
{
	size_t i = (size_t)(((uintptr_t)value >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (slots[i % SLOTS].value != NULL && slots[i % SLOTS].value != value)
		i++;
	return &slots[i % SLOTS];
}

void
constant_add(json_t *value, char *text, size_t size)
{
	struct constant *c = slot_of(value);

	must(constant_wanted(value));
	*c = (struct constant){ .value = json_incref(value), .text = text, .size = size };
	used++;
}

bool
constant_wanted(const json_t *value)
{
	return value != NULL && used < MOST && slot_of(value)->value == NULL;
}

const struct constant *
constant_find(const json_t *value)
{
	const struct constant *c = slot_of(value);

	return c->value == NULL ? NULL : c;
}
