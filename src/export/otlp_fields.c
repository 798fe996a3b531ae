/* SPDX-License-Identifier: Apache-2.0 */
/* OpenTelemetry's profiles as a table (layer export): only what is written. Constant. */
#include "otlp_fields.h"

#define MESSAGE(number, name, table)                                                                                   \
	{                                                                                                              \
		number, name, PL_PROTO_MESSAGE, false, table                                                           \
	}
#define MESSAGES(number, name, table)                                                                                  \
	{                                                                                                              \
		number, name, PL_PROTO_MESSAGE, true, table                                                            \
	}
#define ONE(number, name, kind)                                                                                        \
	{                                                                                                              \
		number, name, kind, false, NULL                                                                        \
	}
#define MANY(number, name, kind)                                                                                       \
	{                                                                                                              \
		number, name, kind, true, NULL                                                                         \
	}
#define END ONE(0, NULL, PL_PROTO_MESSAGE)

typedef struct pl_proto_field table;

static const table any[] = {ONE(ANY_TEXT, "stringValue", PL_PROTO_TEXT), ONE(ANY_INT, "intValue", PL_PROTO_INT64), END};
static const table pair[] = {ONE(PAIR_KEY, "key", PL_PROTO_TEXT), MESSAGE(PAIR_VALUE, "value", any), END};
static const table attribute[] = {ONE(ATTRIBUTE_KEY, "keyStrindex", PL_PROTO_INT32),
				  MESSAGE(ATTRIBUTE_VALUE, "value", any), END};
static const table resource[] = {MESSAGES(RESOURCE_ATTRIBUTES, "attributes", pair), END};
static const table instrument[] = {ONE(INSTRUMENT_NAME, "name", PL_PROTO_TEXT),
				   ONE(INSTRUMENT_VERSION, "version", PL_PROTO_TEXT),
				   MESSAGES(INSTRUMENT_ATTRIBUTES, "attributes", pair), END};
static const table type[] = {ONE(TYPE_NAME, "typeStrindex", PL_PROTO_INT32),
			     ONE(TYPE_UNIT, "unitStrindex", PL_PROTO_INT32), END};
static const table sample[] = {
	ONE(SAMPLE_STACK, "stackIndex", PL_PROTO_INT32), MANY(SAMPLE_ATTRIBUTES, "attributeIndices", PL_PROTO_INT32),
	MANY(SAMPLE_VALUES, "values", PL_PROTO_INT64), MANY(SAMPLE_TIMES, "timestampsUnixNano", PL_PROTO_FIXED64), END};
static const table profile[] = {
	MESSAGE(PROFILE_TYPE, "sampleType", type),	     MESSAGES(PROFILE_SAMPLES, "samples", sample),
	ONE(PROFILE_TIME, "timeUnixNano", PL_PROTO_FIXED64), ONE(PROFILE_DURATION, "durationNano", PL_PROTO_INT64),
	MESSAGE(PROFILE_PERIOD_TYPE, "periodType", type),    ONE(PROFILE_PERIOD, "period", PL_PROTO_INT64),
	ONE(PROFILE_ID, "profileId", PL_PROTO_HEX),	     END};
static const table scope[] = {MESSAGE(SCOPE_SCOPE, "scope", instrument), MESSAGES(SCOPE_PROFILES, "profiles", profile),
			      END};
static const table resource_profiles[] = {MESSAGE(RESOURCE_RESOURCE, "resource", resource),
					  MESSAGES(RESOURCE_SCOPES, "scopeProfiles", scope), END};
static const table nothing[] = {END};
static const table line[] = {ONE(LINE_FUNCTION, "functionIndex", PL_PROTO_INT32),
			     ONE(LINE_NUMBER, "line", PL_PROTO_INT64), ONE(LINE_COLUMN, "column", PL_PROTO_INT64), END};
static const table mapping[] = {ONE(MAPPING_FILE, "filenameStrindex", PL_PROTO_INT32),
				MANY(MAPPING_ATTRIBUTES, "attributeIndices", PL_PROTO_INT32), END};
static const table location[] = {ONE(LOCATION_MAPPING, "mappingIndex", PL_PROTO_INT32),
				 MESSAGES(LOCATION_LINES, "lines", line),
				 MANY(LOCATION_ATTRIBUTES, "attributeIndices", PL_PROTO_INT32), END};
static const table function[] = {ONE(FUNCTION_NAME, "nameStrindex", PL_PROTO_INT32),
				 ONE(FUNCTION_SYSTEM_NAME, "systemNameStrindex", PL_PROTO_INT32),
				 ONE(FUNCTION_FILE, "filenameStrindex", PL_PROTO_INT32),
				 ONE(FUNCTION_START, "startLine", PL_PROTO_INT64), END};
static const table stack[] = {MANY(STACK_LOCATIONS, "locationIndices", PL_PROTO_INT32), END};

const struct pl_proto_field pl_otlp_dictionary[] = {
	MESSAGES(TABLE_MAPPING, "mappingTable", mapping),    MESSAGES(TABLE_LOCATION, "locationTable", location),
	MESSAGES(TABLE_FUNCTION, "functionTable", function), MESSAGES(TABLE_LINK, "linkTable", nothing),
	MANY(TABLE_STRING, "stringTable", PL_PROTO_TEXT),    MESSAGES(TABLE_ATTRIBUTE, "attributeTable", attribute),
	MESSAGES(TABLE_STACK, "stackTable", stack),	     END};
const struct pl_proto_field pl_otlp_request[] = {MESSAGES(REQUEST_RESOURCES, "resourceProfiles", resource_profiles),
						 END};
