/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose stacks are known. */
#ifndef PL_TEST_SCRIPTS_H
#define PL_TEST_SCRIPTS_H

/* Blocks in os.read at a known depth, each time anew; the constructor has been called often enough to be specialised.
 */
static const char blocking_script[] = "import os\n"
				      "class Reader(object):\n"
				      "    def __init__(self, really):\n"
				      "        if really: self.byte = os.read(0, 1)\n"
				      "def inner(really):\n"
				      "    Reader(really)\n"
				      "def outer(really):\n"
				      "    inner(really)\n"
				      "for i in range(1000): outer(False)\n"
				      "os.write(1, b'ready\\n')\n"
				      "while True: outer(True)\n";
static const char *const blocking_chain[] = {"<module>", "outer", "inner", "__init__"};

/* Two threads besides its own, which all block in os.read. */
static const char threads_script[] = "import os, threading\n"
				     "def wait(): os.read(0, 1)\n"
				     "threading.Thread(target=wait).start()\n"
				     "threading.Thread(target=wait).start()\n"
				     "os.write(1, b'ready\\n')\n"
				     "wait()\n";

/* Calls and returns all the time; which function calls which is below. */
static const char churning_script[] = "import os\n"
				      "def leaf_a(n): return n + 1\n"
				      "def leaf_b(n): return n + 2\n"
				      "def deep_a(n): return leaf_a(n)\n"
				      "def deep_b(n, m=1, *rest): return leaf_b(n)\n"
				      "def left(n): return deep_a(n) + deep_a(n)\n"
				      "def right(n):\n"
				      "    x = deep_b(n)\n"
				      "    return x + deep_b(n, 2, 3)\n"
				      "def main():\n"
				      "    while True:\n"
				      "        left(1); right(2)\n"
				      "os.write(1, b'ready\\n')\n"
				      "main()\n";
static const char *const churning_calls[][2] = {{"<module>", "main"}, {"main", "left"},	   {"main", "right"},
						{"left", "deep_a"},   {"right", "deep_b"}, {"deep_a", "leaf_a"},
						{"deep_b", "leaf_b"}};

/* Changes its innermost frames faster than they can be read: generators, and functions that C calls. */
static const char hopping_script[] = "import os\n"
				     "def leaf(n): return n\n"
				     "def steps(n):\n"
				     "    for i in range(n): yield leaf(i)\n"
				     "def turn(numbers):\n"
				     "    for n in steps(3): leaf(n)\n"
				     "    for n in map(leaf, numbers): pass\n"
				     "def main():\n"
				     "    while True: turn((1, 2, 3))\n"
				     "os.write(1, b'ready\\n')\n"
				     "main()\n";
static const char *const hopping_calls[][2] = {
	{"<module>", "main"}, {"main", "turn"}, {"turn", "steps"}, {"turn", "leaf"}, {"steps", "leaf"}};

/* Stays in one place and runs. */
static const char spinning_script[] = "import os\n"
				      "def spin():\n"
				      "    i = 0\n"
				      "    os.write(1, b'ready\\n')\n"
				      "    while True: i = i ^ 1\n"
				      "def main(): spin()\n"
				      "main()\n";
static const char *const spinning_chain[] = {"<module>", "main", "spin"};

#endif
