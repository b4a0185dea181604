/* SPDX-License-Identifier: Apache-2.0 */
/* url.c - the minimal part of RFC 3986 that identifies a URL. */
#include "common/credential/url.h"

#include "common/base/auto.h"

#include <stdbool.h>
#include <string.h>

/* Plain http is only permitted within one machine. */
static bool
is_loopback(const char *rest)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; i < COUNT(hosts); i++) {
		size_t size = strlen(hosts[i]);

		if (strncmp(rest, hosts[i], size) == 0 &&
		    (rest[size] == '\0' || strchr(":/", rest[size]) != NULL))
			return true;
	}
	return false;
}

static const char secure[] = "https://", plain[] = "http://";

/* The text after the scheme; NULL: another scheme. */
static const char *
host_of(const char *url)
{
	if (strncmp(url, secure, sizeof secure - 1) == 0)
		return url + sizeof secure - 1;
	if (strncmp(url, plain, sizeof plain - 1) == 0 && is_loopback(url + sizeof plain - 1))
		return url + sizeof plain - 1;
	return NULL;
}

int
url_check(const char *name, const char *url, struct err *e)
{
	const char *host = host_of(url);

	if (host != NULL && *host != '\0' && *host != '/' && strpbrk(host, "@\\\"<> ") == NULL)
		return 0;
	return err_set(e, ERR_invalid_argument,
	    "%s: '%.80s' is not an https:// URL (http:// for loopback only) without a user", name,
	    url);
}

const char *
url_path(const char *name, const char *url, struct err *e)
{
	if (url_check(name, url, e) < 0)
		return NULL;
	if (strpbrk(url, "?#") != NULL) {
		err_set(
		    e, ERR_invalid_argument, "%s: '%.80s' has a query or a fragment", name, url);
		return NULL;
	}
	return host_of(url) + strcspn(host_of(url), "/");
}
