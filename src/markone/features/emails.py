"""Features of e-mails beyond their words: capital letters, links, and whether the sender is known.

Mails are hostile input. Everything here takes time proportional to the length of a mail.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.data.source import Batch, Column
from markone.data.strings import Strings
from markone.errors import SettingsError
from markone.features.event_kinds import Event, Group, joined
from markone.features.part import Part
from markone.storage.saved import Contents, Saved, damaged

ROLES: dict[str, tuple[str, ...]] = {
    "sender": ("sender", "from", "from_address", "sender_address"),
    "reply": ("reply_to", "return_path"),
    "to": ("to", "recipient", "recipients", "to_address"),
    "subject": ("subject", "title"),
    "body": ("body", "text", "message", "content", "html", "mail", "email"),
}
"""The names of the columns of each role, in small letters and with _ between words."""
TEXTS = ("subject", "body")
OFTEN = 2
"""A sender is known, and a mail was sent before, if it occurs this often in training. A training row itself counts."""
GREETING = 200
"""The number of characters at the beginning of a mail in which the name of the recipient is searched for."""
LONGEST_LINK, LONGEST_HEADER = 2000, 1000
"""The numbers of characters that are read of a link and of an address."""
SHORTEST_NAME = 3

# The quantifiers are possessive, and a tag ends at the next bracket, so that no text is read twice.
TAG = re.compile(r"<(/?+)([a-zA-Z][a-zA-Z0-9]*+)([^<>]*+)>")
ADDRESS = re.compile(r"""href\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"']++))""", re.IGNORECASE)
NAME_PARTS = re.compile(r"[^\W\d_]+")
HIDDEN = ("script", "style", "title")
END_OF_HIDDEN = re.compile(rf"</({'|'.join(HIDDEN)})(?![a-zA-Z0-9])[^<>]*+>", re.IGNORECASE)
COMMENT, END_OF_COMMENT = "<!--", re.compile("--!?>")
BLOCKS = re.compile("blockquote|br|center|d[dlt]|div|h[1-6r]|li|[ou]l|p|pre|table|t[dhr]")
"""Tags that separate words; the words on both sides of another tag may be one, as in `fr<b>ee</b>`."""


# ---- one mail


