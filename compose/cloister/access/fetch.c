/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c - one GET by libcurl, with every other feature off. */
#include "compose/cloister/access/fetch.h"

#include "common/base/auto.h"

#include <curl/curl.h>

#include <string.h>

static size_t
take(char *data, size_t one, size_t count, void *self)
{
	struct blob *to = self;
	size_t size = one * count;

	if (size > FETCH_MAX - to->size)
		return 0; /* ends the transfer with an error */
	memcpy((char *)to->data + to->size, data, size);
	to->size += size;
	return size;
}

static void
free_handle(CURL **curl)
{
	curl_easy_cleanup(*curl);
}

static int
failed(CURL *curl, CURLcode code, const char *url, const char *detail, struct err *e)
{
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_WRITE_ERROR)
		return err_set(
		    e, ERR_limit_exceeded, "%.100s: over the limit of %d bytes", url, FETCH_MAX);
	if (code != CURLE_OK)
		return err_set(e, ERR_unavailable, "%.100s: %s", url,
		    detail[0] != '\0' ? detail : curl_easy_strerror(code));
	return err_set(e, ERR_not_found, "%.100s: status %ld", url, status);
}

int
fetch(const char *url, const char *ca, struct blob *to, struct err *e)
{
	__attribute__((cleanup(free_handle))) CURL *curl = curl_easy_init();
	char detail[CURL_ERROR_SIZE] = "";
	long status = 0;

	*to = (struct blob){ calloc(1, FETCH_MAX + 1), 0 };
	if (curl == NULL || to->data == NULL)
		return err_sys(e, "fetch");
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)FETCH_SECONDS);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "cloister/" CLOISTER_VERSION);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, to);
	if (ca[0] != '\0')
		curl_easy_setopt(curl, CURLOPT_CAINFO, ca);

	CURLcode code = curl_easy_perform(curl);

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_OK && status == 200)
		return 0;
	blob_clear(to);
	return failed(curl, code, url, detail, e);
}
