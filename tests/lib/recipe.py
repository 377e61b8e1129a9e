"""recipe.py - the blocks of paperboy-machines(7), executed on two machines.

    recipe = Recipe(tap, "A STANDBY")
    recipe.follow(2)  # the next two blocks
"""

import glob
import json
import os
import re

from clock import DAY
from daemon import days_after, parse
from installation import CA_FILE, CONFIG, STATE, USER_ID, Installation
from paperserver import element
from peers import Ca
from readme import adapt, manual_blocks
from tap import Skip, read, wait_until

ONE, TWO = "one.example.org", "two.example.org"
NAMES = {"one": [ONE], "two": [TWO], "both": [ONE, TWO]}
CLUSTER = "/usr/lib/postgresql/15"
SERVER = r"/usr/lib/postgresql/|postgres: "  # its command lines
PASSWORD = "correct-horse"
CONFIGURATION = """\
state_dir = "{state}";
template_dir = "{templates}";
mail: {{ from = "paperboy@news.example"; owner = "owner@news.example"; alerts = false; }};
sources = ( {{ name = "hf"; kind = "huggingface"; url = "file://{papers}"; }} );
enrich: {{ arxiv = false; europepmc = false; crossref = false; }};
{delivery}
"""
MAILDIR = 'delivery: {{ method = "maildir"; maildir = "{}"; }};'


class Recipe:
    """The blocks of a section, in order, and two machines with papers and a mailbox."""

    def __init__(self, tap, section, name="recipe"):
        directory = tap.subdirectory(name)
        self.installation = tap.enter(Installation(directory, [ONE, TWO]))
        self.one, self.two = self.installation.machines.values()
        self.section = section
        self.blocks = manual_blocks("paperboy-machines.7.in", section)
        self.papers = os.path.join(directory, "papers")
        self.maildir = os.path.join(directory, "mail")
        os.mkdir(self.papers)
        for name in ("", "tmp", "new", "cur"):
            os.mkdir(os.path.join(self.maildir, name))
            os.chown(os.path.join(self.maildir, name), USER_ID, USER_ID)
        self.write_day(0, [1])

    def configure(self, delivery=None):
        """Write the configuration of the first machine."""
        self.one.write(CONFIG, CONFIGURATION.format(
            state=STATE, papers=self.papers,
            delivery=delivery or MAILDIR.format(self.maildir),
            templates=os.path.join(self.installation.installed, "templates")))

    def write_day(self, number, papers):
        path = os.path.join(self.papers, f"daily_papers-{days_after(DAY, number)}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump([element(paper) for paper in papers], file)

    def begin(self, subsection):
        """Continue with the blocks of a subsection, which may have been executed."""
        self.blocks = manual_blocks("paperboy-machines.7.in", self.section, subsection)

    def follow(self, count, replace=(), is_swapped=False):
        """Execute the next blocks of the section, with other texts in them.

        is_swapped: one is two, and two is one
        """
        replace = dict(replace)
        for place, text in self.blocks[:count]:
            if is_swapped:
                place, text = map(swap, (place, text))
            path, _, name = place.rpartition("on ")
            here = [old for old in replace if old in text]
            text = adapt(text, {old: replace.pop(old) for old in here})
            for machine in map(self.installation.machines.get, NAMES[name]):
                if path:
                    path = path.removesuffix(", ")
                    added = path.removeprefix("added to ")
                    old = machine.read(added) if added != path else ""
                    machine.write(added, old + text)
                else:
                    machine.follow(text)
        del self.blocks[:count]
        assert not replace, f"not there: {replace}"

    def mails(self):
        """[(recipient, bytes)] of the Maildir."""
        found = []
        for path in glob.glob(os.path.join(self.maildir, "new", "*")):
            raw = read(path)
            found.append((parse(raw)["To"], raw))
        return found

    def wait_mails(self, count):
        return wait_until(lambda: len(self.mails()) >= count and self.mails(),
                          f"{count} mails")


def swap(text):
    other = {"one": "two", "two": "one"}
    return re.sub(r"\b(one|two)\b", lambda found: other[found[1]], text)


def add_servers(recipe):
    """Add a cluster to each machine, as Debian's package postgresql does, and a certificate."""
    if not os.path.isdir(CLUSTER):
        raise Skip("PostgreSQL 15 is not installed")
    directory = os.path.join(recipe.installation.directory, "ca")
    os.mkdir(directory)
    recipe.ca = Ca(directory)
    for machine in (recipe.one, recipe.two):
        machine.run("rm -rf /etc/postgresql/15 /var/lib/postgresql/15 /run/postgresql/*")
        machine.run("pg_createcluster --start 15 main")
        install_certificate(recipe, machine, machine.name)
        machine.run(f"cat >>{CA_FILE}", stdin=read(recipe.ca.cert))
        machine.typed |= {"--pwprompt": f"{PASSWORD}\n" * 2, ".pgpass": f"{PASSWORD}\n",
                          "store-password": f"{PASSWORD}\n"}


def install_certificate(recipe, machine, name, days=2):
    pair = recipe.ca.make_cert(name, days=days)
    machine.run("cd /etc/postgresql; install -o postgres -m 600 /dev/stdin server.key",
                stdin=read(pair.key))
    machine.write("/etc/postgresql/server.crt", read(pair.cert).decode())
