#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The mirror this machine's own package sources name for its own release; nothing if it is no Debian.
set -eu
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
# shellcheck disable=SC2016 # apt-get fills these in
apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
	awk -v want="$codename" '$2 == "main" && ($1 == want || first == "") { if ($1 == want) { print $3; found = 1; exit } first = $3 }
		END { if (!found && first != "") print first }'
