/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - converts names of files between clients and the kernel; trusts neither. */
#include "executor/files/path.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <ctype.h>
#include <string.h>

/* The paths by which programs find the workspace; clients may use each of them. */
static const char *const roots[] = { "/workspace", "/mnt/data", "/sandbox/workspace" };

/* The length of the character that begins here, if it can be shown; 0: escape this byte. */
static size_t
plain(const unsigned char *at, size_t size)
{
	return *at == '%' ? 0 : utf8_shown(at, size);
}

/* The fast path: a program makes thousands of names and targets that need no escape. */
static char *
escape(char *to, unsigned char byte)
{
	static const char digits[] = "0123456789ABCDEF";

	*to++ = '%';
	*to++ = digits[byte >> 4];
	*to++ = digits[byte & 15];
	return to;
}

char *
path_encode(const void *bytes, size_t size)
{
	const unsigned char *at = bytes, *end = at + size;
	char *text = malloc(size * 3 + 1), *to = text;

	if (text == NULL)
		return NULL;
	while (at < end) {
		size_t length = plain(at, (size_t)(end - at));

		to = length > 0 ? mempcpy(to, at, length) : escape(to, *at);
		at += length > 0 ? length : 1;
	}
	*to = 0;
	return text;
}

static int
digit(char c)
{
	return !isxdigit((unsigned char)c) ? -1 : c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Decodes to real bytes.  Refuses zero bytes, and escaped slashes, because not all readers would
 * treat them as separators. */
static char *
unescape(const char *field, const char *text, struct err *e)
{
	auto_free char *real = malloc(strlen(text) + 1);
	char *to = real;

	if (real == NULL) {
		err_sys(e, "%s", field);
		return NULL;
	}
	for (; *text != 0; text++) {
		if (*text != '%') {
			*to++ = *text;
			continue;
		}
		int high = digit(text[1]), low = high < 0 ? -1 : digit(text[2]);
		int byte = high * 16 + low;

		if (low < 0 || byte == 0 || byte == '/') {
			err_set(e, ERR_path_not_allowed,
			    "%s: '%%' must be followed by two hexadecimal digits of a byte other "
			    "than "
			    "zero and '/'; write %%25 for '%%' itself",
			    field);
			return NULL;
		}
		*to++ = (char)byte;
		text += 2;
	}
	*to = 0;
	return take_ptr(real);
}

static int
check_part(const char *field, const char *part, size_t size, struct err *e)
{
	if (size == 0)
		return err_set(e, ERR_path_not_allowed,
		    "%s: is empty or has an empty component; remove leading, trailing and double "
		    "slashes",
		    field);
	if (size <= 2 && strncmp(part, "..", size) == 0)
		return err_set(e, ERR_path_not_allowed,
		    "%s: the components \".\" and \"..\" are not allowed; give the path relative "
		    "to /workspace",
		    field);
	if (size > FILES_MAX_NAME)
		return err_set(e, ERR_path_not_allowed,
		    "%s: a component has %zu bytes; at most %d are allowed", field, size,
		    FILES_MAX_NAME);
	return 0;
}

static int
check_parts(const char *field, const char *real, struct err *e)
{
	if (strlen(real) >= FILES_MAX_PATH)
		return err_set(e, ERR_path_not_allowed, "%s: %zu bytes; at most %d are allowed",
		    field, strlen(real), FILES_MAX_PATH - 1);
	if (*real == '/')
		return err_set(
		    e, ERR_path_not_allowed, "%s: is an absolute path outside /workspace", field);
	for (;;) {
		size_t size = strcspn(real, "/");

		if (check_part(field, real, size, e) < 0)
			return -1;
		if (real[size] == 0)
			return 0;
		real += size + 1;
	}
}

char *
path_decode(const char *field, const char *encoded, struct err *e)
{
	auto_free char *real = unescape(field, encoded, e);

	if (real == NULL || check_parts(field, real, e) < 0)
		return NULL;
	return take_ptr(real);
}

char *
path_decode_target(const char *field, const char *encoded, struct err *e)
{
	auto_free char *real = unescape(field, encoded, e);

	if (real == NULL)
		return NULL;
	if (*real == 0 || strlen(real) >= FILES_MAX_PATH) {
		err_set(e, ERR_path_not_allowed, "%s: %zu bytes; 1 to %d are allowed", field,
		    strlen(real), FILES_MAX_PATH - 1);
		return NULL;
	}
	return take_ptr(real);
}

/* Returns the part after the workspace's own name, or the whole path. */
static const char *
below_root(const char *path)
{
	for (size_t i = 0; i < COUNT(roots); i++) {
		size_t size = strlen(roots[i]);

		if (strncmp(path, roots[i], size) == 0 && (path[size] == '/' || path[size] == 0))
			return path + size + (path[size] == '/');
	}
	return path;
}

char *
path_check(const char *field, const char *path, struct err *e)
{
	for (const char *at = path; *at != 0; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f) {
			err_set(e, ERR_path_not_allowed,
			    "%s: byte %zu is a control character; write it as %%%02X to name an "
			    "existing file",
			    field, (size_t)(at - path), (unsigned)*at);
			return NULL;
		}

	auto_free char *real = path_decode(field, below_root(path), e);

	if (real == NULL)
		return NULL;

	char *encoded = path_encode(real, strlen(real));

	if (encoded == NULL)
		err_sys(e, "%s", field);
	return encoded;
}
