/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_order.c - an order as an executor that was taken over may write it.
 *
 * Input: how many descriptors came with it (1 byte), and the struct.  Of an order that is taken
 * every number that names something is one that can be there, and every limit is one.
 */
#include "executor/builder/order.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "executor/builder/containers.h"

#include <signal.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_id(uint32_t id)
{
	return id >= 1 && id <= ORDER_MAX_LIVING;
}

static void
check_limits(const struct order *o)
{
	if (o->kind == ORDER_WORKSPACE)
		must(o->bytes >= 4096 && o->bytes <= 1ull << 32 && o->files >= 2 &&
		     o->files <= 1 << 20);
	if (o->kind == ORDER_BOX || o->kind == ORDER_FILE_HELPER)
		must(o->memory_bytes >= 1 << 20 && o->memory_bytes <= 1ull << 36);
	if (o->kind == ORDER_BOX) {
		must(o->tmp_bytes >= 4096 && o->tmp_bytes <= 1ull << 30);
		must(o->processes >= 1 && o->processes <= 4096);
		must(o->open_files >= 8 && o->open_files <= 65536 && o->cpu_milli <= 1000000);
	}
	if (o->kind == ORDER_CLOCK)
		must(o->wall_ms <= 1 << 24 && o->cpu_ms <= 1 << 28);
}

static void
check_taken(const struct order *o, size_t nfds)
{
	must(o->kind >= ORDER_WORKSPACE && o->kind <= ORDER_CLEAR);
	bool one = o->kind == ORDER_FILE_HELPER || o->kind == ORDER_TRUST;

	must(nfds == (o->kind == ORDER_PROGRAM ? 3 : one ? 1 : 0));
	if (o->kind == ORDER_CLEAR)
		return;
	must(is_id(o->id) && o->container < CONTAINER_COUNT && o->adopt <= 1);
	if (o->kind == ORDER_BOX || o->kind == ORDER_FILE_HELPER)
		must(is_id(o->workspace));
	if (o->kind == ORDER_PROGRAM)
		must(is_id(o->box) && o->runtime < ORDER_MAX_RUNTIMES &&
		     o->zygote <= ORDER_MAX_ZYGOTES && o->alone <= 1);
	if (o->kind == ORDER_LISTEN || o->kind == ORDER_MOUNT || o->kind == ORDER_TRUST)
		must(is_id(o->box));
	if (o->kind == ORDER_SIGNAL)
		must(o->signal == SIGINT || o->signal == SIGURG || o->signal == SIGKILL);
	check_limits(o);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct order order = { 0 };
	struct err e = { 0 };

	if (size < 1 || size - 1 > sizeof order)
		return -1;
	memcpy(&order, data + 1, size - 1);
	if (order_check(&order, data[0], &e) == 0)
		check_taken(&order, data[0]);
	else
		must(e.code == ERR_invalid_argument && utf8_valid(e.text, strlen(e.text)));
	return 0;
}
