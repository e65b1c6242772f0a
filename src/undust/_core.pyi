"""The core of undust: what must be fast, on Arrow columns."""



ALL_STEPS: int = 255

class Column:
    """A column that the core made; any Arrow library can take it."""

    def __len__(self) -> int: ...

    def __arrow_c_schema__(self) -> object:
        """The column's type, for Arrow libraries."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The column itself, for Arrow libraries."""

def normalize_url(url: str, steps: int = 255) -> str:
    """The normal form of one URL; the text itself if it is none."""

def normalize(urls: object, steps: int = 255, threads: int = 1) -> tuple[Column, int, int]:
    """
    The normal forms of a column, how many changed and how many are no URLs.
    """

def normalize_lines(data: bytes, steps: int = 255, threads: int = 1) -> tuple[bytes, int, int, int]:
    """
    The lines of a text in normal form; how many there are, changed, are no URLs.
    """

def split_url(url: str) -> tuple[str, str, str, str | None, str, str | None, str, str | None, str | None, str] | None:
    """The pieces of a URL as written, or None if it is no URL."""

def tokens(urls: object, style: int) -> tuple[Column, Column, Column]:
    """Offsets, codes and vocabulary of the token view."""

def key_values(urls: object, semicolons: bool) -> tuple[Column, Column, Column, Column, Column, Column]:
    """
    Offsets, keys, values, separators, key names and value texts of the key-value view.
    """

class Suffixes:
    """A public suffix list."""

    def __init__(self, text: bytes) -> None: ...

    def site(self, url: str) -> str | None:
        """The registered domain of a URL, or None if it is no URL."""

    def sites(self, urls: object) -> Column:
        """The registered domain of each URL of a column."""

def read_html(html: bytes, most_tags: int) -> tuple[bytes, list[tuple[bytes, bool, dict[bytes, bytes]]], bytes, bytes, bytes, int]:
    """
    The text of a UTF-8 page that is shown, single spaces between words; its link, meta and base tags: name, whether it stands in the head, attributes with references undecoded; its title, its language, its blocks, 64 bits each, and the number of its words.
    """

def blocks(text: bytes) -> tuple[bytes, int]:
    """
    The blocks of a UTF-8 text without layout, 64 bits each, and the number of its words.
    """

def shingles(text: bytes, words: int) -> Column:
    """The hashes of a UTF-8 text's shingles, sorted, each once."""

def sketch(text: bytes, words: int, size: int, ignored: object = None) -> bytes | None:
    """
    The minima of a UTF-8 text, 32 bits each, over its shingles less the sorted hashes in `ignored`; None if no shingle is left.
    """

class DifferenceBounds:
    """What is looked at in differences, and what of it is told."""

    def __init__(self, *, longest: int, long_name: int, kept_values: int, least_pages: int, most: int) -> None: ...

def differences(urls: object, left: object, right: object, page: object, bounds: DifferenceBounds) -> list[tuple[str, str, list[list[str]]]]:
    """
    The rules between rows of one page that several pages show, those of most pages first: both sides, and some texts
    of each capture and of each text that is forgotten. Pairs of a page stand together.
    """

def components(left: object, right: object, count: int) -> Column:
    """For each of `count` nodes the smallest node that edges lead to."""

class Evidence:
    """What is known of the URLs of a site, and how alike two of them are."""

    def __init__(self, first_block: object, blocks: object, weights: object, number_weights: object, last_key: object, first_title_word: object, title_words: object, title_weights: object, label: object, digest: object, home: object, language: object, sketch_row: object, shows: object, sketches: object, minima: int) -> None: ...

    def calibrate(self, factors: list[float], edges: list[float], ratios: list[float], by_agreement: list[float], singles: list[float], least_words: float, most: float) -> None:
        """
        Sets what a comparison weighs; `singles` are the ratios of equal digests, other digests, equal homes, other homes and other languages.
        """

    def features(self, left: object, right: object) -> object:
        """Seven features of each pair of rows, one pair after the other."""

    def ratios(self, left: object, right: object, of_content: bool = False) -> object:
        """
        The log-likelihood ratio of each pair of rows; with `of_content`, of what they show alone.
        """

class RuleProblem(ValueError):
    """
    What is wrong with a rule, and the mend: the rule's number (-1 where there is one rule only), the field, the column in it.
    """

    rule: int = -1

    field: str = ''

    column: int = 0

IMAGE_MARK: bytes = ...

class Counts:
    """What happened to the URLs of a batch."""

    @property
    def changed(self) -> int: ...

    @property
    def not_urls(self) -> int: ...

    @property
    def skipped(self) -> int:
        """User name, or too long."""

    @property
    def unresolved(self) -> int:
        """No URL repeated within 256 steps and 64 KiB."""

    @property
    def uses(self) -> list[int]:
        """By rule, how many URLs it changed; empty if not asked for."""

