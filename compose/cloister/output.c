/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - Output is printed as it arrives in progress notifications.  These may omit some of it:
 * from the first gap on, the output is printed from the result, so that nothing is lost or printed
 * twice.
 */
#include "compose/cloister/output.h"

#include "common/base/auto.h"
#include "common/base/err.h"

#include <string.h>

struct output
output_begin(void)
{
	return (struct output){ { { .name = "stdout", .to = stdout },
	    { .name = "stderr", .to = stderr } } };
}

static void
print(FILE *to, const char *text, size_t size)
{
	fwrite(text, 1, size, to);
	fflush(to);
}

static void
remember(struct output_stream *stream, const char *text, size_t size)
{
	stream->shown = realloc(stream->shown, stream->size + size + 1);
	must(stream->shown != NULL);
	memcpy(stream->shown + stream->size, text, size);
	stream->size += size;
}

/* Bytes before the mark that the executor writes where a program printed too fast.  A program that
 * prints such a mark delays its own output. */
static size_t
before_gap(const char *text, size_t size)
{
	const char *mark = memmem(text, size, "\n[... ", strlen("\n[... "));

	return mark != NULL && memmem(mark, size - (size_t)(mark - text), "too fast", 8) != NULL
	           ? (size_t)(mark - text)
	           : size;
}

/* Prints output as it arrives, up to the first gap. */
void
output_progress(void *state, const char *channel, bool gap, const json_t *text)
{
	struct output *output = state;
	const char *bytes = json_string_value(text);
	size_t whole = json_string_length(text), size = before_gap(bytes, whole);

	for (size_t i = 0; i < COUNT(output->streams); i++) {
		struct output_stream *stream = &output->streams[i];

		if (strcmp(stream->name, channel) != 0)
			continue;
		stream->held |= gap;
		if (stream->held)
			return;
		stream->held = size < whole;
		print(stream->to, bytes, size);
		remember(stream, bytes, size);
	}
}

/* ---- the result ---- */

void
output_problem(const json_t *error)
{
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *hint = json_string_value(json_object_get(error, "hint"));

	/* The program's own description of its failure is in its stderr. */
	if (code == NULL || strcmp(code, "program_failed") == 0)
		return;
	fprintf(stderr, "cloister: %s: %s\n", code,
	    json_string_value(json_object_get(error, "message")) ?: "");
	if (hint != NULL)
		fprintf(stderr, "cloister: %s\n", hint);
}

/* Prints the part that was not shown yet.  The whole lacks its middle if there was too much. */
static void
print_rest(const struct output_stream *stream, const char *whole, size_t size)
{
	size_t same = 0;

	while (same < size && same < stream->size && whole[same] == stream->shown[same])
		same++;
	print(stream->to, whole + same, size - same);
}

void
output_rest(const struct output *output, const json_t *run)
{
	for (size_t i = 0; i < COUNT(output->streams); i++) {
		const json_t *whole = json_object_get(run, output->streams[i].name);

		if (whole != NULL)
			print_rest(&output->streams[i], json_string_value(whole),
			    json_string_length(whole));
	}
}

void
output_end(struct output *output)
{
	for (size_t i = 0; i < COUNT(output->streams); i++)
		free(output->streams[i].shown);
	*output = (struct output){ 0 };
}
