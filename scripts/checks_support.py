"""What scripts/run-tests, scripts/shake, scripts/watched and scripts/ci share: options, names of tests, messages."""
import argparse
import re
import signal
import subprocess
import sys

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# What scripts/watched says of a test whose process ended before it did.
UNFINISHED = "began and did not end"
SEED = re.compile(r"REALM_SEED=(\d+)")


class Parser(argparse.ArgumentParser):
    """Shows a script's own text as its help, and ends with 64 when it is called wrongly."""

    def __init__(self, text):
        super().__init__(add_help=False)
        self.text = text.strip()
        self.add_argument("-h", "--help", action="store_true")

    def parse(self):
        options = self.parse_args()
        if options.help:
            print(self.text)
            sys.exit(0)
        return options

    def error(self, message):
        usage = self.text.split("\n\n")[1].strip()
        print(f"{message}\nusage: {usage}\n--help says more", file=sys.stderr)
        sys.exit(64)


def say(text):
    print(text, flush=True)


def name_of(test):
    """`Module.Suite/test(argument:)` without the place in the file."""
    if test is None:
        return "a part of the run that belongs to no test"
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", test)


def signal_of(code):
    """The name of the signal that ended a process, by what a shell calls its code; None when none did."""
    try:
        return signal.Signals(code - 128).name if code > 128 else None
    except ValueError:
        return None


def seed_of(text):
    """The seed that a failure names; empty without one."""
    found = SEED.search(text)
    return found.group(1) if found else ""


def repeat_command(test, text):
    """The command that runs a test again as it failed."""
    seed = seed_of(text)
    # The filter is a regular expression, in which parentheses mean something else.
    return f"{'REALM_SEED=' + seed + ' ' if seed else ''}scripts/test --filter '{name_of(test).split('(')[0]}'"


def git(*arguments):
    """What git prints, without the line's end; empty outside of a working copy."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True).stdout.strip()
