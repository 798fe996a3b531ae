-- SPDX-License-Identifier: Apache-2.0
-- For wrk: each connection rests for 5 to 35 ms between two requests.
function delay()
	return math.random(5, 35)
end
