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

def count_lines(data: bytes) -> int:
    """How many line feeds there are."""

class LogFormat:
    """How a server writes its access log."""

    def __init__(self, before: str, parts: list[tuple[int, str, bool, bool]], base: str, scheme: str, port: str) -> None: ...

    def read(self, data: bytes) -> tuple[Column, Column, Column, Column, Column, Column, Column, Column, Column, int]:
        """
        Whole lines to url, status, size, time and redirect; then the events: what, line, offset and length; last the number of lines.
        """
