/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - walks the table and a tree of msgpack-c side by side; runs in tests only. */
#include "tests/wire/target.h"

#include "common/base/auto.h"

#include <msgpack.h>

#include <stdio.h>
#include <string.h>

struct seeker {
	enum change change;
	size_t wanted, seen;
	msgpack_zone *zone;
	struct target *t;
};

static bool seek(struct seeker *, enum msg_id, msgpack_object_map *, const char *holder);

static void
change(struct seeker *s, msgpack_object_map *map, size_t i)
{
	msgpack_object mark = { .type = MSGPACK_OBJECT_STR };
	msgpack_object_kv *grown = msgpack_zone_malloc(s->zone, (map->size + 1) * sizeof *grown);

	must(grown != NULL);
	memcpy(grown, map->ptr, map->size * sizeof *grown);
	mark.via.str = (msgpack_object_str){ sizeof TARGET_MARK - 1, TARGET_MARK };
	if (s->change == CHANGE_MARK)
		grown[i].val = mark;
	if (s->change == CHANGE_REMOVE)
		grown[i] = grown[--map->size];
	if (s->change == CHANGE_DOUBLE) {
		grown[map->size] = grown[i];
		map->size++;
	}
	map->ptr = grown;
}

static bool
seek_inside(struct seeker *s, const struct field *f, msgpack_object *value, const char *path)
{
	char holder[160];

	if (f->kind == KIND_ITEM) {
		snprintf(holder, sizeof holder, "%.150s.", path);
		return seek(s, f->of, &value->via.map, holder);
	}
	if (f->kind == KIND_LIST && value->via.array.size > 0) {
		size_t last = value->via.array.size - 1;

		snprintf(holder, sizeof holder, "%.130s[%zu].", path, last);
		return seek(s, f->of, &value->via.array.ptr[last].via.map, holder);
	}
	return false;
}

static bool
seek(struct seeker *s, enum msg_id id, msgpack_object_map *map, const char *holder)
{
	const struct message *m = &messages[id];

	for (size_t i = 0; i < m->nfields; i++) {
		msgpack_object *value = &map->ptr[i].val;
		struct target *t = s->t;

		snprintf(t->path, sizeof t->path, "%.100s%.50s", holder, m->fields[i].name);
		if (s->seen++ == s->wanted) {
			t->f = &m->fields[i];
			if (value->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
				t->frame = value->via.u64;
			change(s, map, i);
			return true;
		}

		char path[sizeof t->path];

		memcpy(path, t->path, sizeof path);
		if (seek_inside(s, &m->fields[i], value, path))
			return true;
	}
	return false;
}

static int
append(void *to, const char *data, size_t size)
{
	return fwrite(data, 1, size, to) == size ? 0 : -1;
}

/* The n-th value of the message as a target; false: it has fewer. */
bool
target_open(struct target *t, enum msg_id id, enum change how, size_t n)
{
	msgpack_unpacked u;
	struct seeker s = { .change = how, .wanted = n, .t = t };
	auto_free char *marked = NULL;
	size_t size;
	FILE *to = open_memstream(&marked, &size);
	msgpack_packer pk;

	*t = (struct target){ .id = id, .p = sample_packed(id, SAMPLE_FULL) };
	msgpack_unpacked_init(&u);
	must(msgpack_unpack_next(&u, t->p.body.data, t->p.body.size, NULL) ==
	     MSGPACK_UNPACK_SUCCESS);

	s.zone = u.zone;
	bool found = seek(&s, id, &u.data.via.map, "");

	msgpack_packer_init(&pk, to, append);
	must(msgpack_pack_object(&pk, u.data) == 0);
	fclose(to);
	msgpack_unpacked_destroy(&u);
	blob_clear(&t->p.body);
	t->p.body = blob_copy(marked, size);
	if (!found)
		packed_clear(&t->p);
	return found;
}
