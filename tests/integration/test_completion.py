# SPDX-License-Identifier: Apache-2.0
"""The completion scripts and the man pages, which plumb writes from its option tables."""
import os
import re
import shutil
import subprocess

import pytest

from harness.plumb import PATIENCE

SHELLS = ("bash", "zsh", "fish")

# Prints what the script offers for the words given: one line each, and "(files)" if it leaves the rest to readline.
BASH = r"""
compopt() { [ "$*" = "-o default" ] && echo "(files)"; }
source "$SCRIPT"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_plumb
printf '%s\n' "${COMPREPLY[@]}"
"""

# Types each line in an interactive zsh and presses Tab. Prints "offer WORD" for each match, then "asked".
ZSH = r"""
export SETUP='
autoload -Uz compinit
compinit -u -D
setopt no_auto_list no_beep
source $SCRIPT
_its_own() { compadd -- --month }
compdef _its_own sort
asked() { print -l "" asked }
zle -N asked
zle -N zle-line-init asked
bindkey -e
bindkey "^G" asked
compadd() {
	local -a hits
	if ! (( ${@[(I)-[OAD]]} )); then
		builtin compadd -O hits "$@"
		print -rl "" "offer "$^hits
	fi
	builtin compadd "$@"
}'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'eval $SETUP'
zpty -r shell said '*asked*' # from here on it is the line editor that reads
for line; do
	zpty -w -n shell "$line"$'\t\C-u\C-g'
	zpty -r shell said '*asked*'
	print -r -- "$said"
done
"""


def tool(name):
    path = shutil.which(name)
    if not path:
        pytest.skip("%s is not installed" % name)
    return path


def written(plumb, *arguments):
    result = plumb(*arguments)
    assert result.status == 0 and result.stderr == "", result
    return result.stdout


def commands(plumb):
    """The commands that `plumb help` lists."""
    section = written(plumb, "help").split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in section.splitlines() if re.match(r"  \S", line)]


def options(plumb, command):
    """[(letter or "", name), ...] as the help of the command lists them."""
    found = re.findall(r"^  (?:-(\w), |    )--([\w-]+)", written(plumb, "help", command), re.M)
    assert ("h", "help") in found
    return found


def pages(plumb):
    return [[], *([command] for command in commands(plumb))]


def run_tool(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)


@pytest.fixture
def complete(plumb):
    """complete("run", "--mo") -> what bash is offered for the last word."""
    script = plumb.path(".bash")
    script.write_text(written(plumb, "completion", "bash"))

    def run(*words):
        done = run_tool(tool("bash"), "--norc", "--noprofile", "-c", BASH, "bash", "plumb", *words,
                        stdin=subprocess.DEVNULL, env=dict(os.environ, SCRIPT=str(script)))
        assert done.stderr == "", done.stderr
        return [line for line in done.stdout.splitlines() if line]

    return run


@pytest.fixture
def fish(plumb):
    """fish("plumb run --mo") -> what fish is offered, without the descriptions."""
    path = tool("fish")
    script = plumb.path(".fish")
    script.write_text(written(plumb, "completion", "fish"))

    def run(line):
        done = run_tool(path, "--no-config", "-c", "source $argv[1]; complete -c sort -l month; complete -C $argv[2]", str(script), line,
                        stdin=subprocess.DEVNULL, env=dict(os.environ, HOME=str(plumb.directory)))
        assert done.stderr == "", done.stderr
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    return run


@pytest.fixture
def zsh(plumb):
    """zsh("plumb run --mo", ...) -> for each line what zsh is offered."""
    path = tool("zsh")
    script = plumb.path(".zsh")
    script.write_text(written(plumb, "completion", "zsh"))
    environment = dict(os.environ, SCRIPT=str(script), HOME=str(plumb.directory), TERM="dumb")

    def run(*lines):
        done = run_tool(path, "-f", "-c", ZSH, "zsh", *lines, stdin=subprocess.DEVNULL, env=environment)
        assert done.returncode == 0 and done.stderr == "", done
        answers = done.stdout.split("asked")[:-1]
        assert len(answers) == len(lines), done.stdout
        return [re.findall(r"^offer (.*?)\r*$", answer, re.M) for answer in answers]

    return run


