/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - the table of the executor's metrics, and its labels. */
#include "executor/metrics.h"

/* ---- labels ---- */

static const char *
language_text(unsigned value)
{
	return word_text(SET_language, (int)value);
}

static const char *
channel_text(unsigned value)
{
	return word_text(SET_channel, (int)value);
}

/* By the events of the end of an execution. */
static const char *
outcome_text(unsigned value)
{
	static const char *const texts[] = {
		[event_execution_completed] = "completed",
		[event_execution_failed] = "failed",
		[event_execution_timeout] = "timeout",
		[event_execution_cancelled] = "cancelled",
	};

	return texts[value];
}

static const char *
start_text(unsigned value)
{
	static const char *const texts[METRICS_START_COUNT] = { "made", "pool", "session" };

	return texts[value];
}

static const char *
step_text(unsigned value)
{
	static const char *const texts[STEP_COUNT] = {
#define STEP(id, what) #id,
#include "executor/builder/steps.def"
	};

	return texts[value];
}

static const char *
pool_text(unsigned value)
{
	return value == 0 ? "waiting" : "making";
}

static const char *
take_text(unsigned value)
{
	return value == 0 ? "hit" : "miss";
}

static const struct metric_label by_language = { "language", language_COUNT, language_text },
				 by_channel = { "channel", channel_COUNT, channel_text },
				 by_outcome = { "outcome", event_execution_cancelled + 1,
					 outcome_text },
				 by_start = { "start", METRICS_START_COUNT, start_text },
				 by_step = { "step", STEP_COUNT, step_text },
				 by_pool = { "state", 2, pool_text },
				 by_pool_take = { "result", 2, take_text };

/* clang-format off */
struct metric metrics_rows[METRICS_COUNT] = {
#define METRIC(id, kind, by, doc) { #id, doc, METRIC_##kind, by, NULL },
#include "executor/metrics.def"
};
/* clang-format on */

/* ---- observations ---- */

void
metrics_note_answer(const struct answer *answer)
{
	if (answer->kind == ANSWER_ENDED && answer->error.code != ERR_none)
		metric_add(&metrics_rows[METRICS_box_failures], METRIC_AT(answer->step), 1);
	for (unsigned s = 0; answer->kind == ANSWER_STARTED && s < STEP_COUNT; s++)
		metric_time(
		    &metrics_rows[METRICS_box_step_seconds], METRIC_AT(s), answer->step_us[s]);
}

void
metrics_note_run(const struct execution *reply, const unsigned at[METRIC_LABELS], int64_t us)
{
	struct metric *bytes = &metrics_rows[METRICS_run_output_bytes];

	metric_time(&metrics_rows[METRICS_run_seconds], at, us);
	metric_add(bytes, METRIC_AT(channel_stdout), reply->stdout.size);
	metric_add(bytes, METRIC_AT(channel_stderr), reply->stderr.size);
	metric_add(&metrics_rows[METRICS_run_artifacts], METRIC_AT(0), reply->artifacts.count);
}
