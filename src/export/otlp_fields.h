/* SPDX-License-Identifier: Apache-2.0 */
/* Field numbers of OpenTelemetry's profiles, package opentelemetry.proto.profiles.v1development as of its version 1.10,
 * and their names in JSON. Versions up to 1.9 number those of a sample in another way. */
#ifndef PL_OTLP_FIELDS_H
#define PL_OTLP_FIELDS_H

#include "proto_json.h"

enum { REQUEST_RESOURCES = 1, REQUEST_DICTIONARY };
enum { RESOURCE_RESOURCE = 1, RESOURCE_SCOPES };
enum { SCOPE_SCOPE = 1, SCOPE_PROFILES };
enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLES,
	PROFILE_TIME,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_ID
};
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES, SAMPLE_TIMES };
enum { TABLE_MAPPING = 1, TABLE_LOCATION, TABLE_FUNCTION, TABLE_LINK, TABLE_STRING, TABLE_ATTRIBUTE, TABLE_STACK };
enum { MAPPING_FILE = 4, MAPPING_ATTRIBUTES };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINES, LOCATION_ATTRIBUTES };
enum { LINE_FUNCTION = 1, LINE_NUMBER, LINE_COLUMN };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_START };
enum { STACK_LOCATIONS = 1 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { INSTRUMENT_NAME = 1, INSTRUMENT_VERSION, INSTRUMENT_ATTRIBUTES };
enum { PAIR_KEY = 1, PAIR_VALUE };
enum { ANY_TEXT = 1, ANY_INT = 3 };

extern const struct pl_proto_field pl_otlp_request[], pl_otlp_dictionary[];

#endif