class Program:
    """A compiled rule set."""

    def __init__(self, rules: list[dict[str, object]], suffixes: Suffixes) -> None: ...

    @staticmethod
    def mapped(image: memoryview, suffixes: Suffixes) -> Program:
        """
        The program that `image` gave, used where it lies; ValueError if it is not whole.
        """

    def image(self, texts: bytes) -> bytes:
        """The program as the bytes of a file, with texts of the caller's in it."""

    def __len__(self) -> int: ...

    @property
    def texts(self) -> tuple[int, int]:
        """Where these texts are in the image: their place and size."""

    def canonical(self, url: str) -> str:
        """The canonical form of a URL; what is none comes back as it is."""

    def key(self, url: str) -> str:
        """
        The canonical form with the rules for comparing only and the masks applied.
        """

    def batch(self, urls: object, keys: bool = False, threads: int = 1) -> Column:
        """The canonical forms, or keys, of a column."""

    def batch_counted(self, urls: object, keys: bool = False, threads: int = 1, uses: bool = False) -> tuple[Column, Counts]:
        """The same, and what happened."""

    def lines(self, data: bytes, keys: bool = False, threads: int = 1) -> tuple[bytes, int, int, int]:
        """
        The lines of a text in canonical form, or as keys; how many there are, changed, are no URLs.
        """

    def lines_counted(self, data: bytes, keys: bool = False, threads: int = 1, uses: bool = False) -> tuple[bytes, int, Counts]:
        """The same lines, how many there are, and what happened."""

    def explain(self, url: str) -> tuple[str, list[tuple[int, str]], str, list[tuple[int, str]], list[tuple[int, str]], str, str]:
        """
        The normal form; each step, with the rule and the URL after it, up to a keep, a repeated URL or the bounds;
        the canonical form; the steps for comparing likewise, then the masks; the key; and how it ended.
        """

    def step(self, url: str) -> tuple[int | None, str]:
        """
        The first rule that changes or keeps the normal form of a URL, and the URL after it.
        """

    def matches(self, url: str) -> list[tuple[int, str]]:
        """
        Every rule that matches the normal form, whatever stands before it, and what it makes of it.
        """

    def touched(self, urls: object, threads: int = 1) -> tuple[Column, Column]:
        """
        Rows and rules of all pairs in which the rule, alone, makes something else of the row's URL.
        """

    def used(self, urls: object, threads: int = 1) -> tuple[Column, Column]:
        """
        Rows and rules of all pairs in which the rule is on the way from the row's URL to its key.
        """

def parse_rule(text: str) -> tuple[str, str, str | None, list[str], list[str]]:
    """
    One line of text as kind, from, to, when and unless, each in its canonical form.
    """

def check_rule(rule: dict[str, object]) -> None:
    """Raise a RuleProblem if the rule is wrong."""

class KeyIndex:
    """
    The images of a site's URLs and their keys, and what edits would do there.
    """

    def __init__(self, images: object, keys: object, gone: object, key_of_image: object, order: object, starts: object, urls: object, page: object) -> None: ...

    def moves(self, touching: Program, owner: object, candidates: list[Program], rows: object | None) -> tuple[object, object, object, object, object, object, object, object, object]:
        """
        What candidates would do, each alone, to some images or all. Of what moves: where each candidate begins, the
        images, their keys then, whether the site has no page there. Of what meets: where each candidate begins, the
        key that comes under another, that other, the key of both then. And the keys that each candidate saves.
        """

def align_groups(offsets: object, codes: object, groups: object, vocabulary: object, *, typed: bool, by_share: bool, gaps_count: bool, anchored: bool, band: int) -> tuple[Column, Column, Column]:
    """
    The column of each token in the consensus of its group, how many columns each consensus has, and the score of the last two sequences that were aligned in each group. A `band` of 0 is none.
    """

def group_forms(offsets: object, codes: object, groups: object, vocabulary: object, columns: object, widths: object, *, max_forms: int, across_hosts: bool, whole_parts: bool, word_runs: bool) -> tuple[Column, Column, Column, Column, Column, Column, Column, Column]:
    """
    The skeletons of aligned groups: offsets, elements, the skeleton of each group (-1: too many forms, -2: no URLs), the form of each row; and the texts of units: group, unit, form, text.
    """

def pair_rules(offsets: object, keys: object, values: object, linked: object, left: object, right: object) -> tuple[Column, Column, Column, Column]:
    """
    Offsets, keys, contexts and actions of the rules that turn row `left` into row `right`.
    """

def entry_hashes(keys: object, context: object, action: object) -> Column:
    """
    A number for each entry of a rule; the sum of its numbers stands for a rule.
    """

def plain_rule_file(data: bytes, suffixes: Suffixes, most: int) -> tuple[Program, int, int, bool] | None:
    """
    The program of a rule file as undust writes it, where the list of its rules starts and ends, and whether a rule
    is for comparing only, is proposed or needs others. Rules whose needs are not met are off in the program. None
    for any other file, for one that is wrong, and for more rules than `most`.
    """

