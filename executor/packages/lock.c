/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c - a ring of the last answers.  New versions are seen after LIFE_MS at the latest. */
#include "executor/packages/lock.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <string.h>

enum {
	KEPT = 64,
	LIFE_MS = 10 * 60 * 1000,
};

static struct lock {
	char *key; /* NULL: none */
	struct texts digests;
	int64_t until_ms;
} locks[KEPT];

static size_t next;

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *
lock_key(const char *language, const struct texts *words)
{
	size_t size = strlen(language) + 1;
	char **sorted = malloc((words->count + 1) * sizeof *sorted);

	if (sorted == NULL)
		return NULL;
	for (size_t i = 0; i < words->count; i++) {
		sorted[i] = words->items[i];
		size += strlen(sorted[i]) + 1;
	}
	qsort(sorted, words->count, sizeof *sorted, compare);

	char *key = malloc(size), *to = key;

	if (key != NULL)
		to = stpcpy(to, language);
	for (size_t i = 0; key != NULL && i < words->count; i++) {
		*to++ = '\n';
		to = stpcpy(to, sorted[i]);
	}
	free(sorted);
	return key;
}

static void
clear(struct lock *lock)
{
	free(take_ptr(lock->key));
	texts_clear(&lock->digests);
}

static struct lock *
find(const char *key)
{
	for (size_t i = 0; i < KEPT; i++)
		if (locks[i].key != NULL && strcmp(locks[i].key, key) == 0)
			return &locks[i];
	return NULL;
}

size_t
lock_find(const char *key, unsigned python, struct package *packages[ORDER_MAX_PACKAGES])
{
	struct lock *lock = find(key);
	size_t n = 0;

	if (lock == NULL || loop_now_ms() > lock->until_ms)
		return 0;
	while (n < lock->digests.count &&
	       (packages[n] = package_find(lock->digests.items[n], python)) != NULL)
		n++;
	if (n == lock->digests.count)
		return n;
	while (n > 0)
		package_put(packages[--n]);
	return 0;
}

void
lock_keep(const char *key, const struct texts *digests)
{
	struct lock *lock = find(key);

	if (digests->count > ORDER_MAX_PACKAGES)
		return;
	if (lock == NULL)
		lock = &locks[next++ % KEPT];
	clear(lock);
	lock->until_ms = loop_now_ms() + LIFE_MS;
	lock->key = strdup(key);
	for (size_t i = 0; lock->key != NULL && i < digests->count; i++)
		if (texts_add(&lock->digests, digests->items[i]) < 0)
			clear(lock);
}

void
lock_forget(void)
{
	for (size_t i = 0; i < KEPT; i++)
		clear(&locks[i]);
}
