/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - scopes: bits of an identity, and the scopes that a tool needs.
 *
 * Derived from scopes.def and the toolsets and hints of schema.def; no tool is named here.
 */
#pragma once

#include "common/table/schema.h"

enum scope {
#define SCOPE(name, ...) scope_##name,
#include "common/credential/scopes.def"
	SCOPE_COUNT
};

enum {
	SCOPES_NONE = 0,
	SCOPES_ALL = (1 << SCOPE_COUNT) - 1,
	SCOPES_LOCAL = 1 << SCOPE_COUNT | SCOPES_ALL, /* the local user; no credential has it */
	SCOPES_USUAL = 1 << scope_read | 1 << scope_run | 1 << scope_monitor,
	SCOPES_TEXT = 32 * SCOPE_COUNT, /* room for scope_text() */
};

/* What a call of the tool needs.  For methods see mcp/methods.h. */
unsigned scope_of_tool(enum msg_id);

/* Names joined by blanks, as in "cloister:read cloister:run"; "" for none. */
void scope_text(unsigned scopes, char text[SCOPES_TEXT]);
/* The bit of a name, with or without "cloister:"; 0: unknown. */
unsigned scope_parse(const char *name, size_t size);
/* The scopes in an issuer's list of names separated by blanks. Only known names with "cloister:"
 * count; others are for other services. */
unsigned scope_parse_all(const char *names);
