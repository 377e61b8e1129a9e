#!/usr/bin/env python3
"""test_completion.py - bash completion of paperboyctl."""
import os
import re
import subprocess

import lib  # the path
from programs import Paperboy, built
from tap import Tap, need_programs, top_srcdir

CTL = os.path.abspath(built("paperboyctl"))
SCRIPT = os.path.join(top_srcdir(), "etc", "completion", "paperboyctl")


def split_words(line):
    """Split as bash does: blanks separate words, other word breaks are words themselves."""
    words = []
    for part in re.split(r"\s+", line):
        words += [piece for piece in re.split(r"([@:=])", part) if piece] or [""]
    return words


def complete(line, directory="/"):
    """Completions at the end of a line."""
    words = split_words(line)
    quoted = " ".join("'%s'" % word for word in words)
    program = (
        f"source '{SCRIPT}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
        f"COMP_LINE='{line}'; COMP_POINT={len(line)}\n"
        f"_paperboyctl '{CTL}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
    done = subprocess.run(
        ["bash", "--norc", "-c", program], cwd=directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr == "", (line, done)
    return sorted(word for word in done.stdout.split("\n") if word)


def commands():
    text = subprocess.run([CTL, "--help"], check=True, capture_output=True,
                          text=True).stdout
    found = re.findall(r"^  paperboyctl ([a-z]+)(?: ([a-z]+))?\b", text, re.M)
    assert len(found) > 20, found
    return found


def test_syntax():
    """the script is valid, and bash finds the function by the program's name"""
    need_programs("bash")
    subprocess.run(["bash", "-n", SCRIPT], check=True)
    shown = subprocess.run(["bash", "--norc", "-c", f"source '{SCRIPT}'; complete -p"],
                           check=True, capture_output=True, text=True).stdout
    assert shown == "complete -F _paperboyctl paperboyctl\n", shown


def test_commands():
    """all groups and commands are completed, also from a prefix"""
    nouns = sorted({noun for noun, _ in commands()})
    assert complete("paperboyctl ") == nouns
    for noun in nouns:
        assert noun in complete("paperboyctl " + noun[:3]), noun
        verbs = sorted(verb for one, verb in commands() if one == noun and verb)
        if verbs:
            assert complete(f"paperboyctl {noun} ") == verbs, noun
    assert complete("paperboyctl nonsense ") == []
    assert complete("paperboyctl --json -c /x sub") == ["subscriber"]
    assert complete("paperboyctl --j") == ["--json"]


def test_options():
    """all options in a command's help are completed"""
    count = 0
    for noun, verb in commands():
        words = [noun, verb] if verb else [noun]
        text = subprocess.run([CTL, *words, "--help"], check=True, capture_output=True,
                              text=True).stdout
        options = sorted(set(re.findall(r"--[a-z][a-z-]*", text)) | {"--help"})
        offered = complete("paperboyctl %s -" % " ".join(words))
        assert sorted(set(offered)) == options, (words, offered, options)
        count += len(options) - 1
    assert count > 30, count


def test_values(paperboy):
    """addresses and filter numbers are those of the store, settings those of the file"""
    paperboy.add("ada@example.org", ["mamba", "diffusion"])
    paperboy.add("alan@example.org", ["mamba"])
    head = f"paperboyctl -c {paperboy.config} "
    both = ["ada@example.org", "alan@example.org"]
    assert complete(head + "subscriber show ") == both
    assert complete(head + "subscriber show al") == ["alan@example.org"]
    # Bash splits the word at "@", and replaces the part after it.
    assert complete(head + "subscriber show ada@ex") == ["example.org"]
    assert complete(head + "filter remove ada@example.org ") == ["1", "2"]
    assert complete(head + "filter edit alan@example.org ") == ["1"]
    assert complete(head + "filter remove ada@example.org 1 ") == []
    assert complete(head + "log --address a") == both
    assert complete(head + "filter test --address ada@example.org ") == ["1", "2"]
    assert complete(head + "config smtp.p") == ["smtp.password_file",
                                                         "smtp.port", "smtp.protocol"]
    assert complete(head + "subscriber set ada@example.org --zone Europe/Berl") == [
        "Europe/Berlin"]
    assert complete(head + "subscriber set ada@example.org --cadence=week") == [
        "weekdays", "weekly"]
    assert complete(head + "suppression add x@example.org --reason c") == ["complaint"]
    assert complete(head + "digest show l") == ["last"]
    assert complete(head + "queue list --state H") == ["HELD"]
    assert complete(head + "inbox list --state q") == ["quarantined"]
    assert complete(head + "queue drop all --state=S") == ["SENDING", "SENT"]
    assert complete(head + "source replay ") == ["hf"]


def test_files(directory):
    """file names are completed where a file is expected"""
    for name in ("people.csv", "other.csv"):
        open(os.path.join(directory, name), "w", encoding="ascii").close()
    assert complete("paperboyctl subscriber import peo", directory) == ["people.csv"]
    assert complete("paperboyctl subscriber export o", directory) == ["other.csv"]
    assert complete("paperboyctl -c peo", directory) == ["people.csv"]
    assert complete("paperboyctl bounce explain a b peo", directory) == ["people.csv"]


def test_no_store(paperboy):
    """without a store nothing is completed, printed or created"""
    head = f"paperboyctl -c {paperboy.config} "
    assert complete(head + "subscriber show ") == []
    assert complete(head + "filter remove ada@example.org ") == []
    assert os.listdir(paperboy.state) == []
    assert complete("paperboyctl -c /nonexistent subscriber show ") == []


with Tap() as tap:
    tap.run(test_syntax)
    tap.run(test_commands)
    tap.run(test_options)
    tap.run(test_values, Paperboy(tap.subdirectory("values"), "file:///nonexistent"))
    tap.run(test_files, tap.subdirectory("files"))
    tap.run(test_no_store, Paperboy(tap.subdirectory("none"), "file:///nonexistent"))
