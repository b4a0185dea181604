/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rlimits.c - limits of a process that need no cgroup.  Without a cgroup also its priority and
 * processors.
 *
 * Trusts the order, which order.c has checked.
 */
#include "executor/builder/confine/rlimits.h"

#include "common/base/auto.h"
#include "executor/builder/limits/cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

enum {
	MIB = 1 << 20,
	BEHIND = 10, /* niceness */
};

struct address_room {
	uint64_t space, data; /* RLIMIT_AS and RLIMIT_DATA */
};

/*
 * With a cgroup no such limit is needed.  Without one the builder samples the memory that is
 * really used (census.c).  So libraries may reserve far more than they use, and these limits bound
 * what sampling cannot count.  If the builder cannot sample either, they are the only limits.
 */
static struct address_room
room_of(const struct host *host, const struct order *order, bool file_helper)
{
	uint64_t memory = order->memory_bytes, gib = 1ull << 30;

	if (file_helper) {
#ifdef SANITIZED /* it reserves terabytes of addresses, and a file helper is this very program */
		return (struct address_room){ RLIM_INFINITY, RLIM_INFINITY };
#endif
		return (struct address_room){ memory, memory };
	}
	if (host->limits_by != LIMITS_RLIMIT)
		return (struct address_room){ RLIM_INFINITY, RLIM_INFINITY };
	if (host->own_proc)
		return (struct address_room){ 16 * gib + memory, gib + 4 * memory };
	return (struct address_room){ gib + memory, memory };
}

/*
 * Chooses the processors of a program among those that the builder may use: as many whole ones as
 * its limit allows, if it has one.  If these are more than one, the builder's last processor is
 * left free.  The first one is where the kernel placed the process, because that has the least
 * load.
 */
static void
choose_processors(const struct order *order, const cpu_set_t *all, cpu_set_t *some)
{
	uint64_t milli = order->cpu_milli, n = 0;
	uint64_t wanted = milli == 0 ? CPU_SETSIZE : (milli + 999) / 1000;
	int last = CPU_SETSIZE - 1, here = sched_getcpu();

	while (last > 0 && !CPU_ISSET(last, all))
		last--;
	CPU_ZERO(some);
	for (int i = 0; i < CPU_SETSIZE && n < wanted; i++) {
		int at = (i + (here < 0 ? 0 : here)) % CPU_SETSIZE;

		if (!CPU_ISSET(at, all) || (at == last && wanted > 1 && CPU_COUNT(all) > 1))
			continue;
		CPU_SET(at, some);
		n++;
	}
}

/*
 * Used if no cgroup divides the processors: the processes that end programs have a higher priority
 * and a processor of their own.  Niceness alone is not enough on kernels that weigh sessions
 * (autogroup, sched(7)).  The kernel recalculates the weight of a session that is on several
 * processors whenever one of its threads sleeps or wakes, and Linux 6.18 rounds the result in the
 * session's favor: twenty threads that waited for one lock blocked all other processes for a
 * minute (escape R-05).  On one processor the weight is constant.
 */
static int
go_behind(const struct order *order, struct err *e)
{
	cpu_set_t all, some;

	if (setpriority(PRIO_PROCESS, 0, BEHIND) < 0)
		return err_sys(e, "setpriority");
	if (sched_getaffinity(0, sizeof all, &all) < 0)
		return 0; /* the kernel's set is larger: so many processors that one is free */
	choose_processors(order, &all, &some);
	if (sched_setaffinity(0, sizeof some, &some) < 0)
		return err_sys(e, "sched_setaffinity");
	return 0;
}

/* True if no cgroup gives it the share of the processors that it may have. */
static bool
has_no_share(const struct host *host, const struct order *order, const struct cgroup *group)
{
	if (host->limits_by == LIMITS_RLIMIT || group == NULL)
		return true;
	return order->cpu_milli != 0 && (group->in_force & 1ull << LAYER_cpu_limit) == 0;
}

int
rlimits_share(
    const struct host *host, const struct order *order, const struct cgroup *group, struct err *e)
{
	return has_no_share(host, order, group) ? go_behind(order, e) : 0;
}

struct bound {
	int which;
	uint64_t soft, hard;
	const char *exact; /* its name, if a stricter limit is not acceptable */
};

static int
set_bound(const struct bound *bound, struct err *e)
{
	struct rlimit limit = { bound->soft, bound->hard }, own;

	if (bound->exact == NULL && prlimit(0, bound->which, NULL, &own) == 0) {
		limit.rlim_max = limit.rlim_max < own.rlim_max ? limit.rlim_max : own.rlim_max;
		limit.rlim_cur = limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
	}
	if (prlimit(0, bound->which, &limit, NULL) == 0)
		return 0;
	if (bound->exact == NULL)
		return err_sys(e, "rlimit %d", bound->which);
	return err_set(e, ERR_isolation_unavailable,
	    "%s cannot be set to %" PRIu64
	    ": %s; start this daemon with a hard limit at least as high",
	    bound->exact, bound->hard, strerrordesc_np(errno));
}

int
rlimits_enter(const struct host *host, const struct order *o, bool file_helper, struct err *e)
{
	bool alone = host->limits_by == LIMITS_RLIMIT;
	struct address_room room = room_of(host, o, file_helper);
	/* No order requests more files than this process may have (options.c).  The cgroup
	 * counts processes exactly; a uid may have a running file helper beside its box. */
	uint64_t files = file_helper ? 256 : o->open_files;
	uint64_t processes = file_helper ? 1 : o->processes + (alone ? 1 : 8);
	const struct bound bounds[] = {
		{ RLIMIT_AS, room.space, room.space, NULL },
		/* 1 and not 0: with 0 the kernel still starts the host's core_pattern program. */
		{ RLIMIT_CORE, 1, 1, "RLIMIT_CORE" },
		/* The run time of a program is known only when it runs, so the clocks are
		 * outside. */
		{ RLIMIT_CPU, RLIM_INFINITY, RLIM_INFINITY, NULL },
		{ RLIMIT_DATA, room.data, room.data, NULL },
		{ RLIMIT_FSIZE, 65536ull * MIB, 65536ull * MIB, NULL },
		{ RLIMIT_LOCKS, RLIM_INFINITY, RLIM_INFINITY, NULL },
		{ RLIMIT_MEMLOCK, MIB, MIB, NULL },
		{ RLIMIT_MSGQUEUE, 0, 0, NULL },
		{ RLIMIT_NICE, 0, 0, NULL },
		{ RLIMIT_NOFILE, files, files, NULL },
		{ RLIMIT_NPROC, processes, processes, "RLIMIT_NPROC" },
		{ RLIMIT_RTPRIO, 0, 0, NULL },
		{ RLIMIT_RTTIME, 0, 0, NULL },
		{ RLIMIT_SIGPENDING, 1024, 1024, NULL },
		{ RLIMIT_STACK, 8 * MIB, 64 * MIB, NULL },
	};

	for (size_t i = 0; i < COUNT(bounds); i++)
		if (set_bound(&bounds[i], e) < 0)
			return -1;
	return 0;
}
