/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - JSON values as JSON Schema compares them: 1 equals 1.0, and numbers are the decimals
 * that were written, however long.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of the types of JSON Schema. */
enum value_type {
	VALUE_null = 1,
	VALUE_boolean = 2,
	VALUE_integer = 4,
	VALUE_number = 8,
	VALUE_string = 16,
	VALUE_array = 32,
	VALUE_object = 64,
	VALUE_any = 127,
};

/* An integer, and a number like 1.0 unless `strict`, has two bits. */
unsigned value_types(const json_t *, bool strict);
const char *value_type_name(unsigned one);

bool value_equal(const json_t *, const json_t *);
/* Equal values have equal hashes; *steps counts the values that were visited. */
uint64_t value_hash(const json_t *, uint64_t *steps);
/* Has the number so few digits that a double is it, digit for digit? */
bool value_is_short(const json_t *);
/* Less than, equal to or greater than zero; two numbers. */
int value_compare(const json_t *, const json_t *);
/* Is the number a multiple of the other, which is greater than zero? *steps counts the work. */
bool value_multiple(const json_t *, const json_t *of, uint64_t *steps);
/* As JSON, in at most size - 1 bytes of whole characters; "..." ends a text that was cut. */
void value_print(const json_t *, char *text, size_t size);
