/* SPDX-License-Identifier: Apache-2.0 */
/* uses.c - a small file that is read whole; what is wrong in it is dropped, as it only informs. */
#include "common/credential/uses.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <string.h>

json_t *
uses_read(int directory)
{
	struct blob file = { 0 };
	struct err e;
	json_t *uses = NULL;

	if (fdio_load(directory, USES_FILE, USES_FILE_MAX, &file, &e) == 0)
		uses = json_loadb(file.data, file.size, JSON_REJECT_DUPLICATES, NULL);
	blob_clear(&file);
	if (!json_is_object(uses)) {
		json_decref(uses);
		uses = json_object();
	}
	must(uses != NULL);
	return uses;
}

int64_t
uses_of(const json_t *uses, const struct identity *who)
{
	return json_integer_value(json_object_get(uses, who->credential));
}

void
uses_add(json_t *uses, const char *credential, int64_t seconds)
{
	if (seconds > json_integer_value(json_object_get(uses, credential)))
		must(json_object_set_new(uses, credential, json_integer(seconds)) == 0);
}

int
uses_write(int directory, json_t *uses, bool (*keeps)(const char *credential), struct err *e)
{
	const char *credential;
	json_t *value;
	void *next;

	json_object_foreach_safe(uses, next, credential, value)
	{
		if (!keeps(credential))
			json_object_del(uses, credential);
	}

	auto_free char *text = json_dumps(uses, JSON_COMPACT | JSON_SORT_KEYS);

	if (text == NULL)
		return err_sys(e, USES_FILE);
	return fdio_store(directory, USES_FILE, text, strlen(text), 0600, e);
}
