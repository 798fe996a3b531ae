# SPDX-License-Identifier: Apache-2.0
"""Read an OTLP request by OpenTelemetry's own definitions and print it as JSON: runs in an environment of its own, which has
them. `otlp_read.py FILE` for protobuf, `otlp_read.py FILE json` for JSON."""
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def read(path, form):
    request = profiles_service_pb2.ExportProfilesServiceRequest()
    with open(path, "rb") as file:
        if form == "json":
            json_format.Parse(file.read(), request)
        else:
            request.ParseFromString(file.read())
    return request


def unknown_fields(message):
    """Whether there are fields of which the definitions do not know."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return known.ByteSize() != message.ByteSize()


def main(path, form="protobuf"):
    request = read(path, form)
    tables = request.dictionary
    strings = tables.string_table

    def attributes(indices):
        rows = [tables.attribute_table[index] for index in indices]
        return {strings[row.key_strindex]: value(row.value) for row in rows}

    def libraries():
        """(file of a function, file and attributes of its mapping) of those that have one."""
        for location in tables.location_table:
            if location.mapping_index:
                mapping = tables.mapping_table[location.mapping_index]
                function = tables.function_table[location.lines[0].function_index]
                yield [strings[function.filename_strindex], strings[mapping.filename_strindex], attributes(mapping.attribute_indices)]

    def frame(index):
        location = tables.location_table[index]
        line = location.lines[0]
        function = tables.function_table[line.function_index]
        return [strings[function.name_strindex], strings[function.filename_strindex], function.start_line,
                attributes(location.attribute_indices)["profile.frame.type"], line.line, line.column]

    frames = [None] + [frame(index) for index in range(1, len(tables.location_table))]
    samples, profiles = [], []
    for resource in request.resource_profiles:
        source = {pair.key: value(pair.value) for pair in resource.resource.attributes}
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                kind = "%s/%s" % (strings[profile.sample_type.type_strindex], strings[profile.sample_type.unit_strindex])
                profiles.append({"id": profile.profile_id.hex(), "type": kind, "time": profile.time_unix_nano,
                                 "duration": profile.duration_nano, "period": profile.period, "source": source,
                                 "scope": {pair.key: value(pair.value) for pair in scope.scope.attributes}})
                for sample in profile.samples:
                    stack = tables.stack_table[sample.stack_index].location_indices
                    samples.append({"type": kind, "pid": source.get("process.pid", 0), **attributes(sample.attribute_indices),
                                    "values": list(sample.values), "times": list(sample.timestamps_unix_nano),
                                    "frames": [frames[index] for index in reversed(stack)]})
    first = [table[0].ByteSize() for table in (tables.mapping_table, tables.location_table, tables.function_table, tables.link_table,
                                               tables.attribute_table, tables.stack_table)] + [len(strings[0])]
    json.dump({"samples": samples, "profiles": profiles, "first": first, "libraries": list(libraries()), "unknown": unknown_fields(request)}, sys.stdout)


main(*sys.argv[1:])