@dataclass(slots=True)
class Page:
    """The visible text of a mail, and its links."""

    text: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of an address and the text that is shown for it."""


def read_page(source: str) -> Page:
    """Read a mail, which may be HTML or plain text. Comments, scripts and titles are not visible if they have an end.

    >>> page = read_page('See <A HREF="http://evil.example/x">http://bank.example</a>!')
    >>> page.links, "".join(page.text)
    ([('http://evil.example/x', 'http://bank.example')], 'See http://bank.example!')
    """
    source = without_comments(source)
    ends = {found[1].lower(): found.start() for found in END_OF_HIDDEN.finditer(source)}  # the last of each name
    page, begin = Page(), 0
    address: str | None = None
    shown: list[str] = []
    hidden = ""
    for tag in TAG.finditer(source):
        piece, begin = source[begin : tag.start()], tag.end()
        closes, name = bool(tag[1]), tag[2].lower()
        if not hidden:
            page.text += [piece] if piece else []
            if address is not None:
                shown.append(piece)
        if hidden:
            hidden = "" if closes and name == hidden else hidden
        elif name in HIDDEN and not closes and tag.end() <= ends.get(name, -1):
            hidden = name
        elif name == "a":
            if address is not None:
                page.links.append((address, "".join(shown)))
            found = None if closes else ADDRESS.search(tag[3][:LONGEST_LINK])
            address = None if found is None else html.unescape(found[1] or found[2] or found[3] or "").strip()
            shown = []
        elif BLOCKS.fullmatch(name):
            page.text.append(" ")
    page.text.append(source[begin:])
    if address is not None:
        page.links.append((address, "".join([*shown, source[begin:]])))
    return page


def without_comments(source: str) -> str:
    """Return a page without its comments. The beginning of a comment that has no end is text.

    >>> without_comments("fr<!-- <b> -->ee <!--> tea <!-- now")
    'free  tea <!-- now'
    """
    pieces, begin = [], 0
    while (start := source.find(COMMENT, begin)) >= 0:
        end = END_OF_COMMENT.search(source, start + len("<!"))  # `<!-->` is a whole comment
        if end is None:
            break
        pieces.append(source[begin:start])
        begin = end.end()
    return "".join([*pieces, source[begin:]])


def host_of(text: str) -> str | None:
    """The host in an address, or None.

    >>> host_of("HTTP://user@www.Bank.example:80/login"), host_of("bank.example,"), host_of("a.b@mail.example")
    ('www.bank.example', 'bank.example', 'mail.example')
    >>> host_of("click"), host_of("3.14"), host_of("e.g.")
    (None, None, None)
    """
    text = text.strip("<>()[]{}\"'.,;:!? ")[:LONGEST_LINK]
    text = text.partition("://")[2] or text
    for sign in "/?#":
        text = text.partition(sign)[0]
    host = text.rpartition("@")[2].partition(":")[0].lower()
    labels = host.split(".")
    good = len(labels) > 1 and all(label and label.replace("-", "").isalnum() for label in labels)
    return host if good and len(labels[-1]) > 1 and labels[-1].isalpha() else None


def same_host(one: str, other: str) -> bool:
    """Whether two hosts are the same, or one is part of the other.

    >>> same_host("www.bank.example", "bank.example"), same_host("bank.example", "bank.example.evil.example")
    (True, False)
    """
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def shows_another_host(address: str, shown: str) -> bool:
    """Whether the text of a link shows a host, but not that of its address."""
    target = host_of(address)
    hosts = [host for word in html.unescape(shown[:GREETING]).split() if (host := host_of(word)) is not None]
    return bool(hosts) and (target is None or not any(same_host(host, target) for host in hosts))


def address_of(text: str) -> str:
    """The address in a header line, in small letters.

    >>> address_of("Ann Lee <Ann.Lee@Mail.example>"), address_of("ann@mail.example"), address_of("Ann")
    ('ann.lee@mail.example', 'ann@mail.example', 'ann')
    """
    inner = text[:LONGEST_HEADER].rpartition("<")[2].partition(">")[0]
    return inner.strip().lower()


def names_of(text: str) -> set[str]:
    """The names by which a recipient may be addressed: from the display name, and before the @.

    >>> sorted(names_of("Ann Lee <a.lee7@mail.example>"))
    ['ann', 'lee']
    """
    before = " ".join(word.partition("@")[0] for word in text[:LONGEST_HEADER].replace("<", " ").split())
    return {name.casefold() for name in NAME_PARTS.findall(before) if len(name) >= SHORTEST_NAME}


def capitals(words: Sequence[str]) -> float:
    """The share of the words with at least two letters that are written in capital letters."""
    long = [word for word in words if sum(map(str.isalpha, word[:LONGEST_LINK])) > 1]
    return sum(map(str.isupper, long)) / len(long) if long else 0.0


def digest(text: str) -> int:
    """A number that stands for a text, so that a model does not contain addresses."""
    import hashlib  # opens a large library, which only mails need

    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


# ---- the part


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature, the roles whose columns it needs, and the kind of event that it is."""

    name: str
    needs: tuple[str, ...]
    kind: Event = "bernoulli"


FEATURES = (
    Feature("ALL CAPS", (), "gaussian"),
    Feature("links", ("body",), "gaussian"),
    Feature("link differs", ("body",)),
    Feature("sent before", ("body",)),
    Feature("sender known", ("sender",)),
    Feature("reply to another host", ("sender", "reply")),
    Feature("addressed by name", ("to", "body")),
)
SENT_BEFORE, SENDER_KNOWN = "sent before", "sender known"
"""The features that depend on the training mails."""


class CollectedMails(NamedTuple):
    rows: NDArray[np.float32]
    """The features, without those that depend on the training mails."""
    senders: NDArray[np.uint64]
    """A number for each sender; 0 if it is unknown."""
    bodies: NDArray[np.uint64]