@pytest.mark.smoke
def test_each_option_is_in_the_man_page_and_in_each_completion(plumb):
    scripts = {shell: written(plumb, "completion", shell) for shell in SHELLS}
    for command in commands(plumb):
        page = written(plumb, "help", "--man", command).replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
        bash = re.search(r"^\t%s\) REPLY='(.*)'" % command, scripts["bash"], re.M).group(1).split()
        zsh = re.search(r"^\t%s\)\n(.*?)\t\t;;" % command, scripts["zsh"], re.M | re.S).group(1)
        fish_lines = re.findall(r"'__plumb_is_option %s' (.*)" % command, scripts["fish"])
        for letter, name in options(plumb, command):
            entry = "-%s, --%s" % (letter, name) if letter else "--%s" % name
            assert re.search(r"^\.TP\n%s( |$)" % re.escape(entry), page, re.M), "%s of %s in %s" % (name, command, page)
            assert "--" + name in bash and (not letter or "-" + letter in bash), bash
            assert re.search(r"--%s[=\[}]" % name, zsh) and (not letter or "{-%s" % letter in zsh), zsh
            wanted = "-l %s " % name + ("-s %s " % letter if letter else "")
            assert any(line.startswith(wanted) for line in fish_lines), wanted


@pytest.mark.smoke
def test_each_command_has_a_man_page_and_a_place_in_the_overview(plumb):
    overview = written(plumb, "help", "--man")
    for command in commands(plumb):
        assert "\nplumb\\-%s \\- " % command in written(plumb, "help", "--man", command)
        assert ".TP\n\\fB%s\\fR\n" % command in overview and "plumb\\-%s (1)" % command in overview
    for heading in ("FORMATS", "EXIT STATUS", "ENVIRONMENT"):
        assert ".SH %s\n" % heading in overview


def test_each_command_has_a_man_page_in_the_build(plumb):
    built = os.path.join(os.path.dirname(plumb.binary), "src", "cli", "pages")
    if not os.path.isdir(built):
        pytest.skip("there is no build directory around %s" % plumb.binary)
    expected = {"plumb.1", *("plumb-%s.1" % command for command in commands(plumb))}
    assert expected <= set(os.listdir(built)), "cli_commands of src/cli/meson.build lacks a command"


def test_man_option_is_hidden_and_refuses_what_is_no_command(plumb):
    assert "--man" not in written(plumb, "help", "help")
    for shell in SHELLS:
        assert not re.search(r"--man\b|-l man\b", written(plumb, "completion", shell))
    result = plumb("help", "--man", "nonsense")
    assert result.status == 125 and "nonsense" in result.stderr and result.stdout == "", result


def test_unknown_shell_is_refused_with_those_there_are(plumb):
    result = plumb("completion", "tcsh")
    assert result.status == 125 and "bash, zsh and fish" in result.stderr, result


def test_man_pages_are_escaped(plumb):
    for page in pages(plumb):
        comment, *lines = written(plumb, "help", "--man", *page).splitlines()
        assert comment.startswith('.\\"')
        for line in lines:
            assert line.isascii(), line
            assert not re.search(r"(?<!\\)-", line), "a bare hyphen: %s" % line
            assert "'" not in line and "`" not in line, "a bare quote: %s" % line
            assert not line.startswith(".") or re.match(r"\.(TH|SH|SS|TP|PP|BR|br)( |$)", line), line


def test_groff_has_no_warning(plumb):
    groff = tool("groff")
    for page in pages(plumb):
        done = run_tool(groff, "-man", "-ww", "-z", input=written(plumb, "help", "--man", *page))
        assert done.returncode == 0 and done.stderr == "", "%s: %s" % (page, done.stderr)


def test_mandoc_has_no_complaint(plumb):
    mandoc = tool("mandoc")
    for page in pages(plumb):
        done = run_tool(mandoc, "-T", "lint", input=written(plumb, "help", "--man", *page))
        # Pages have no date, so that a build can be repeated.
        complaints = [line for line in done.stdout.splitlines() if "missing date" not in line]
        assert not complaints, "%s: %s" % (page, complaints)


@pytest.mark.parametrize("shell", SHELLS)
def test_shell_accepts_the_script(plumb, shell):
    script = plumb.path("." + shell)
    script.write_text(written(plumb, "completion", shell))
    done = run_tool(tool(shell), "-n", str(script))
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_bash_completes_commands_and_options(plumb, complete):
    assert {"--version", "--help", *commands(plumb)} <= set(complete(""))
    assert complete("rep") == ["report"]
    assert complete("run", "--mo") == ["--mode", "--module"]
    assert complete("run", "-r", "100", "--mo") == ["--mode", "--module"]
    assert complete("report", "--mo") == ["--module"]


@pytest.mark.parametrize("words, offered", [
    (["attach", "--mode", ""], ["wall", "cpu", "gil"]),
    (["attach", "--mode", "=", "c"], ["cpu"]),
    (["attach", "--mode", "="], ["wall", "cpu", "gil"]),
    (["run", "--color", "a"], ["auto", "always"]),
    (["report", "--names", ""], ["short", "full"]),
    (["report", "-f", "js"], ["json", "jsonl"]),
    (["completion", ""], list(SHELLS)),
    (["help", "exit"], ["exit-status"]),
    (["help", "att"], ["attach"]),
    (["run", "--rate", ""], []),
    (["report", "-o", ""], ["(files)"]),
    (["report", "x"], ["(files)"]),
    (["nonsense", ""], []),
])
def test_bash_completes_values_and_operands(complete, words, offered):
    assert complete(*words) == offered


