/* SPDX-License-Identifier: Apache-2.0 */
/* file_helper.c - the builder request for a file helper; trusts nothing that comes through its
 * channel.
 */
#include "executor/sandbox/file_helper.h"
#include "executor/sandbox/builder_link.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
	MEMORY = 1 << 30, /* RLIMIT_AS */
};

struct file_helper {
	void (*ended)(void *self, const struct err *);
	void *self;
};

static void
on_ended(void *self, const struct answer *answer)
{
	auto_free struct file_helper *file_helper = self;
	struct err e = answer->error;

	if (e.code == ERR_none && WIFSIGNALED(answer->status))
		err_set(&e, ERR_internal, "a file helper was killed by signal %d (%s)",
		    WTERMSIG(answer->status), sigdescr_np(WTERMSIG(answer->status)));
	else if (e.code == ERR_none && WEXITSTATUS(answer->status) != 0)
		err_set(&e, ERR_internal, "a file helper exited with status %d",
		    WEXITSTATUS(answer->status));
	file_helper->ended(file_helper->self, e.code == ERR_none ? NULL : &e);
}

struct builder_request *
file_helper_start(struct workspace *workspace, int *channel,
    void (*ended)(void *self, const struct err *e), void *self, struct err *e)
{
	static const struct builder_request_events events = { .ended = on_ended };
	struct order order = {
		.kind = ORDER_FILE_HELPER,
		.workspace = workspace_id(workspace),
		.memory_bytes = MEMORY,
	};
	int pair[2];
	auto_free struct file_helper *file_helper = malloc(sizeof *file_helper);

	if (file_helper == NULL ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		err_sys(e, "make a file helper's channel");
		return NULL;
	}
	auto_fd int near = pair[0];
	auto_fd int far = pair[1];

	*file_helper = (struct file_helper){ ended, self };
	if (fcntl(near, F_SETFL, O_NONBLOCK) < 0) {
		err_sys(e, "fcntl");
		return NULL;
	}
	struct builder_request *builder_request =
	    builder_request_start(&order, &far, 1, &events, file_helper, e);

	if (builder_request == NULL)
		return NULL;
	file_helper = NULL;
	*channel = take_fd(&near);
	return builder_request;
}
