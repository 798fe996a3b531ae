/* SPDX-License-Identifier: Apache-2.0 */
/* Which names tell that their value is a secret. Layer: cpython. Pure; any thread.
 *
 * A name is cut into words: at what is no letter or digit, and before a capital that follows a small letter. Some words
 * are secrets by themselves; some texts are secrets wherever they occur in the name without its separators. */
#include "value.h"

#include <string.h>

static const char *const secret_words[] = {
	"auth", "authorization", "bearer", "cookie", "cookies", "cred", "creds", "csrf",  "jwt",
	"otp",	"passphrase",	 "passwd", "pin",    "psk",	"pwd",	"salt",	 "token", "tokens",
};

static const char *const secret_parts[] = {
	"accesskey",  "apikey", "credential", "encryptionkey", "passphrase", "passwd",	   "password",
	"privatekey", "secret", "sessionid",  "sessionkey",    "setcookie",  "signingkey", "xauth",
};

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9');
}

static bool is_secret_word(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof secret_words / sizeof secret_words[0]; i++) {
		if (strlen(secret_words[i]) == len && !memcmp(secret_words[i], word, len))
			return true;
	}
	return false;
}

static bool has_secret_part(const char *joined)
{
	for (size_t i = 0; i < sizeof secret_parts / sizeof secret_parts[0]; i++) {
		if (strstr(joined, secret_parts[i]))
			return true;
	}
	return false;
}

bool pl_name_is_secret(const char *name, size_t len)
{
	char joined[PL_SECRET_NAME_MAX + 1];
	size_t n = 0, word = 0;

	if (len > PL_SECRET_NAME_MAX)
		return true;
	for (size_t i = 0; i < len; i++) {
		bool inside = is_word_char(name[i]);
		bool capital = i && is_upper(name[i]) && !is_upper(name[i - 1]);
		if ((!inside || capital) && n > word) {
			if (is_secret_word(joined + word, n - word))
				return true;
			word = n;
		}
		if (inside)
			joined[n++] = is_upper(name[i]) ? (char)(name[i] + ('a' - 'A')) : name[i];
	}
	joined[n] = '\0';
	return is_secret_word(joined + word, n - word) || has_secret_part(joined);
}
