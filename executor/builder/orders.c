/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders.c - one function for each kind of order.
 *
 * Trusts order_check(), which every order has passed.
 */
#include "executor/builder/orders.h"

#include "common/table/schema.h"
#include "executor/builder/answer.h"
#include "executor/builder/arguments.h"
#include "executor/builder/box_trust.h"
#include "executor/builder/files/file_helper_process.h"
#include "executor/builder/limits/guard.h"
#include "executor/builder/listen.h"
#include "executor/builder/oci/launcher.h"
#include "executor/builder/processes.h"
#include "executor/builder/runtimes.h"
#include "executor/builder/workspace_table.h"
#include "executor/builder/zygotes.h"

#include <unistd.h>

static const struct host *host;

int
orders_open(const struct host *h, struct err *e)
{
	pid_t pid = -1;
	int sock;

	host = h;
	box_open(h);
	if (file_helper_process_open(h, e) < 0 || program_open(h, &zygotes_forker, e) < 0)
		return -1;
	zygotes_open(h, &program_filters()[language_python]);
	if (launcher_open(h, program_filters(), &pid, &sock, e) < 0)
		return -1;
	zygotes_set_launcher(pid, sock);
	return 0;
}

static int
add_workspace(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct answer answer = { .kind = ANSWER_WORKSPACE, .id = order->id };
	/* The root directory counts as a file too. */
	uint64_t files = order->files + 1;
	uid_t owner = host_uid(host, order->id);
	int fd = order->adopt != 0
	             ? workspace_table_adopt(order->id, order->bytes, files, owner, &answer.error)
	             : workspace_table_add(order->id, order->bytes, files, owner, &answer.error);

	(void)fds, (void)nfds, (void)e;
	if (!answer_send(&answer, &fd, fd >= 0 ? 1 : 0))
		workspace_table_wipe(order->id);
	return 0;
}

static int
wipe(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	(void)fds, (void)nfds, (void)e;
	workspace_table_wipe(order->id);
	return 0;
}

static int
clear(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	(void)order, (void)fds, (void)nfds, (void)e;
	workspace_table_clear();
	return 0;
}

static int
begin_box(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	(void)fds, (void)nfds;
	return box_order(order, e);
}

static int
begin_file_helper(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	return file_helper_process_order(order, fds, nfds, e);
}

static int
begin_program(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	if (!runtimes_have(order->runtime) || !zygotes_have(order->zygote))
		return err_set(e, ERR_invalid_argument, "runtime or zygote: there is no such");
	return program_order(order, fds, nfds, e);
}

static int
set_clock(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct box *box = box_of(processes_find(order->id));

	(void)fds, (void)nfds, (void)e;
	/* A dead box waits only for the last answers of its programs. */
	if (box == NULL || box->process.dead)
		return 0;
	box_set_clock(box, order->wall_ms);
	if (order->wall_ms != 0)
		guard_begin(host, box, order->cpu_ms);
	return 0;
}

static int
count(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct box *box = box_of(processes_find(order->id));

	(void)fds, (void)nfds, (void)e;
	if (box != NULL && !box->process.dead)
		box_tell_count(box);
	return 0;
}

static int
send_signal(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct process *p = processes_find(order->id);

	(void)fds, (void)nfds, (void)e;
	if (p != NULL && p->kind == &program_kind)
		program_signal(program_of(p), (int)order->signal);
	return 0;
}

static int
kill_process(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct process *p = processes_find(order->id);

	(void)fds, (void)nfds, (void)e;
	if (p != NULL)
		process_kill_asked(p);
	return 0;
}

static int
listen_in_box(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct box *box = box_of(processes_find(order->box));

	(void)fds, (void)nfds;
	if (box == NULL || box->process.dead)
		return err_set(e, ERR_unavailable, "box: %u is gone", order->box);
	return listen_for(box->net, &box->far, order, e);
}

static int
mount_in_box(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct box *box = box_of(processes_find(order->box));

	(void)fds, (void)nfds;
	if (box == NULL || box->process.dead)
		return err_set(e, ERR_unavailable, "box: %u is gone", order->box);
	if (box->process.order.container != 0)
		return err_set(e, ERR_isolation_unavailable, "a container gets no packages");
	if (order->place == ORDER_USR_LOCAL && arguments_show("/usr/local"))
		return err_set(e, ERR_isolation_unavailable,
		    "programs see /usr/local of the host, so no packages can be there");
	return mounts_add(&box->mounts, order, NULL, e);
}

static int
trust_in_box(const struct order *order, int *fds, size_t nfds, struct err *e)
{
	struct box *box = box_of(processes_find(order->box));
	char *certificate;

	(void)nfds;
	if (box == NULL || box->process.dead)
		return err_set(e, ERR_unavailable, "box: %u is gone", order->box);
	if (box->process.order.container != 0)
		return err_set(e, ERR_isolation_unavailable, "a container gets no certificate");
	certificate = box_trust_read(fds[0], e);
	return certificate == NULL ? -1 : mounts_add(&box->mounts, order, certificate, e);
}

static int (*const handlers[])(const struct order *, int *fds, size_t nfds, struct err *) = {
	[ORDER_WORKSPACE] = add_workspace,
	[ORDER_WIPE] = wipe,
	[ORDER_BOX] = begin_box,
	[ORDER_PROGRAM] = begin_program,
	[ORDER_FILE_HELPER] = begin_file_helper,
	[ORDER_CLOCK] = set_clock,
	[ORDER_COUNT] = count,
	[ORDER_SIGNAL] = send_signal,
	[ORDER_KILL] = kill_process,
	[ORDER_LISTEN] = listen_in_box,
	[ORDER_MOUNT] = mount_in_box,
	[ORDER_TRUST] = trust_in_box,
	[ORDER_CLEAR] = clear,
};

void
orders_execute(const struct order *order, int *fds, size_t nfds)
{
	struct err e = { 0 };

	if (handlers[order->kind](order, fds, nfds, &e) < 0)
		answer_refuse(order, &e);
	for (size_t i = 0; i < nfds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
