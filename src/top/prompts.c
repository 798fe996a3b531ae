/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: what is typed in the last line, to search for or to filter by. */
#include <curses.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "ui.h"

#define CTRL(c) ((c)&0x1f)
#define ESCAPE	27

const char *ui_prompt(enum prompt prompt)
{
	static const char *const texts[] = {
		[PROMPT_NONE] = "",
		[PROMPT_SEARCH] = "search",
		[PROMPT_THREAD] = "only the thread (name or number; empty: all)",
		[PROMPT_MODULE] = "only samples with the module, package or folder (empty: all)",
		[PROMPT_FOCUS] = "only samples with a function or file like (regex; empty: all)",
		[PROMPT_TAG] = "only samples with the label (name or name=value; empty: all)",
	};
	return texts[prompt];
}

void ui_only_thread(struct ui *ui, const char *thread)
{
	snprintf(ui->thread, sizeof ui->thread, "%s", thread);
	feed_only_thread(ui->feed, ui->thread);
	ui->look_again = true;
}

static void only_module(struct ui *ui, const char *module)
{
	snprintf(ui->module, sizeof ui->module, "%s", module);
	feed_only_module(ui->feed, ui->module);
	ui->look_again = true;
}

/* What is no pattern is told here: nothing could be looked at with it. */
static void only_like(struct ui *ui, const char *pattern)
{
	regex_t compiled;
	char why[200];
	int bad = *pattern ? regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) : 0;

	if (bad) {
		regerror(bad, &compiled, why, sizeof why);
		ui_tell(ui, "'%s' is no regular expression: %s", pattern, why);
		return;
	}
	if (*pattern)
		regfree(&compiled);
	snprintf(ui->focus, sizeof ui->focus, "%s", pattern);
	feed_only_like(ui->feed, ui->focus);
	ui->look_again = true;
}

static void only_tag(struct ui *ui, const char *tag)
{
	if (*tag == '=') {
		ui_tell(ui, "'%s' is no label: give its name, or name=value", tag);
		return;
	}
	snprintf(ui->tag, sizeof ui->tag, "%s", tag);
	feed_only_tag(ui->feed, ui->tag);
	ui->look_again = true;
}

void ui_search(struct ui *ui)
{
	if (*ui->sought && !table_search(&ui->tables[ui->view], ui->sought))
		ui_tell(ui, "'%s' is in no row", ui->sought);
}

static void end_prompt(struct ui *ui)
{
	enum prompt prompt = ui->prompt;

	ui->prompt = PROMPT_NONE;
	switch (prompt) {
	case PROMPT_THREAD:
		ui_only_thread(ui, ui->typed);
		break;
	case PROMPT_MODULE:
		only_module(ui, ui->typed);
		break;
	case PROMPT_FOCUS:
		only_like(ui, ui->typed);
		break;
	case PROMPT_TAG:
		only_tag(ui, ui->typed);
		break;
	default:
		snprintf(ui->sought, sizeof ui->sought, "%s", ui->typed);
		ui_search(ui);
	}
}

void ui_type(struct ui *ui, int key)
{
	size_t len = strlen(ui->typed);

	if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		end_prompt(ui);
	} else if (key == ESCAPE || key == CTRL('C')) {
		ui->prompt = PROMPT_NONE;
	} else if (key == KEY_BACKSPACE || key == 127 || key == CTRL('H')) {
		while (len > 0 && ((unsigned char)ui->typed[len - 1] & 0xc0) == 0x80)
			len--;
		ui->typed[len ? len - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 256 && len + 1 < sizeof ui->typed) {
		ui->typed[len] = (char)key;
		ui->typed[len + 1] = '\0';
	}
}

void ui_ask(struct ui *ui, enum prompt prompt)
{
	ui->prompt = prompt;
	ui->typed[0] = '\0';
}
