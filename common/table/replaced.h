/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replaced.h - settings of the systems that cloister replaces: replaced.def as data.
 *
 * What has no effect is reported once at start: a setting that is silently ignored is worse than a
 * line in a log.
 */
#pragma once

#include <stddef.h>

struct replaced_key {
	const char *name, *daemon, *setting, *doc;
};

/* The row of a key of a flat YAML file, or NULL. */
const struct replaced_key *replaced_key(const char *name);
/* Remembers that a key without effect was given. */
void replaced_note(const struct replaced_key *);

/* Splits "NAME:theirs=ours:theirs=ours", up to a blank. Letters of either case are the same. */
enum { REPLACED_BYTES = 128 };
/* The name; returns the size of the whole. */
size_t replaced_name(const char *row, char name[REPLACED_BYTES]);
/* Our value for theirs; value itself if the row has none. */
const char *replaced_value(const char *row, const char *value, char ours[REPLACED_BYTES]);

/* Calls it for each variable in a file NAME=VALUE (.env) that a replaced system would take, whether
 * cloister has it or not: no such file is read. */
void replaced_report_file(const char *path, void (*report)(const char *name, const char *instead));
/* Calls it once for each variable in the environment, and each key that was noted, that has no
 * effect. The value is not passed on, because it may be a secret. */
void replaced_report(void (*report)(const char *name, const char *instead));
