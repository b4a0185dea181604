/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_end.c - determines how a run ended: from the kernel's status by way of the builder, from
 * this process's own actions, and if neither knows, from the driver's claim.
 *
 * Trusts the builder.
 */
#include "executor/sandbox/program.h"

#include <signal.h>
#include <sys/wait.h>

/* The driver reports how a statement ended; this is a claim like all its frames. */
static void
tell_how_statement(const struct program *p, struct box_end *end)
{
	end->exit_code = p->frames.status;
	end->how = end->exit_code != 0 ? p->stopped : BOX_EXITED;
	if (end->how != BOX_EXITED)
		end->signal = SIGINT;
}

static void
tell_how(const struct program *p, struct box_end *end)
{
	int64_t ran_ms = (p->ended_us - p->began_us) / 1000;

	end->program_gone = true;
	if (p->finished) {
		end->exit_code = p->frames.status;
		return;
	}
	if (WIFEXITED(p->past.status)) {
		end->how = BOX_EXITED;
		end->exit_code = WEXITSTATUS(p->past.status);
		return;
	}
	end->signal = WTERMSIG(p->past.status);
	end->how = BOX_SIGNALLED;
	if (p->stopped != BOX_EXITED)
		end->how = p->stopped;
	else if (end->signal == SIGKILL && p->box->past.out_of_cpu)
		end->how = BOX_OUT_OF_CPU;
	else if (end->signal == SIGKILL && p->box->past.out_of_memory)
		end->how = BOX_OUT_OF_MEMORY;
	else if (end->signal == SIGKILL && ran_ms >= (int64_t)p->wall_ms)
		end->how = BOX_TIMED_OUT; /* the builder's clock */
}

static void
tell_use(const struct program *p, struct box_end *end)
{
	const struct answer *past = &p->box->past;

	end->too_many_processes = past->too_many_processes;
	end->locks = past->locks;
	end->max_memory_bytes = past->max_memory_bytes;
	end->cpu_ms = (double)past->cpu_us / 1000;
}

void
program_tell(const struct program *p, bool gone, struct box_end *end)
{
	if (gone)
		tell_how(p, end);
	else
		tell_how_statement(p, end);
	if (gone && !p->finished)
		end->lost = p->past.error;
	end->survived = p->survived || p->frames.left;
	tell_use(p, end);
}

/* The builder knows only that the program ended early; the reason is known here. */
struct err
program_why_not(const struct program *p)
{
	/* If the box was never made, the builder's answer about the box has the reason. */
	struct err e = p->box->past.error.code != ERR_none ? p->box->past.error : p->past.error;

	if (p->stopped == BOX_KILLED)
		err_set(&e, ERR_cancelled, "the program was not started");
	else if (p->stopped == BOX_TIMED_OUT)
		err_set(&e, ERR_unavailable, "no interpreter was ready within %d ms",
		    PROGRAM_MAKING_MS);
	else if (e.code == ERR_none && p->state == STARTING)
		err_set(&e, ERR_unavailable, "the interpreter ended before it was ready");
	return e;
}

bool
program_is_unexplained(const struct program *p)
{
	return p->past.error.code == ERR_none && !p->killed && WIFSIGNALED(p->past.status) &&
	       WTERMSIG(p->past.status) == SIGKILL;
}

/* What the driver claims comes from the program, too. */
void
program_redact(struct program *p, struct box_end *end)
{
	const struct redact *r = p->redact;

	p->redact = NULL;
	p->secrets = NULL;
	p->arguments = NULL;
	p->input = NULL;
	if (r == NULL)
		return;
	redact_blob(r, &end->result);
	redact_text(r, &end->error_type);
	redact_text(r, &end->error_text);
	for (size_t i = 0; i < end->variables.count; i++)
		redact_text(r, &end->variables.items[i]);
	for (size_t i = 0; i < end->nrich; i++) {
		redact_text(r, &end->rich[i].mime_type);
		redact_blob(r, &end->rich[i].data);
	}
}
