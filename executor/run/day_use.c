/* SPDX-License-Identifier: Apache-2.0 */
/* day_use.c - a JSON object by principal, which is the file, too. */
#include "executor/run/day_use.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "common/base/work.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#define FILE_NAME "use.json"

enum {
	DAY_S = 86400,
	MOST_RETRY_S = 3600, /* as far as a failure can say; schema.def */
	WRITE_MS = 5000,
	FILE_BYTES = 4 << 20,
	PRINCIPALS = 10000,
};

static struct {
	json_t *by_principal; /* [processor milliseconds, bytes] */
	int64_t day;
	int state;
	uint64_t timer;
	bool writing;
} use = { .state = -1 };

/* ---- the file ---- */

struct writing {
	struct work work;
	char *text;
	struct err e;
	bool failed;
};

static void
store(struct work *work)
{
	struct writing *w = (struct writing *)work;

	w->failed = fdio_store(use.state, FILE_NAME, w->text, strlen(w->text), 0600, &w->e) < 0;
}

static void
stored(struct work *work)
{
	struct writing *w = (struct writing *)work;

	if (w->failed)
		log_warn("what principals used today was not written", LOG_E(&w->e));
	use.writing = false;
	free(w->text);
	free(w);
}

static char *
text_of_all(void)
{
	json_t *all = json_pack("{s:I, s:O}", "day", (json_int_t)use.day, "use", use.by_principal);
	char *text = all == NULL ? NULL : json_dumps(all, JSON_COMPACT);

	json_decref(all);
	must(text != NULL);
	return text;
}

static void
write_down(void *self)
{
	struct writing *w;

	(void)self;
	use.timer = 0;
	if (use.state < 0)
		return;
	if (use.writing) {
		use.timer = loop_after(WRITE_MS, write_down, NULL);
		return;
	}
	w = calloc(1, sizeof *w);
	must(w != NULL);
	*w = (struct writing){ .work = { .run = store, .done = stored }, .text = text_of_all() };
	use.writing = true;
	work_do(&w->work);
}

void
day_use_open(int state)
{
	struct blob file = { 0 };
	struct err e;
	json_t *all = NULL, *read = NULL;

	use.state = state;
	if (state >= 0 && fdio_load(state, FILE_NAME, FILE_BYTES, &file, &e) == 0)
		all = json_loadb(file.data, file.size, JSON_REJECT_DUPLICATES, NULL);
	blob_clear(&file);
	use.day = json_integer_value(json_object_get(all, "day"));
	read = json_object_get(all, "use");
	use.by_principal = json_is_object(read) ? json_incref(read) : json_object();
	must(use.by_principal != NULL);
	json_decref(all);
}

void
day_use_close(void)
{
	struct err e;

	if (use.timer != 0 && use.state >= 0) {
		auto_free char *text = text_of_all();

		if (fdio_store(use.state, FILE_NAME, text, strlen(text), 0600, &e) < 0)
			log_warn("what principals used today was not written", LOG_E(&e));
	}
	loop_unset(use.timer);
	use.timer = 0;
	json_decref(use.by_principal);
	use.by_principal = NULL;
}

/* ---- the numbers ---- */

static void
turn_day(void)
{
	int64_t day = timestamp_now().tv_sec / DAY_S;

	if (use.day == day)
		return;
	use.day = day;
	json_object_clear(use.by_principal);
}

static double
used(const struct owner *owner, size_t which)
{
	return json_number_value(
	    json_array_get(json_object_get(use.by_principal, owner->principal), which));
}

void
day_use_add(const struct owner *owner, double cpu_ms, uint64_t bytes)
{
	const struct rights *rights = rights_of(owner);

	if (rights == NULL || use.by_principal == NULL ||
	    (!rights->cpu_seconds_per_day.given && !rights->egress_bytes_per_day.given))
		return;
	turn_day();
	if (json_object_get(use.by_principal, owner->principal) == NULL &&
	    json_object_size(use.by_principal) >= PRINCIPALS) {
		log_warn("too many principals: what this one used today is not counted",
		    LOG_S("principal", owner->principal));
		return;
	}
	must(
	    json_object_set_new(use.by_principal, owner->principal,
		json_pack("[f, f]", used(owner, 0) + cpu_ms, used(owner, 1) + (double)bytes)) == 0);
	if (use.timer == 0)
		use.timer = loop_after(WRITE_MS, write_down, NULL);
}

static int
used_up(const struct rights *rights, const struct rights_number *most, const char *what, double now,
    struct err *e)
{
	int64_t left_s = DAY_S - timestamp_now().tv_sec % DAY_S;

	if (!most->given || now < (double)most->value)
		return 0;
	err_set(e, ERR_rate_limited,
	    "policy %s allows %" PRIu64
	    " %s a day, which are used up; the next day begins at 00:00 UTC",
	    rights->name, most->value, what);
	e->retry_ms = (int)(left_s < MOST_RETRY_S ? left_s : MOST_RETRY_S) * 1000;
	return -1;
}

int
day_use_check(const struct owner *owner, const struct rights *rights, struct err *e)
{
	if (rights == NULL || use.by_principal == NULL)
		return 0;
	turn_day();
	if (used_up(rights, &rights->cpu_seconds_per_day, "processor seconds",
		used(owner, 0) / 1000, e) < 0)
		return -1;
	return used_up(
	    rights, &rights->egress_bytes_per_day, "bytes through egress", used(owner, 1), e);
}
