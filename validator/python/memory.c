/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - counts CPython's allocations.
 *
 * RLIMIT_AS alone does not suffice: it limits the whole process, which must still report that the
 * code was too much.  A program of 1 MiB can need 1 GB as a syntax tree.  Small objects come from
 * arenas and everything else from the raw domain, so these two counts cover everything.
 */
#include "validator/python/memory.h"

#include <Python.h>

#include <malloc.h>
#include <stdatomic.h>

static _Atomic uint64_t used; /* the raw domain is also used without the GIL */
static uint64_t bound;
static PyMemAllocatorEx raw;
static PyObjectArenaAllocator arenas;

static int
reserve(size_t size)
{
	if (atomic_fetch_add(&used, size) + size <= bound)
		return 0;
	atomic_fetch_sub(&used, size);
	return -1;
}

/* Counts the real size of the block, because free() sees only that size. */
static void *
settle(void *block, size_t reserved)
{
	atomic_fetch_sub(&used, reserved);
	atomic_fetch_add(&used, malloc_usable_size(block));
	return block;
}

static void *
raw_malloc(void *self, size_t size)
{
	(void)self;
	return reserve(size) == 0 ? settle(raw.malloc(raw.ctx, size), size) : NULL;
}

static void *
raw_calloc(void *self, size_t count, size_t size)
{
	(void)self;
	if (size > 0 && count > SIZE_MAX / size)
		return NULL;
	return reserve(count * size) == 0 ? settle(raw.calloc(raw.ctx, count, size), count * size)
	                                  : NULL;
}

static void *
raw_realloc(void *self, void *old, size_t size)
{
	size_t before = malloc_usable_size(old);

	(void)self;
	if (reserve(size) != 0)
		return NULL;
	void *block = raw.realloc(raw.ctx, old, size);
	if (block == NULL)
		atomic_fetch_sub(&used, size); /* the old block stays */
	else
		atomic_fetch_sub(&used, before);
	return block != NULL ? settle(block, size) : NULL;
}

static void
raw_free(void *self, void *block)
{
	(void)self;
	atomic_fetch_sub(&used, malloc_usable_size(block));
	raw.free(raw.ctx, block);
}

static void *
arena_alloc(void *self, size_t size)
{
	(void)self;
	void *arena = reserve(size) == 0 ? arenas.alloc(arenas.ctx, size) : NULL;
	return arena;
}

static void
arena_free(void *self, void *arena, size_t size)
{
	(void)self;
	arenas.free(arenas.ctx, arena, size);
	atomic_fetch_sub(&used, size);
}

void
memory_bound(uint64_t bytes)
{
	PyMemAllocatorEx counted = { NULL, raw_malloc, raw_calloc, raw_realloc, raw_free };

	bound = bytes;
	PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &raw);
	PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &counted);
#ifdef SANITIZED
	/* In this configuration all domains use malloc, and there are no arenas. */
	PyMem_SetAllocator(PYMEM_DOMAIN_MEM, &counted);
	PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &counted);
#endif
	PyObject_GetArenaAllocator(&arenas);
	PyObject_SetArenaAllocator(&(PyObjectArenaAllocator){ NULL, arena_alloc, arena_free });
}

uint64_t
memory_used(void)
{
	return atomic_load(&used);
}
