/* SPDX-License-Identifier: Apache-2.0 */
/*
 * media.c - libmagic without its expensive and deep parsers: nothing is decompressed, no ELF, tar,
 * CDF or JSON is parsed, and each loop that the bytes control is bounded.
 *
 * Trusts the database, which is the distribution's.  The bytes are hostile.
 */
#include "executor/builder/media.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/utf8.h"

#include <magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The compiled form, by name: a text file beside it would be parsed, and a file in a home
 * directory could be anybody's. */
static const char database[] = "/usr/share/misc/magic.mgc";

static magic_t cookie;

static const struct {
	int parameter;
	size_t most;
} limits[] = {
	{ MAGIC_PARAM_INDIR_MAX, 8 },
	{ MAGIC_PARAM_NAME_MAX, 32 },
	{ MAGIC_PARAM_REGEX_MAX, 1024 },
	{ MAGIC_PARAM_BYTES_MAX, MEDIA_BYTES },
#ifdef MAGIC_PARAM_ENCODING_MAX
	{ MAGIC_PARAM_ENCODING_MAX, MEDIA_BYTES },
#endif
};

void
media_open(void)
{
	cookie = magic_open(MAGIC_MIME_TYPE | MAGIC_RAW | MAGIC_NO_CHECK_COMPRESS |
			    MAGIC_NO_CHECK_ELF | MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_CDF |
			    MAGIC_NO_CHECK_TOKENS | MAGIC_NO_CHECK_APPTYPE | MAGIC_NO_CHECK_JSON);
	if (cookie == NULL) {
		log_warn("media types are derived from names", LOG_S("why", "no memory"));
		return;
	}
	for (size_t i = 0; i < COUNT(limits); i++)
		magic_setparam(cookie, limits[i].parameter, &limits[i].most);
	if (magic_load(cookie, database) == 0)
		return;
	log_warn("media types are derived from names", LOG_S("why", magic_error(cookie)));
	magic_close(cookie);
	cookie = NULL;
}

/*
 * True for text without a mark that a viewer or an interpreter would act on.  Most files that
 * programs leave are such text.  libmagic has to read eight megabytes of rules to find that out,
 * which takes a fresh process three milliseconds.  (Rules read ahead by the builder would be
 * copied for each box.)
 */
static bool
is_plain(const uint8_t *data, size_t size)
{
	size_t whole = size < MEDIA_BYTES ? size : utf8_whole(data, size);

	if (size == 0 || strchr("%#@\\", data[0]) != NULL ||
	    (size > 1 && memcmp(data, "{\\", 2) == 0) || !utf8_valid(data, whole))
		return false;
	for (size_t i = 0; i < whole; i++)
		if (data[i] == '<' || data[i] == 0x7f ||
		    (data[i] < ' ' && strchr("\t\n\r", data[i]) == NULL) || data[i] == 0)
			return false;
	return true;
}

const char *
media_type(const void *data, size_t size)
{
	if (is_plain(data, size))
		return "text/plain";

	const char *type = cookie == NULL ? NULL : magic_buffer(cookie, data, size);

	return type == NULL || strlen(type) >= MEDIA_TYPE ? "" : type;
}
