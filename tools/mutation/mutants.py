"""Small faults put into our own code on purpose: a test suite is as good as the faults that it notices.

A mutant is one place of one file written otherwise: a comparison turned or moved by one, an operator or a
constant exchanged, a result withheld, a statement left out. Left alone are what no test is meant to see:
docstrings and type hints, the words of messages, and checks that only fail when the code is wrong already
(`assert`, the `strict` of `zip`).
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

LONGEST_WORD = 24
"""Text up to this length without a space is a word that means something to the code."""

COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}


@dataclass(frozen=True, order=True)
class Mutant:
    """One fault: the text from `start` to `end` of a file is written as `new`."""

    path: str
    line: int
    start: int
    end: int
    new: str
    kind: str
    old: str
    context: str
    """The line as it stands, by which a reviewed mutant is known again after it has moved."""
    column: int
    repeat: int = 0
    """How many mutants of the file come before this one that would be known by the same words."""

    @property
    def key(self) -> str:
        """What the mutant is, on one line, wherever that has moved to."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        again = f" #{self.repeat + 1}" if self.repeat else ""
        return f"{self.path} | {self.context} | {self.column}: {old} → {new}{again}"

    def text_of(self, source: str) -> str:
        """Return the file with the fault in it."""
        return f"{source[: self.start]}{self.new}{source[self.end :]}"


def mutants_of(root: Path, folders: Iterable[str]) -> list[Mutant]:
    """Return every mutant of the files in some folders, in a fixed order."""
    found: set[Mutant] = set()
    for folder in folders:
        for file in sorted((root / folder).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            found.update(mutants_in(path, file.read_text(encoding="utf-8")))
    return sorted(found)


def sample(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return some of them, the same for the same seed; a change of the code exchanges what it touches."""
    chosen = sorted(mutants, key=lambda each: (_lot(seed, each.key), each))[:count]
    return sorted(chosen)


def _lot(seed: int, key: str) -> bytes:
    return blake2b(f"{seed} {key}".encode(), digest_size=8).digest()


def mutants_in(path: str, source: str) -> Iterator[Mutant]:
    """Return the mutants of one file that can still be compiled."""
    known = Counter[str]()
    for mutant in written_in(path, source):
        try:
            compile(mutant.text_of(source), path, "exec")
        except SyntaxError:
            continue
        known[mutant.key] += 1
        yield replace(mutant, repeat=known[mutant.key] - 1)


def written_in(path: str, source: str) -> Iterator[Mutant]:
    """Return all that can be written otherwise in one file, be it Python afterwards or not."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        # ast counts columns in bytes
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node, kind, new in _faults(ast.parse(source)):
        start, end = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
        context = lines[node.lineno - 1].strip()
        mutant = Mutant(path, node.lineno, start, end, new, kind, source[start:end], context, node.col_offset)
        if mutant.old != mutant.new:
            yield mutant


def _faults(tree: ast.Module) -> Iterator[tuple[Any, str, str]]:
    for node in _told(tree):
        yield from _faults_at(node)


def _told(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that takes part in what the code does."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_silent(node, child):
                yield from _told(child)


def _is_silent(parent: ast.AST, node: ast.AST) -> bool:
    match node:
        case (
            ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom() | ast.JoinedStr()
        ):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Call(func=ast.Name(id="TypeVar" | "cast")) | ast.Subscript(value=ast.Name(id="Literal")):
            return True
    return (
        isinstance(parent, ast.keyword)
        and parent.arg in {"dtype", "order"}
        and isinstance(node, ast.Constant)
    )


def _faults_at(node: ast.AST) -> Iterator[tuple[Any, str, str]]:
    yield from _faults_of_values(node)
    match node:
        case ast.AugAssign(target, operator, value):
            if type(operator) in OPERATORS:
                new = f"{ast.unparse(target)} {OPERATORS[type(operator)]}= {ast.unparse(value)}"
                yield node, "arithmetic", new
            yield node, "statement", "pass"
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
                yield test, "boolean", f"(not {ast.unparse(test)})"
        case ast.Return(value=ast.AST() as value) if ast.unparse(value) != "None":
            yield node, "result", "return None"
        case ast.Expr(value=ast.Yield() | ast.YieldFrom() | ast.Await()):
            return
        case ast.Expr() | ast.Raise() | ast.Continue() | ast.Break():
            yield node, "statement", "pass"


def _faults_of_values(node: ast.AST) -> Iterator[tuple[Any, str, str]]:
    match node:
        case ast.Compare(left, [operator], [right]):
            for new in COMPARISONS[type(operator)]:
                yield node, "comparison", f"({ast.unparse(left)} {new} {ast.unparse(right)})"
        case ast.BoolOp(operator, values):
            new = " or " if isinstance(operator, ast.And) else " and "
            yield node, "boolean", f"({new.join(f'({ast.unparse(value)})' for value in values)})"
        case ast.UnaryOp(ast.Not(), operand):
            yield node, "boolean", f"({ast.unparse(operand)})"
        case ast.UnaryOp(ast.USub(), operand):
            yield node, "arithmetic", f"({ast.unparse(operand)})"
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            if not _is_text(left) and not _is_text(right):
                new = f"({ast.unparse(left)}) {OPERATORS[type(operator)]} ({ast.unparse(right)})"
                yield node, "arithmetic", f"({new})"
        case ast.Constant(value):
            yield from ((node, "constant", new) for new in _other_constants(value))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _other_constants(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int):
        yield str(value + 1)
        if value > 0:
            yield str(value - 1)
    elif isinstance(value, float):
        yield repr(value * 2 or 1.0)
    elif isinstance(value, str) and 0 < len(value) <= LONGEST_WORD and " " not in value:
        yield repr(value + "_")
    elif isinstance(value, bytes) and 0 < len(value) <= LONGEST_WORD and b" " not in value:
        yield repr(value + b"_")
