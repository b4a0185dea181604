/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - bounds of orders, and names of layers and steps.  They are the same in the executor
 * and in the builder.
 *
 * Trusts nothing in an order, because the builder gets it from a process that communicates with
 * the outside.
 */
#include "executor/builder/order.h"

#include "common/base/auto.h"
#include "executor/builder/containers.h"

#include <signal.h>
#include <stddef.h>

enum {
	MIB = 1 << 20,
};

/* clang-format off */
enum need { WANT, MUST };
enum has { ALL, LOCAL, BOX };

static const struct {
	const char *name;
	enum need need;
	enum has has;
} layers[LAYER_COUNT] = {
#define LAYER(id, name, need, has) [LAYER_##id] = { name, need, has },
#include "executor/builder/layers.def"
};

static const char *const steps[STEP_COUNT] = {
#define STEP(id, what) [STEP_##id] = what,
#include "executor/builder/steps.def"
};
/* clang-format on */

static const struct {
	enum order_kind kind;
	size_t fds;
} kinds[] = {
	{ ORDER_WORKSPACE, 0 },
	{ ORDER_WIPE, 0 },
	{ ORDER_BOX, 0 },
	{ ORDER_PROGRAM, 3 },
	{ ORDER_FILE_HELPER, 1 },
	{ ORDER_CLOCK, 0 },
	{ ORDER_COUNT, 0 },
	{ ORDER_SIGNAL, 0 },
	{ ORDER_KILL, 0 },
	{ ORDER_LISTEN, 0 },
	{ ORDER_MOUNT, 0 },
	{ ORDER_TRUST, 1 },
	{ ORDER_CLEAR, 0 },
};

#define BOUND(kind, field, low, high) \
	{ \
		kind, #field, offsetof(struct order, field), low, high \
	}
static const struct bound {
	enum order_kind kind;
	const char *name;
	size_t offset;
	uint64_t low, high;
} bounds[] = {
	BOUND(ORDER_WORKSPACE, bytes, 4096, 4096ull * MIB),
	BOUND(ORDER_WORKSPACE, files, 2, 1 << 20),
	BOUND(ORDER_BOX, memory_bytes, MIB, 65536ull * MIB),
	BOUND(ORDER_BOX, tmp_bytes, 4096, 1024ull * MIB),
	BOUND(ORDER_BOX, cpu_milli, 0, 1000000),
	BOUND(ORDER_BOX, processes, 1, 4096),
	BOUND(ORDER_BOX, open_files, 8, 65536),
	BOUND(ORDER_CLOCK, wall_ms, 0, 1 << 24),
	BOUND(ORDER_CLOCK, cpu_ms, 0, 1 << 28),
	BOUND(ORDER_FILE_HELPER, memory_bytes, MIB, 65536ull * MIB),
};

static int
check_bound(const struct order *order, const struct bound *b, struct err *e)
{
	uint64_t value = *(const uint64_t *)((const char *)order + b->offset);

	if (value >= b->low && value <= b->high)
		return 0;
	return err_set(e, ERR_invalid_argument, "%s: %llu is not between %llu and %llu", b->name,
	    (unsigned long long)value, (unsigned long long)b->low, (unsigned long long)b->high);
}

static int
check_program(const struct order *order, struct err *e)
{
	if (order->runtime >= ORDER_MAX_RUNTIMES)
		return err_set(e, ERR_invalid_argument, "runtime: %u is none", order->runtime);
	if (order->zygote > ORDER_MAX_ZYGOTES)
		return err_set(e, ERR_invalid_argument, "zygote: %u is none", order->zygote);
	if (order->alone > 1)
		return err_set(e, ERR_invalid_argument, "alone: %u is neither", order->alone);
	return 0;
}

static int
check_box(const struct order *order, struct err *e)
{
	if (order->box < 1 || order->box > ORDER_MAX_LIVING)
		return err_set(e, ERR_invalid_argument, "box: %u is none", order->box);
	return order->kind == ORDER_PROGRAM ? check_program(order, e) : 0;
}

static int
check_ids(const struct order *order, struct err *e)
{
	bool works_in = order->kind == ORDER_BOX || order->kind == ORDER_FILE_HELPER ||
	                (order->kind == ORDER_MOUNT && order->place != ORDER_USER_BASE);

	if (order->kind == ORDER_CLEAR)
		return 0;
	if (order->id < 1 || order->id > ORDER_MAX_LIVING)
		return err_set(e, ERR_invalid_argument, "id: %u is none", order->id);
	if (works_in && (order->workspace < 1 || order->workspace > ORDER_MAX_LIVING))
		return err_set(e, ERR_invalid_argument, "workspace: %u is none", order->workspace);
	if (order->adopt > 1)
		return err_set(e, ERR_invalid_argument, "adopt: %u is neither", order->adopt);
	if (order->container >= CONTAINER_COUNT)
		return err_set(e, ERR_invalid_argument, "container: %u is none", order->container);
	if (order->environment >= ORDER_MAX_ENVIRONMENTS)
		return err_set(
		    e, ERR_invalid_argument, "environment: %u is none", order->environment);
	if (order->place >= ORDER_PLACES)
		return err_set(e, ERR_invalid_argument, "place: %u is none", order->place);
	if (order->kind == ORDER_PROGRAM || order->kind == ORDER_LISTEN ||
	    order->kind == ORDER_MOUNT || order->kind == ORDER_TRUST)
		return check_box(order, e);
	if (order->kind == ORDER_SIGNAL && order->signal != SIGINT && order->signal != SIGURG &&
	    order->signal != SIGKILL)
		return err_set(e, ERR_invalid_argument, "signal: %u is not sent", order->signal);
	return 0;
}

int
order_check(const struct order *order, size_t nfds, struct err *e)
{
	size_t k = 0;

	while (k < COUNT(kinds) && kinds[k].kind != order->kind)
		k++;
	if (k == COUNT(kinds))
		return err_set(e, ERR_invalid_argument, "kind: %u is none", order->kind);
	if (nfds != kinds[k].fds)
		return err_set(
		    e, ERR_invalid_argument, "%zu descriptors instead of %zu", nfds, kinds[k].fds);
	if (check_ids(order, e) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(bounds); i++)
		if (bounds[i].kind == order->kind && check_bound(order, &bounds[i], e) < 0)
			return -1;
	return 0;
}

const char *
layer_name(enum layer layer)
{
	return layers[layer].name;
}

bool
layer_needed(enum layer layer)
{
	return layers[layer].need == MUST;
}

bool
layer_possible(enum layer layer, uint32_t container)
{
	enum has least = container == CONTAINER_none    ? BOX
	                 : container == CONTAINER_runsc ? ALL
	                                                : LOCAL;

	return layers[layer].has <= least;
}

const char *
step_name(enum step step)
{
	return steps[step];
}
