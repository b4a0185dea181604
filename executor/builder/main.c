/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloister-builder - makes boxes.  It is the only process of cloister that keeps power over the
 * host.
 *
 * It trusts the host it is started on.  It trusts the executor only to pass descriptors of its
 * own: an order is a fixed-size struct whose every number is checked, and workspaces and boxes are
 * named by small numbers.  The builder speaks no protocol, parses no text from other processes and
 * opens no socket.  It holds what others must not have: the capabilities to make namespaces and to
 * assign uids, and the mounts of all workspaces.
 *
 * It is pid 1 of a pid namespace above all boxes, so the kernel kills them if it ends in any way.
 */
#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "executor/builder/answer.h"
#include "executor/builder/arguments.h"
#include "executor/builder/confine/filter.h"
#include "executor/builder/limits/cgroup.h"
#include "executor/builder/media.h"
#include "executor/builder/nets.h"
#include "executor/builder/orders.h"
#include "executor/builder/process.h"
#include "executor/builder/processes.h"
#include "executor/builder/root.h"
#include "executor/builder/slot.h"
#include "executor/builder/trial.h"
#include "executor/builder/workspace_table.h"
#include "executor/builder/zygotes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void
on_order(void *self, uint32_t events)
{
	struct order order = { 0 };
	int fds[ORDER_MAX_FDS];
	size_t nfds = COUNT(fds);
	struct err e;
	ssize_t n = fdio_receive(ORDER_SOCKET, &order, sizeof order, fds, &nfds, MSG_DONTWAIT);

	(void)self, (void)events;
	if (n < 0 && errno == EMFILE) {
		err_set(&e, ERR_unavailable, "the builder has no free descriptor");
		answer_refuse(&order, &e);
		return;
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EMSGSIZE)) {
		loop_stop();
		return;
	}
	if (n < 0)
		return;
	if (n == (ssize_t)sizeof order && order_check(&order, nfds, &e) == 0) {
		orders_execute(&order, fds, nfds);
		return;
	}
	while (nfds > 0)
		close(fds[--nfds]);
	if (n == (ssize_t)sizeof order)
		answer_refuse(&order, &e);
}

/* A box takes about twenty descriptors.  The kernel refuses to pass a descriptor if more
 * descriptors of the sender's user are in flight than the sender may have open.  So this process
 * must have a higher limit than any program. */
static void
take_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* Takes the descriptors that the executor kept for this builder. */
static void
take_kept(struct host *host)
{
	bool kept = fcntl(ORDER_WORKSPACE_TABLE, F_SETFD, FD_CLOEXEC) == 0 &&
	            fcntl(ORDER_SLOT, F_SETFD, FD_CLOEXEC) == 0;

	host->workspace_table_fd = kept ? ORDER_WORKSPACE_TABLE : -1;
	host->slot_fd = kept ? ORDER_SLOT : -1;
}

/* fds: what this builder leaves to the next one; none if it inherited exactly that from the
 * previous one. */
static void
answer_ready(const struct answer *ready, const int *fds, size_t nfds)
{
	fdio_send(ORDER_SOCKET, ready, sizeof *ready, fds, nfds);
}

static int
settle(struct host *host, int *workspace_table, struct err *e)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM };
	static struct filter filter;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The builder ends with the executor, which decides the meaning of a signal to both of
	 * them. */
	for (size_t i = 0; i < COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
	umask(022);
	/* Kernel workers with niceness 0 free what a box held.  Boxes that ran with a higher
	 * priority could end faster than these workers can follow (limits/pace.h). */
	if (getpriority(PRIO_PROCESS, 0) < 0 && setpriority(PRIO_PROCESS, 0, 0) < 0)
		return err_sys(e, "give up a negative niceness");
	/* For the file helpers, which see no file of the host.  The builder itself does not
	 * query it. */
	media_open();
	if (slot_take(host, cgroup_open, e) < 0)
		return -1;
	host->limits_by = cgroup_limits_by();
	host->loopback = arguments_loopback();
	return host_enter(host, cgroup_close, e) < 0 || root_make(host, e) < 0 ||
	               (*workspace_table = workspace_table_open(host, e)) < 0 ||
	               host_note(host, e) < 0 || nets_open(host, e) < 0 ||
	               orders_open(host, e) < 0 || filter_make(&filter, FILTER_ALL, e) < 0 ||
	               loop_open(e) < 0 || host_drop(host, e) < 0 || filter_load(&filter, e) < 0
	           ? -1
	           : 0;
}

/* This process must reap what a zygote left, otherwise its box could not end. */
static void
end_all(void)
{
	struct process *p;

	process_kill_all();
	zygotes_kill();
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;)
		if (p->has_group)
			cgroup_end(&p->group);
}

int
main(int argc, char **argv)
{
	static struct host host;
	struct answer ready = { .kind = ANSWER_READY };
	struct stat st;
	struct err e;
	int workspace_table = -1;

	log_open("builder", LOG_info);
	if (fstat(ORDER_SOCKET, &st) < 0 || !S_ISSOCK(st.st_mode)) {
		log_error(
		    "cloister-builder must be started by cloister-executor", LOG_N("status", 2));
		return 2;
	}
	take_kept(&host);
	take_descriptors();
	int r = arguments_read(argc - 1, argv + 1, &ready.error);

	if (r == 0)
		r = settle(&host, &workspace_table, &ready.error);

	if (r == 0)
		r = trial_run(&host, &ready.layers, &ready.error);
	answer_ready(&ready, (int[]){ workspace_table, host.slot_fd },
	    r == 0 && host.workspace_table_fd < 0 ? 2 : 0);
	if (r == 0 &&
	    (loop_watch(ORDER_SOCKET, EPOLLIN, on_order, NULL, &e) < 0 || loop_run(&e) < 0))
		log_error("the builder exits", LOG_E(&e));
	end_all();
	_exit(r == 0 ? 0 : 1);
}
