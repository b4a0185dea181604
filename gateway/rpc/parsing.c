/* SPDX-License-Identifier: Apache-2.0 */
/* parsing.c - a job for a thread, which has access to the message only; trusts it no more than
 * jsonrpc.c does. */
#include "gateway/rpc/parsing.h"

#include "common/base/err.h"
#include "common/base/work.h"

#include <stdlib.h>

struct parsing {
	struct work work;
	struct parsing_spec spec; /* done NULL: the caller has left */
	json_t *message, *answer;
};

static void
run(struct work *work)
{
	struct parsing *p = (struct parsing *)work;
	struct line line = { .data = p->spec.data,
		.size = p->spec.size,
		.limit = p->spec.limit,
		.scan = p->spec.scan };

	p->message = jsonrpc_parse(&line, &p->answer);
}

static void
on_done(struct work *work)
{
	struct parsing *p = (struct parsing *)work;

	free(p->spec.data);
	free(p->spec.scan);
	if (p->spec.done != NULL) {
		p->spec.done(p->spec.self, p->message, p->answer);
	} else {
		json_decref(p->message);
		json_decref(p->answer);
	}
	free(p);
}

struct parsing *
parsing_new(const struct parsing_spec *spec)
{
	struct parsing *p = malloc(sizeof *p);

	must(p != NULL);
	*p = (struct parsing){ .work = { .run = run, .done = on_done }, .spec = *spec };
	return p;
}

void
parsing_start(struct parsing *p)
{
	work_do(&p->work);
}

void
parsing_leave(struct parsing *p)
{
	p->spec.done = NULL;
}