def count_lines(data: bytes) -> int:
    """How many line feeds there are."""

class LogFormat:
    """How a server writes its access log."""

    def __init__(self, before: str, parts: list[tuple[int, str, bool, bool]], base: str, scheme: str, port: str) -> None: ...

    def read(self, data: bytes) -> tuple[Column, Column, Column, Column, Column, Column, Column, Column, Column, int]:
        """
        Whole lines to url, status, size, time and redirect; then the events: what, line, offset and length; last the number of lines.
        """

class Standing:
    """
    The images of a site's URLs, the pages on them, and what rules would do there.
    """

    def __init__(self, images: object, first_pair: object, page: object, urls: object, is_served: object, is_preferred: object, speaks: object, is_held: object, is_silent: object, sketch: object, sketches: object, minima: int, needed: int, evidence: Evidence | None, row: object, against: float, supports: float) -> None: ...

    def effects(self, program: Program, first: int, together: bool, rows: object | None) -> tuple[list[tuple[int, int, int, int, int, int, int, int, int, float]], object, object, object, object, object, object, object, object, object]:
        """
        What the rules from number `first` on would do, each alone or all together, to some images or all: counts, and
        columns over what each moves, and touches.
        """

    def lost(self) -> int:
        """How many pages lie under another one."""

def likely_substitutions(offsets: object, codes: object, evidence: object, sketches: object, agreeing: int, max_length: int, low_bucket: int, high_bucket: int, min_support: int, memory_bytes: int, threads: int, folder: str) -> tuple[Column, Column, Column, Column, int, int, int, int]:
    """
    Pairs of pieces of token rows that share envelopes: the places of the longer and of the shorter one, their support in small and in larger buckets; how many envelopes there were, how many of them were compared, in how many passes, and bytes written to `folder`. A place is row << 32 | start << 12 | length.
    """

def redundant_substitutions(offsets: object, codes: object, longer: object, shorter: object, high: object, relative: float, absolute: float, window: int) -> Column:
    """
    For each pair 1 if another one with more context and about as much support makes it redundant.
    """

def pages_of_substitutions(offsets: object, codes: object, pages: object, longer: object, shorter: object) -> Column:
    """
    For each pair how many pages have two URLs that it turns into each other; `pages` has the number of the page of each row, below 0 where it is not known.
    """

def parameter_supports(offsets: object, codes: object, evidence: object, sketches: object, agreeing: int, marks: tuple[int, int, int], compared: int) -> tuple[Column, Column, Column, Column, Column]:
    """
    Names of parameters whose values may not matter: the place of the name, of its most frequent value, in how many envelopes, whether it stands more often last than first, and how many pages have two URLs that differ in its value alone; `marks` are the codes of `?`, `&` and `=`.
    """

class PlainRows:
    """Rows of a table that is text, which are changed as bytes."""

    def __len__(self) -> int: ...

    @property
    def cells(self) -> bytes:
        """The URLs as lines."""

    @property
    def end(self) -> int:
        """Where the first row is that is not among them."""

    def write_objects(self, data: bytes, results: bytes, before: bytes, only_changed: bool) -> bytes | None:
        """
        The rows with their results; None if a result has a byte that JSON escapes.
        """

    def write_values(self, data: bytes, results: bytes, before: bytes, delimiter: str, has_quotes: bool, only_changed: bool) -> bytes:
        """The rows with their results."""

def plain_objects(data: bytes, at: int, read: bytes, written: bytes, has_key: bool) -> PlainRows:
    """
    The objects from a place on that are changed as bytes; names as JSON writes them.
    """

def plain_values(data: bytes, at: int, read: int, written: int, width: int, delimiter: str, has_quotes: bool) -> PlainRows:
    """
    The same for delimited text; a new value goes to the end if `written` is -1 or `width`.
    """

class Distinct:
    """
    How many different texts there were, in memory that does not grow with them.
    """

    def __init__(self, kept: int) -> None: ...

    def add(self, text: bytes) -> None:
        """Count one text."""

    def add_lines(self, data: bytes) -> None:
        """Count the lines of a text."""

    def add_column(self, column: object) -> None:
        """Count the texts of a column."""

    @property
    def is_exact(self) -> bool: ...

    @property
    def count(self) -> float: ...

def shared_codes(left: object, right: object) -> int:
    """How many codes two ascending columns of different ones share."""

def meetings(left: object, left_counts: object, right: object, right_counts: object) -> int:
    """
    How many pairs of one from each side are equal, of ascending codes and how often each is there.
    """

def image_pairs(taken: object, own: object, taken_values: object, own_values: object, page: object) -> tuple[int, int, int, int, int]:
    """
    Rows, images, pairs with one image, those of one page, and pages with such pairs.
    """