@pytest.mark.parametrize("before", [["--"], [], ["-d", "5", "--mode", "=", "cpu", "--"], ["--quiet"]])
def test_bash_completes_the_program_after_run(complete, before):
    assert "printf" in complete("run", *before, "prin")
    assert complete("run", *before, "python3", "--mo") == ["(files)"], "its options are not plumb's"


def test_bash_hands_the_program_over_where_bash_completion_is_loaded(complete, monkeypatch):
    monkeypatch.setenv("BASH_FUNC__command_offset%%", "() { COMPREPLY=(offset-$1); }")
    assert complete("run", "-q", "--", "git", "che") == ["offset-4"]


def test_bash_offers_running_pythons_to_attach(target, any_python, complete):
    with target(any_python, "waiting.py") as process:
        assert str(process.pid) in complete("attach", "")
        assert str(process.pid) in complete("attach", "1", ""), "any number of them"
    assert "--json" in complete("doctor", "1", ""), "one process is enough"


def test_fish_completes(plumb, fish, target, any_python):
    assert set(commands(plumb)) <= set(fish("plumb "))
    assert fish("plumb run --mo") == ["--mode", "--module"]
    assert sorted(fish("plumb attach --mode ")) == ["cpu", "gil", "wall"]
    assert fish("plumb report -f js") == ["json", "jsonl"]
    assert fish("plumb help exit") == ["exit-status"]
    assert "printf" in fish("plumb run -r 5 -- print")
    assert "printf" in fish("plumb run print")
    assert fish("plumb run -- sort --mo") == fish("plumb run -q sort --mo") == ["--month"]
    with target(any_python, "waiting.py") as process:
        assert str(process.pid) in fish("plumb attach ")


def test_zsh_completes(plumb, zsh, target, any_python):
    with target(any_python, "waiting.py") as process:
        answers = zsh("plumb ", "plumb run --mo", "plumb attach --mode ", "plumb report -f js", "plumb help exit",
                      "plumb run -r 5 -- print", "plumb run print", "plumb run -- sort --mo", "plumb run -q sort --mo",
                      "plumb attach ")
    overview, option, value, format_, topic, program, bare, its_own, also, pids = answers
    assert set(commands(plumb)) <= set(overview)
    assert option == ["--mode", "--module"]
    assert sorted(value) == ["cpu", "gil", "wall"]
    assert format_ == ["json", "jsonl"]
    assert topic == ["exit-status"]
    assert "printf" in program and "printf" in bare
    assert its_own == also == ["--month"]
    assert str(process.pid) in pids


# What a process can have as an argument: commands to the terminal, also as bytes that are no UTF-8, a change of the direction of
# text, and lines of its own, which fish takes for candidates.
HOSTILE = [b"\x1b]0;title\x07", b"\x9b31m", "\u202eevil\u009b5m".encode(), b"\n1\tinit\n2", "größe".encode(), *[b"\x1b[H" * 25000] * 9]

# Each process and its arguments, as the script hands them to the shell to be shown.
SHOWN = {
    "zsh": r"""compdef() { :; }; source $SCRIPT; _describe() { print -rl -- "${(@P)2}"; }; _plumb_pids""",
    "fish": r"source $SCRIPT; complete -C 'plumb attach '",
}


@pytest.mark.parametrize("shell, flags", [("zsh", "-f"), ("fish", "--no-config")])
def test_arguments_of_a_process_are_shown_in_letters_and_briefly(plumb, target, any_python, shell, flags):
    script = plumb.path("." + shell)
    script.write_text(written(plumb, "completion", shell))
    environment = dict(os.environ, SCRIPT=str(script), HOME=str(plumb.directory), LC_ALL="C.UTF-8")
    with target(any_python, "waiting.py", *HOSTILE) as process:
        done = subprocess.run([tool(shell), flags, "-c", SHOWN[shell]], capture_output=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, env=environment)
    assert done.returncode == 0 and done.stderr == b"", done
    lines = done.stdout.decode().splitlines()
    shown = {int(line[0]): line[1] for line in (re.split("[\t:]", line, maxsplit=1) for line in lines)}
    text = shown[process.pid]
    assert text.isprintable() and "\u202e" not in text and "waiting.py" in text and "größe" in text, ascii(text)
    assert "1?init?2" in text and shown.get(1, "") != "init", "a line of its own"
    assert len(text) <= 1024
