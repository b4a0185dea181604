/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - the formats of JSON Schema. */
#pragma once

#include "validator/schema/keyword.h"

#include <stdbool.h>
#include <stddef.h>

struct format {
	const char *name;
	enum draft first, last;
	bool (*check)(const char *text, size_t size); /* text: UTF-8 with a zero byte behind it */
	const char *example;
};

/* NULL: unknown, which allows everything. */
const struct format *format_find(enum draft, const char *name);
/* The name of a format that was probably meant; NULL: none. */
const char *format_near(enum draft, const char *name);

/* The checks, by file. */
bool instant_date(const char *, size_t);
bool instant_time(const char *, size_t);
bool instant_date_time(const char *, size_t);
bool instant_duration(const char *, size_t);
bool host_ipv4(const char *, size_t);
bool host_ipv6(const char *, size_t);
bool host_plain(const char *, size_t);
bool host_name(const char *, size_t);
bool host_idn(const char *, size_t);
bool host_email(const char *, size_t);
bool host_idn_email(const char *, size_t);
bool link_uri(const char *, size_t);
bool link_uri_reference(const char *, size_t);
bool link_iri(const char *, size_t);
bool link_iri_reference(const char *, size_t);
bool link_uri_template(const char *, size_t);
bool link_pointer(const char *, size_t);
bool link_relative_pointer(const char *, size_t);
