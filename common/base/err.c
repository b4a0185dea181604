/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.c - the only ways to fail; allocates nothing.
 *
 * An error text may quote bytes from a peer, and it goes into logs and replies. So it is made
 * printable here.
 */
#include "common/base/err.h"

#include "common/base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *remedy;
} codes[ERR_COUNT] = {
	[ERR_none] = { "none", "" },
#define ERR(code, remedy) [ERR_##code] = { #code, remedy },
#include "common/table/err.def"
};

int
err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	*e = (struct err){ .code = code };
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	utf8_tame(e->text);
	return -1;
}

/* Text that does not fit is cut off. */
static void
append(struct err *e, const char *text)
{
	size_t used = strlen(e->text), n = strnlen(text, sizeof e->text - 1 - used);

	memcpy(e->text + used, text, n);
	e->text[used + n] = 0;
}

/* strerror() has no text for some errors of kernels and file systems, such as 524 (ENOTSUPP). */
static void
append_sys(struct err *e, int sys)
{
	const char *words = strerrordesc_np(sys);
	char number[24];

	snprintf(number, sizeof number, "error %d", sys);
	append(e, words != NULL ? words : number);
}

int
err_sys(struct err *e, const char *fmt, ...)
{
	va_list ap;
	int sys = errno;

	*e = (struct err){ .code = ERR_internal, .sys = sys };
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	append(e, ": ");
	append_sys(e, sys);
	utf8_tame(e->text);
	return -1;
}

int
err_add(struct err *e, const char *fmt, ...)
{
	char old[sizeof e->text];
	va_list ap;

	memcpy(old, e->text, sizeof old);
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	append(e, ": ");
	append(e, old);
	utf8_tame(e->text);
	return -1;
}

const char *
err_name(enum err_code code)
{
	return codes[code].name;
}

const char *
err_remedy(enum err_code code)
{
	return codes[code].remedy;
}

enum err_code
err_parse(const char *name)
{
	/* Not "none": a failure always has a code. */
	for (int code = ERR_none + 1; code < ERR_COUNT; code++)
		if (strcmp(codes[code].name, name) == 0)
			return (enum err_code)code;
	return ERR_internal;
}

const char *
err_shortage(int sys)
{
	switch (sys) {
	case ENOSPC:
		return "; make room on its file system, where bytes or inodes are used up";
	case EDQUOT:
		return "; make room, or raise the disk quota of its user";
	case EMFILE:
		return "; raise this daemon's limit of open files (LimitNOFILE)";
	case ENFILE:
		return "; raise the system's limit of open files (fs.file-max)";
	default:
		return "";
	}
}

void
err_must(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: cannot happen: %s\n", file, line, condition);
	abort();
}
