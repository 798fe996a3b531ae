# SPDX-License-Identifier: Apache-2.0
"""format_peers.py KIND FILE [OUT]: read FILE with the Python tool that knows the format and write it again; print the CPU seconds
of both and the peak memory as JSON. Run by the interpreter that has the tool, hence on its own."""
import gzip
import json
import resource
import sys
import time


def pprof_class():
    """The part of pprof's profile.proto that plumb writes, made by the protobuf package itself."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    number, packed, text = "int64", "int64s", "string"
    messages = {
        "ValueType": [("type", 1, number), ("unit", 2, number)],
        "Label": [("key", 1, number), ("str", 2, number), ("num", 3, number)],
        "Sample": [("location_id", 1, packed), ("value", 2, packed), ("label", 3, "Label")],
        "Mapping": [("id", 1, number), ("filename", 5, number), ("has_functions", 7, number), ("has_filenames", 8, number),
                    ("has_line_numbers", 9, number)],
        "Line": [("function_id", 1, number), ("line", 2, number), ("column", 3, number)],
        "Location": [("id", 1, number), ("mapping_id", 2, number), ("line", 4, "Line")],
        "Function": [("id", 1, number), ("name", 2, number), ("system_name", 3, number), ("filename", 4, number), ("start_line", 5, number)],
        "Profile": [("sample_type", 1, "ValueType"), ("sample", 2, "Sample"), ("mapping", 3, "Mapping"), ("location", 4, "Location"),
                    ("function", 5, "Function"), ("string_table", 6, text), ("time_nanos", 9, number), ("duration_nanos", 10, number),
                    ("comment", 13, packed)],
    }
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="bench", syntax="proto3")
    field = descriptor_pb2.FieldDescriptorProto
    for name, members in messages.items():
        message = file.message_type.add(name=name)
        for member, at, kind in members:
            made = message.field.add(name=member, number=at)
            made.label = field.LABEL_OPTIONAL if kind == number else field.LABEL_REPEATED
            made.type = {number: field.TYPE_INT64, packed: field.TYPE_INT64, text: field.TYPE_STRING}.get(kind, field.TYPE_MESSAGE)
            if made.type == field.TYPE_MESSAGE:
                made.type_name = ".bench." + kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("bench.Profile"))


class Protobuf:
    def __init__(self):
        self.profile = pprof_class()()

    def read(self, path):
        with gzip.open(path) as f:
            self.profile.ParseFromString(f.read())
        assert self.profile.sample and self.profile.string_table

    def write(self, path):
        with gzip.open(path, "wb", compresslevel=6) as f:
            f.write(self.profile.SerializeToString())


class Json:
    def read(self, path):
        with open(path, encoding="utf-8") as f:
            self.data = json.load(f)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self.data, f, separators=(",", ":"))


class Pstats:
    def read(self, path):
        import pstats
        self.stats = pstats.Stats(path)

    def write(self, path):
        self.stats.dump_stats(path)


class Collector:
    """CPython's: it is given the samples of collapsed stacks one by one, as by its sampler. Making them is in no figure."""

    name = ""

    def stacks(self, path):
        from _remote_debugging import FrameInfo, InterpreterInfo, LocationInfo, ThreadInfo
        known = {}
        with open(path, encoding="utf-8") as f:
            for line in f:
                names, count = line.rstrip("\n").rsplit(" ", 1)
                parts = [part for part in names.split(";") if not part.startswith("pid:")]
                frames = []
                for part in reversed(parts[1:]):
                    if part not in known:
                        file, name, number = part.rsplit(":", 2)
                        known[part] = FrameInfo((file, LocationInfo((int(number), int(number), -1, -1)), name, None))
                    frames.append(known[part])
                thread = ThreadInfo((int(parts[0][len("tid:"):]), 0, frames))
                yield [InterpreterInfo((0, [thread]))], int(count)

    def read(self, path):
        pass

    def write(self, path, source):
        import profiling.sampling.stack_collector as collectors
        given = list(self.stacks(source))
        collector = getattr(collectors, self.name)(1000)
        began = time.process_time()
        for stack, count in given:
            for _ in range(count):
                collector.collect(stack)
        collector.export(path)
        return time.process_time() - began


class Collapsed(Collector):
    name = "CollapsedStackCollector"


class Flamegraph(Collector):
    name = "FlamegraphCollector"


def main():
    kind, path, out = sys.argv[1:]
    sys.setrecursionlimit(20000)
    tool = {"protobuf": Protobuf, "json": Json, "pstats": Pstats, "collapsed": Collapsed, "flamegraph": Flamegraph}[kind]()
    stdout, sys.stdout = sys.stdout, sys.stderr
    began = time.process_time()
    if isinstance(tool, Collector):
        figures = {"export": tool.write(out, path)}
    else:
        tool.read(path)
        read = time.process_time()
        tool.write(out)
        figures = {"import": read - began, "export": time.process_time() - read}
    figures["rss"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    json.dump(figures, stdout)


if __name__ == "__main__":
    main()
