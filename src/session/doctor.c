/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/doctor.h>. Collects the facts, has them turned into findings, and writes the JSON. One thread;
 * it starts a child for a moment, so not from a signal handler. */
#include <plumb/doctor.h>

#include <stdio.h>
#include <stdlib.h>

#include <plumb/plumb.h>

#include "findings.h"
#include "json.h"

static const char *const status_names[] = {
	[PLUMB_FINDING_OK] = "ok", [PLUMB_FINDING_NO] = "no", [PLUMB_FINDING_NOTE] = "note"};

static struct plumb_error *examine_machine(struct plumb_doctor *d)
{
	struct pl_host_facts facts;
	struct plumb_error *err = pl_examine_host(&facts);

	if (!err)
		pl_findings_host(d, &facts);
	return err;
}

static void examine_python(struct plumb_doctor *d)
{
	struct pl_python_facts facts;

	pl_examine_python(d->pid, &facts);
	pl_findings_python(d, &facts);
	pl_python_facts_deinit(&facts);
}

static struct plumb_error *examine_process(struct plumb_doctor *d)
{
	struct pl_process_facts facts;
	struct plumb_error *err = pl_examine_process(d->pid, &facts);

	if (err && err != &pl_err_no_memory) {
		pl_findings_no_process(d, err);
		plumb_error_destroy(err);
		return NULL;
	}
	if (err)
		return err;
	pl_findings_process(d, &facts);
	if (!facts.refused)
		examine_python(d);
	pl_process_facts_deinit(&facts);
	return NULL;
}

static void json_findings(struct pl_json *j, const struct plumb_doctor *d)
{
	pl_json_key(j, "findings");
	pl_json_array(j);
	for (size_t i = 0; i < d->findings.len; i++) {
		const struct pl_finding *f = &d->findings.data[i];

		pl_json_object(j);
		pl_json_key_str_or_null(j, "about", f->of_process ? "process" : "machine");
		pl_json_key_str_or_null(j, "id", f->id);
		pl_json_key_str_or_null(j, "status", status_names[f->status]);
		pl_json_key_str_or_null(j, "fact", f->fact);
		pl_json_key_str_or_null(j, "cost", f->cost);
		pl_json_key_str_or_null(j, "remedy", f->remedy);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

static bool make_json(struct plumb_doctor *d)
{
	struct pl_json j;
	size_t len;
	FILE *out = open_memstream(&d->json, &len);

	if (!out)
		return false;
	pl_json_init(&j, out, 0);
	pl_json_object(&j);
	pl_json_key_str(&j, "schema", "plumb.doctor/1");
	pl_json_key_str(&j, "plumb_version", PLUMB_VERSION);
	pl_json_key_u64_or_null(&j, "pid", d->pid, (uint64_t)d->pid);
	pl_json_key_bool(&j, "works", d->works);
	pl_json_key_str_or_null(&j, "summary", d->summary);
	json_findings(&j, d);
	pl_json_object_end(&j);
	bool failed = ferror(out);
	return fclose(out) == 0 && !failed && d->json; /* NULL: the last piece found no room, and nobody says so */
}

struct plumb_error *plumb_doctor_examine(int pid, struct plumb_doctor **ret)
{
	struct plumb_doctor *d = calloc(1, sizeof *d);
	struct plumb_error *err;

	if (!d)
		return &pl_err_no_memory;
	d->pid = pid;
	err = examine_machine(d);
	if (!err && pid)
		err = examine_process(d);
	if (!err) {
		pl_findings_conclude(d);
		if (d->no_memory || !make_json(d))
			err = &pl_err_no_memory;
	}
	if (err)
		plumb_doctor_destroy(d);
	else
		*ret = d;
	return err;
}

void plumb_doctor_destroy(struct plumb_doctor *d)
{
	if (!d)
		return;
	pl_vec_deinit(&d->findings);
	free(d->json);
	free(d);
}

bool plumb_doctor_at(const struct plumb_doctor *d, size_t i, struct plumb_finding *ret)
{
	if (i >= d->findings.len)
		return false;
	const struct pl_finding *f = &d->findings.data[i];
	*ret = (struct plumb_finding){.id = f->id,
				      .of_process = f->of_process,
				      .status = f->status,
				      .fact = f->fact,
				      .cost = f->cost,
				      .remedy = f->remedy};
	return true;
}

bool plumb_doctor_works(const struct plumb_doctor *d)
{
	return d->works;
}

const char *plumb_doctor_summary(const struct plumb_doctor *d)
{
	return d->summary;
}

const char *plumb_doctor_json(const struct plumb_doctor *d)
{
	return d->json;
}