class Emails(Part):
    """Features of e-mails in columns with the usual names. Which features there are depends on the columns.

    `ALL CAPS` is the share of words in capital letters, `links` is ln(1 + the number of links), and all others are 0 or
    1. `sender known` and `sent before` mean that the training mails contain at least two mails of this sender, or with
    this text: so it is the same for a training mail, which is one of them, and for a new mail.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = roles_of(columns)
        self.features = [one for one in FEATURES if all(role in self.columns for role in one.needs)]
        self.places = {one.name: place for place, one in enumerate(self.features)}
        self.senders, self.bodies = Counter[int](), Counter[int]()
        self.known = {name: np.zeros(0, np.uint64) for name in (SENDER_KNOWN, SENT_BEFORE) if name in self.places}
        """The numbers of the senders and of the texts that occur often, sorted."""

    def collect(self, batch: Batch) -> CollectedMails:
        size = len(batch)
        texts = {
            role: [Strings.of_arrow(batch.columns[name]).to_pylist() for name in names]
            for role, names in self.columns.items()
        }
        collected = CollectedMails(
            np.zeros((size, self.width), np.float32), np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        )
        for row in range(size):
            self.read(collected, row, {role: [text[row] or "" for text in some] for role, some in texts.items()})
        return collected

    def read(self, collected: CollectedMails, row: int, mail: dict[str, list[str]]) -> None:
        """Compute the features of one mail."""
        pages = [read_page(text) for text in mail.get("body", [])]
        body = [word for page in pages for word in "".join(page.text).split()]
        links = [link for page in pages for link in page.links]
        plain = " ".join(body).lower()
        shown = " ".join(text for _, text in links).lower()
        count = sum(address.lower().startswith(("http:", "https:")) for address, _ in links)
        count += sum(plain.count(start) - shown.count(start) for start in ("http://", "https://"))
        values: dict[str, float] = {
            "ALL CAPS": capitals([*(word for text in mail.get("subject", []) for word in text.split()), *body]),
            "links": math.log1p(max(count, 0)),
            "link differs": any(shows_another_host(address, text) for address, text in links),
        }
        if body:
            collected.bodies[row] = digest(plain)
        sender = address_of(next(filter(None, mail.get("sender", [])), ""))
        if sender:
            collected.senders[row] = digest(sender)
        hosts = [host_of(address_of(text)) for text in mail.get("reply", [])]
        own = host_of(sender)
        values["reply to another host"] = own is not None and any(host and not same_host(own, host) for host in hosts)
        if "to" in mail:
            greeting = {*NAME_PARTS.findall(plain[:GREETING].casefold())}
            values["addressed by name"] = any(names_of(text) & greeting for text in mail["to"])
        for name, place in self.places.items():
            collected.rows[row, place] = values.get(name, 0.0)

    def absorb(self, collected: CollectedMails, labels: NDArray[np.int32] | None = None) -> CollectedMails:
        self.senders.update(collected.senders[collected.senders != 0].tolist())
        self.bodies.update(collected.bodies[collected.bodies != 0].tolist())
        return collected

    def finish(self) -> None:
        counted = {SENDER_KNOWN: self.senders, SENT_BEFORE: self.bodies}
        self.known = {name: often(counted[name]) for name in self.known}

    def held(self) -> int:
        return 100 * (len(self.senders) + len(self.bodies))

    def settle(self) -> None:
        self.senders, self.bodies = Counter(), Counter()

    def refine(self, draft: CollectedMails) -> NDArray[np.float32]:
        rows = draft.rows.copy()
        for name, numbers in ((SENDER_KNOWN, draft.senders), (SENT_BEFORE, draft.bodies)):
            if name in self.known:
                rows[:, self.places[name]] = np.isin(numbers, self.known[name])
        return rows

    def transform(self, batch: Batch) -> NDArray[np.float32]:
        return self.refine(self.collect(batch))

    @property
    def width(self) -> int:
        return len(self.features)

    def name(self, number: int) -> str:
        return f"email:{self.features[number].name}"

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        return joined([Group(one.kind, i, i + 1) for i, one in enumerate(self.features)])

    def save(self) -> Saved:
        return Saved(arrays={name.replace(" ", "_"): numbers for name, numbers in self.known.items()})

    def take(self, contents: Contents) -> None:
        for name in self.known:
            numbers = contents.array(name.replace(" ", "_"), np.uint64, None)
            if (numbers[1:] <= numbers[:-1]).any() or 0 in numbers[:1]:
                raise damaged(f"the numbers of {name!r} are not sorted")
            self.known[name] = numbers

    def extend(self, other: Emails) -> NDArray[np.int64]:
        self.known = {name: np.union1d(numbers, other.known[name]) for name, numbers in self.known.items()}
        return np.arange(self.width)


def often(counts: Counter[int]) -> NDArray[np.uint64]:
    return np.array(sorted(number for number, count in counts.items() if count >= OFTEN), np.uint64)


def roles_of(columns: Iterable[Column]) -> dict[str, list[str]]:
    """The columns of each role, by their names."""
    role_of = {name: role for role, names in ROLES.items() for name in names}
    found: dict[str, list[str]] = {}
    for column in columns:
        role = role_of.get(column.name.strip().lower().replace("-", "_").replace(" ", "_"))
        if role is not None and (column.kind == "text" or (column.kind == "categorical" and role not in TEXTS)):
            found.setdefault(role, []).append(column.name)
    return found


def check_columns(columns: Sequence[Column]) -> None:
    """Raise an error if there is no column with the text of a mail, or if features would have the names of words."""
    if not any(role in TEXTS for role in roles_of(columns)):
        names = ", ".join(name for role in TEXTS for name in ROLES[role])
        known = ", ".join(f"{column.name} ({column.kind})" for column in columns)
        raise SettingsError(
            "email",
            f"needs a text column with one of the names {names}, but the columns are {known}; rename a column, or set "
            "its kind to text",
        )
    if len(columns) > 1 and any(column.name == "email" and column.kind == "text" for column in columns):
        raise SettingsError("email", "makes features with the names of words of the column 'email'; rename the column")
