"""Every algorithm in plain Python, as in the lectures: the specification, and what the core is tested against.

Nothing here is fast or lazy: each step visits every weight, and the average is the sum of all weight vectors divided by
their number. Vectors are dictionaries from a feature's name to its value. Any numbers will do: with `Fraction`s the
perceptron and MIRA are exact.

>>> spam = {"BIAS": -3, "free": 4, "money": 2}
>>> dot(spam, {"BIAS": 1, "free": 1, "money": 1})
3
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product
from typing import Any, TypeVar

Number = Any  # int, float or Fraction
Vector = Mapping[Hashable, Number]

BIAS = "BIAS"


# ---- vectors


def dot(w: Vector, x: Vector) -> Number:
    """The activation: the sum over features of weight times value."""
    return sum(w.get(feature, 0) * value for feature, value in x.items())


def length2(x: Vector) -> Number:
    return sum(value * value for value in x.values())


def cosine(a: Vector, b: Vector) -> float:
    """Cosine similarity: the dot product over the product of the lengths."""
    return float(dot(a, b) / math.sqrt(length2(a) * length2(b)))


def sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def softmax(scores: Sequence[float]) -> list[float]:
    odds = [math.exp(s - max(scores)) for s in scores]
    return [o / sum(odds) for o in odds]


def cross_entropy(z: float, y: int) -> float:
    """The loss of the probability σ(z) of a yes, when the truth y is 1 or 0."""
    return -math.log(sigmoid(z) if y == 1 else 1 - sigmoid(z))


# ---- tables and images


def one_hot(example: Mapping[str, str | None]) -> dict[str, int]:
    """Each categorical column becomes an indicator of its value.

    >>> one_hot({"make": "asia", "origin": None})
    {'make=asia': 1, 'origin is missing': 1}
    """
    return {f"{name} is missing" if value is None else f"{name}={value}": 1 for name, value in example.items()}


def products(x: Mapping[str, Number], degree: int) -> dict[str, Number]:
    """All products of up to so many features, in which what is curved becomes linear.

    >>> products({"x1": 3, "x2": 5}, 2)
    {'x1': 3, 'x2': 5, 'x1*x1': 9, 'x1*x2': 15, 'x2*x2': 25}
    """
    chosen = (factors for size in range(1, degree + 1) for factors in combinations_with_replacement(x, size))
    return {"*".join(factors): math.prod(x[name] for name in factors) for factors in chosen}


def conjunction(*factors: Mapping[str, Number]) -> dict[str, Number]:
    """Each feature of one column times each of the next.

    >>> conjunction(one_hot({"make": "asia"}), {"weight": 2.5})
    {'make=asia*weight': 2.5}
    """
    return {
        "*".join(names): math.prod(factor[name] for factor, name in zip(factors, names, strict=True))
        for names in product(*factors)
    }


def patches(on: Sequence[Sequence[bool]], size: int) -> dict[str, int]:
    """The squares of an image in which something is on, each named by its upper left corner and its pixels.

    >>> patches([[0, 1, 0], [0, 1, 1]], 2)
    {'patch 0,0 01/01': 1, 'patch 0,1 10/11': 1}
    """
    found = {}
    for row in range(len(on) - size + 1):
        for column in range(len(on[0]) - size + 1):
            square = ["".join("01"[bool(pixel)] for pixel in on[row + i][column : column + size]) for i in range(size)]
            if "1" in "".join(square):
                found[f"patch {row},{column} {'/'.join(square)}"] = 1
    return found


# ---- text


def tokenize(text: str, *, fold: bool = True, signs: bool = False) -> list[str]:
    """Runs of letters, digits and marks of any script, in folded case; each sign is a token too where asked for.

    >>> tokenize("Don't stop, Émile!", signs=True)
    ['don', "'", 't', 'stop', ',', 'émile', '!']
    """
    tokens, word = [], ""
    for character in text + " ":
        kind = unicodedata.category(character)[0]
        shown = character.casefold() if fold else character
        if kind in "LNM":
            word += shown
            continue
        if word:
            tokens.append(word)
            word = ""
        if signs and kind in "PS" and character != "\N{REPLACEMENT CHARACTER}":
            tokens.append(shown)
    return tokens


NEGATIONS = {"cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "without"}
ENDS = set('.,;:!?()[]{}"…—–“”«»。，、；：！？।،؛؟')


def negated(text: str, *, fold: bool = True) -> list[tuple[str, bool]]:
    """Words and signs, each with whether it is negated: a word between a negation and the next punctuation.

    >>> [token for token, is_negated in negated("I don't like it. You do!") if is_negated]
    ['like', 'it']
    """
    found, inside = [], False
    tokens = tokenize(text, fold=fold, signs=True)
    for i, token in enumerate(tokens):
        is_sign = unicodedata.category(token[0])[0] in "PS"
        found.append((token, inside and not is_sign))
        if is_sign:
            inside = inside and token not in ENDS
            continue
        plain = ascii_lower(token)
        after = i >= 2 and tokens[i - 1] in ("'", "’") and ascii_lower(tokens[i - 2]).endswith("n")
        inside = inside or plain in NEGATIONS or (plain == "t" and after)
    return found


def ascii_lower(word: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def mark_negated(text: str, *, fold: bool = True, signs: bool = False) -> list[str]:
    """The tokens, with NOT_ before those that are negated.

    >>> mark_negated("not very good, but cheap")
    ['not', 'NOT_very', 'NOT_good', 'but', 'cheap']
    """
    shown = [(f"NOT_{token}" if inside else token) for token, inside in negated(text, fold=fold)]
    return shown if signs else [token for token in shown if unicodedata.category(token[0])[0] not in "PS"]


def without_capitals(text: str, *, fold: bool = True) -> list[str]:
    """The words that have no capital letter.

    >>> without_capitals("Free money, FREE Money")
    ['money']
    """
    words = [word for word in tokenize(text, fold=False) if all(letter.lower() == letter for letter in word)]
    return ["".join(letter.casefold() for letter in word) if fold else word for word in words]


def runs(tokens: Sequence[str], shortest: int, longest: int) -> list[str]:
    """All runs of `shortest` to `longest` characters of the tokens, with single spaces around them.

    >>> runs(["a", "bc"], 3, 4)
    [' a ', 'a b', ' bc', 'bc ', ' a b', 'a bc', ' bc ']
    """
    line = f" {' '.join(tokens)} " if tokens else ""
    lengths = range(shortest, longest + 1)
    return [line[i : i + n] for n in lengths for i in range(len(line) - n + 1)]


def ngrams(tokens: Sequence[str], shortest: int, longest: int) -> list[str]:
    """All runs of `shortest` to `longest` tokens.

    >>> ngrams(["not", "very", "good"], 1, 2)
    ['not', 'very', 'good', 'not very', 'very good']
    """
    lengths = range(shortest, longest + 1)
    return [" ".join(tokens[i : i + n]) for n in lengths for i in range(len(tokens) - n + 1)]


# ---- lines of files: what is wrong is a ValueError; names are bytes


@dataclass(frozen=True)
class Example:
    """A line that is a row."""

    label: bytes | None
    features: dict[bytes, float]
    importance: float = 1


Read = TypeVar("Read")


def read_lines(chunk: bytes, read: Callable[[bytes], Read | None]) -> tuple[list[Read], list[int]]:
    """What `read` makes of the lines, and the numbers of those that are bad.

    >>> read_lines(b"ham\\tsee you\\nspam\\nspam\\tfree money", read_tab)
    ([(b'ham', b'see you'), (b'spam', b'free money')], [2])
    """
    good, bad = [], []
    for number, line in enumerate(chunk.removesuffix(b"\n").split(b"\n") if chunk else [], start=1):
        try:
            found = read(line.removesuffix(b"\r"))
        except ValueError:
            bad.append(number)
        else:
            if found is not None:
                good.append(found)
    return good, bad


def read_libsvm(line: bytes) -> Example | None:
    """A line of LIBSVM or SVMlight; None where there is nothing but a comment.

    >>> read_libsvm(b"+1 qid:7 3:1 12:-.5 # first")
    Example(label=b'+1', features={b'3': 1.0, b'12': -0.5}, importance=1)
    """
    line = line.lstrip(b" \t")
    if not line or line.startswith(b"#"):
        return None
    label, *rest = re.split(rb"[ \t]", line, maxsplit=1)
    if re.match(rb"([0-9]+|qid):", label):
        raise ValueError("no label")
    pieces = []
    for word in words_of(b"".join(rest).partition(b"#")[0]):
        if re.fullmatch(rb"qid:[0-9]+", word):
            continue
        index, colon, value = word.partition(b":")
        if not colon or not re.fullmatch(rb"[0-9]+", index):
            raise ValueError("not index:value")
        index = index.lstrip(b"0") or b"0"
        if len(index) > 10 or int(index) >= 2**31:
            raise ValueError("index too large")
        pieces.append((index, read_number(value)))
    return Example(label, add_up(pieces))


def read_vw(line: bytes) -> Example | None:
    """A line of Vowpal Wabbit; None where it is blank.

    >>> read_vw(b"yes 2 'tag|a:10 b c:.5 |d e | f")
    Example(label=b'yes', features={b'a^b': 10.0, b'a^c': 5.0, b'd^e': 1.0, b'f': 1.0}, importance=2.0)
    """
    if not line.strip(b" \t"):
        return None
    head, bar, body = line.partition(b"|")
    if not bar:
        raise ValueError("no bar")
    words = words_of(head)
    if words and (words[-1].startswith(b"'") or not head.endswith((b" ", b"\t"))):
        words.pop()
    label, importance = words[0] if words else None, 1.0
    if label is not None and (label.startswith(b"'") or b":" in label):
        raise ValueError("a tag before the end, or costs")
    numbers = [read_number(word) for word in words[1:]]
    if len(numbers) > 2:
        raise ValueError("too many words")
    if numbers:
        importance = numbers[0]
    if importance < 0:
        raise ValueError("negative importance")
    pieces = []
    for part in body.split(b"|"):
        first, *others = re.split(rb"[ \t]", part)
        space, scale = read_named(first, empty=True)
        for word in others:
            if word:
                feature, value = read_named(word)
                pieces.append((space + b"^" + feature if space else feature, scale * value))
    return Example(label, add_up(pieces), importance)


def read_fasttext(line: bytes) -> tuple[bytes | None, bytes]:
    """The label and the text of a line of fastText.

    >>> read_fasttext(b"__label__spam free money")
    (b'spam', b'free money')
    """
    label, text = None, line
    if found := re.match(rb"[ \t]*__label__([^ \t]*)[ \t]*", line):
        label, text = found[1], line[found.end() :]
        if not label:
            raise ValueError("no label")
    if re.search(rb"(^|[ \t])__label__", text):
        raise ValueError("several labels, or not at the start")
    return label, text


def read_tab(line: bytes) -> tuple[bytes | None, bytes] | None:
    """The label before the first tab and the text after it; None where the line is empty.

    >>> read_tab(b'spam\\t"free" money')
    (b'spam', b'"free" money')
    """
    if not line:
        return None
    label, tab, text = line.partition(b"\t")
    if not tab:
        raise ValueError("no tab")
    return label or None, text


def read_table(chunk: bytes, separator: bytes, quote: bytes | None) -> tuple[list[tuple[int, list[bytes]]], list[int]]:
    """The rows of a table, each with the number of the line where it starts, and the numbers of those that are bad.

    >>> read_table(b"a, 'b, ''c'''\\n\\n'd' ,e", b",", b"'")
    ([(1, [b'a', b"b, 'c'"]), (3, [b'd', b'e'])], [])
    """
    rows, bad, line = [], [], 1
    while chunk:
        fields, size = read_row(chunk, separator, quote)
        if fields is None:
            bad.append(line)
        elif fields:
            rows.append((line, fields))
        line += chunk.count(b"\n", 0, size)
        chunk = chunk[size:]
    return rows, bad


def read_row(text: bytes, separator: bytes, quote: bytes | None) -> tuple[list[bytes] | None, int]:
    """The fields of the row at the start of a text, None if it is bad, and its length with the end of its line.

    A space as the separator stands for runs of white space. A blank line has no fields.

    >>> read_row(b"  3.5   'a  b'\\nnext", b" ", b"'")
    ([b'3.5', b'a  b'], 15)
    """
    runs = separator == b" "
    between = b" \t" if runs else separator
    around = b"" if runs else b" \t".replace(separator, b"")
    fields: list[bytes] = []
    good, quoted, at = True, False, 0

    def skip(these: bytes) -> None:
        nonlocal at
        while at < len(text) and text[at] in these:
            at += 1

    def skip_to(these: bytes) -> None:
        nonlocal at
        while at < len(text) and text[at] not in these:
            at += 1

    def skip_return() -> None:
        nonlocal at
        at += text[at : at + 2] in (b"\r", b"\r\n")

    def at_end() -> bool:
        return text[at : at + 1] in (b"", b"\n")

    if runs:
        skip(between)
    while True:
        skip(around)
        start = at
        if quote is not None and text[at : at + 1] == quote:
            quoted = True
            at += 1
            skip_to(quote)
            while text[at : at + 2] == quote + quote:
                at += 2
                skip_to(quote)
            fields.append(text[start + 1 : at].replace(quote + quote, quote))
            good = good and at < len(text)
            at += 1
            skip(around)
            skip_return()
            start = at
            skip_to(between + b"\n")
            good = good and at == start
        else:
            skip_to(between + b"\n")
            field = text[start:at].removesuffix(b"\r") if at_end() else text[start:at]
            fields.append(field.rstrip(around) if around else field)
        if at_end():
            break
        at += 1
        if runs:
            skip(between)
            skip_return()
            if at_end():
                break
    if fields == [b""] and not quoted:
        fields = []
    return fields if good else None, min(at + 1, len(text))


def words_of(line: bytes) -> list[bytes]:
    return [word for word in re.split(rb"[ \t]", line) if word]


def read_number(text: bytes) -> float:
    """A finite number in decimals.

    >>> read_number(b"-2.5e3"), read_number(b".5")
    (-2500.0, 0.5)
    """
    found = re.fullmatch(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
    if not found:
        raise ValueError("not a number")
    value = float(text)
    if math.isinf(value) or (value == 0 and found[1].strip(b"0.")):
        raise ValueError("out of range")
    return value


def read_named(word: bytes, empty: bool = False) -> tuple[bytes, float]:
    """A name and the number after its colon, 1 if there is none; neither need be there where it may be empty.

    >>> read_named(b"height:1.5"), read_named(b"tall")
    ((b'height', 1.5), (b'tall', 1.0))
    """
    name, colon, number = word.partition(b":")
    if not name and not (empty and not colon):
        raise ValueError("no name")
    return name, read_number(number) if colon else 1.0


def add_up(pieces: Iterable[tuple[bytes, float]]) -> dict[bytes, float]:
    """The sum of the values of each feature, in the order met. All values together must be a float of 32 bits.

    >>> add_up([(b"free", 1.0), (b"money", 1.0), (b"free", 2.0)])
    {b'free': 3.0, b'money': 1.0}
    """
    features: dict[bytes, float] = {}
    total = 0.0
    for name, value in pieces:
        features[name] = features[name] + value if name in features else value
        total += abs(value)
    if total >= 2.0**128 - 2.0**103:  # half a step above the largest float
        raise ValueError("too large")
    return features


# ---- the perceptron, as it stands on the board


def perceptron(examples: Sequence[tuple[Vector, int]], passes: int) -> tuple[dict[Hashable, Number], int]:
    """The perceptron for labels -1 and +1 with sign(0) = -1: the weights, and the mistakes of the last pass."""
    w: dict[Hashable, Number] = {}
    mistakes = 0
    for _ in range(passes):
        mistakes = 0
        for x, y in examples:
            guess = 1 if dot(w, x) > 0 else -1
            if guess != y:
                mistakes += 1
                for feature, value in x.items():
                    w[feature] = w.get(feature, 0) + y * value
        if mistakes == 0:
            break
    return w, mistakes


# ---- all online rules, two classes or more


@dataclass
class Tally:
    mistakes: int = 0
    updates: int = 0
    loss: Number = 0


@dataclass
class Learner:
    """One weight vector for each class, all moved by the same steps; see `markone.model.settings` for the settings.

    Two classes are the case in which the first one's vector is held at zero.
    """

    classes: int
    rule: str = "perceptron"
    eta: Number = 1
    schedule: str = "constant"
    C: Number = 1
    penalty: str | None = None
    strength: Number = 0
    tie: str = "error"
    form: str = "label"
    bias: bool = True

    w: dict[int, dict[Hashable, Number]] = field(default_factory=dict)
    total: dict[int, dict[Hashable, Number]] = field(default_factory=dict)
    squares: dict[int, dict[Hashable, Number]] = field(default_factory=dict)
    t: Number = 0

    def __post_init__(self) -> None:
        self.moving = [1] if self.classes == 2 else list(range(self.classes))
        for k in self.moving:
            for vectors in (self.w, self.total, self.squares):
                vectors.setdefault(k, {})

    def scores(self, x: Vector) -> list[Number]:
        return [dot(self.w[k], self.extend(x)) if k in self.moving else 0 for k in range(self.classes)]

    def average(self) -> dict[int, dict[Hashable, Number]]:
        """The mean of the weight vectors after each visit."""
        return {k: {feature: value / self.t for feature, value in self.total[k].items()} for k in self.moving}

    def predict(self, x: Vector) -> int:
        return winner(self.scores(x), range(self.classes), self.tie)

    def learn(self, examples: Iterable[tuple[Vector, int, Number]]) -> Tally:
        """One pass over (features, class, importance)."""
        tally = Tally()
        for x, y, importance in examples:
            if self.rule == "perceptron":
                whole, rest = divmod(importance, 1)
                for h in [1] * int(whole) + ([rest] if rest else []):
                    self.visit(x, y, h, tally)
            elif importance > 0:
                self.visit(x, y, importance, tally)
        return tally

    def visit(self, x: Vector, y: int, h: Number, tally: Tally) -> None:
        x = self.extend(x)
        s = [dot(self.w[k], x) if k in self.moving else 0 for k in range(self.classes)]
        rival = winner(s, [k for k in range(self.classes) if k != y], self.tie)
        margin = s[y] - s[rival]
        wrong = margin < 0 or (margin == 0 and self.is_lost(y, rival))
        rate = self.rate()
        pulls = self.pulls(x, s, y, rival, margin, wrong, h)
        for k, pull in pulls.items():
            for feature, value in x.items():
                self.move(k, feature, rate * pull * value)
        tally.mistakes += wrong
        tally.updates += any(pulls.values())
        tally.loss += h * self.loss(s, y, margin)
        self.t += h
        self.shrink_and_sum(rate, h)

    def extend(self, x: Vector) -> Vector:
        return {**x, BIAS: 1} if self.bias else x

    def is_lost(self, y: int, rival: int) -> bool:
        """Whether a tie between the right class and its rival is a mistake."""
        return {"error": True, "negative": rival < y, "positive": rival > y}[self.tie]

    def rate(self) -> Number:
        if self.rule == "mira" or self.schedule == "adagrad":
            return 1
        if self.schedule == "sqrt":
            return self.eta / math.sqrt(1 + self.t)
        if self.schedule == "inverse":
            return self.eta / (1 + self.eta * self.strength * self.t)
        return self.eta

    def pulls(
        self, x: Vector, s: list[Number], y: int, rival: int, margin: Number, wrong: bool, h: Number
    ) -> dict[int, Number]:
        """How hard the example pulls at the vector of each class."""
        if self.rule == "logistic":
            p = softmax(s)
            return {k: h * ((k == y) - p[k]) for k in self.moving}
        ups_and_downs = {y: 1, rival: -1}
        moved = {k: sign for k, sign in ups_and_downs.items() if k in self.moving}
        if self.rule == "perceptron":
            twice = self.form == "difference" and not (margin == 0 and self.tie == "error")
            pull = h * (2 if twice else 1) if wrong else 0
        elif self.rule == "mira":
            norm2 = len(moved) * length2(x)
            pull = min(h * self.C, max(0, 1 - margin) / norm2) if norm2 else 0
        else:
            pull = h if margin < 1 else 0
        return {k: sign * pull for k, sign in moved.items()}

    def loss(self, s: list[Number], y: int, margin: Number) -> Number:
        if self.rule == "logistic":
            return -math.log(softmax(s)[y])
        return max(0, -margin) if self.rule == "perceptron" else max(0, 1 - margin)

    def move(self, k: int, feature: Hashable, step: Number) -> None:
        if self.schedule == "adagrad":
            self.squares[k][feature] = self.squares[k].get(feature, 0) + step * step
            step *= self.own_rate(k, feature)
        self.w[k][feature] = self.w[k].get(feature, 0) + step

    def own_rate(self, k: int, feature: Hashable) -> Number:
        squares = self.squares[k].get(feature, 0)
        return self.eta / math.sqrt(squares) if squares else 0

    def shrink_and_sum(self, rate: Number, h: Number) -> None:
        """The penalty takes its share of every weight but the bias; then the weights are added to the total."""
        for k in self.moving:
            for feature, v in self.w[k].items():
                ask = self.strength * (self.own_rate(k, feature) if self.schedule == "adagrad" else rate)
                if self.penalty is None or feature == BIAS or ask == 0:
                    after, visited = v, h * v
                elif self.penalty == "l2":
                    # h visits, each dividing by 1 + ask: a geometric series
                    after = v * (1 + ask) ** -h
                    visited = (v - after) / ask
                else:
                    after = math.copysign(max(0, abs(v) - h * ask), v)
                    visited = h * after
                self.w[k][feature] = after
                self.total[k][feature] = self.total[k].get(feature, 0) + visited


def winner(scores: Sequence[Number], among: Iterable[int], tie: str) -> int:
    """The class of highest score: of several the last where ties are positive, else the first."""
    best = max(scores[k] for k in among)
    tied = [k for k in among if scores[k] == best]
    return tied[-1] if tie == "positive" else tied[0]
