/* SPDX-License-Identifier: Apache-2.0 */
/* bridge.h - the JSON values that a session was given by name, for all its programs. */
#pragma once

#include "executor/sandbox/box.h"

struct bridges {
	struct bridge {
		char *key;
		struct blob json;
	} * items;
	size_t count, bytes;
};

/* Takes *json and replaces a value of the same name.  limit_exceeded. */
int bridge_put(struct bridges *, const char *key, struct blob *json, struct err *);
/* Sends all values to a program that has just been started. */
void bridge_send(const struct bridges *, struct program *);
void bridge_clear(struct bridges *);
