"""The normalizer, in a real datatrove."""

from __future__ import annotations

import inspect
import pickle
from typing import TYPE_CHECKING

import dill
from datatrove.data import Document
from datatrove.pipeline.dedup import ExactDedupConfig, ExactDedupFilter, ExactDedupSignature, ExactFindDedups
from datatrove.utils.hashing import HashConfig

from tests.integrations.tables import KEYS, RULES, URLS
from undust.integrations.datatrove import UrlNormalizer

if TYPE_CHECKING:
    from pathlib import Path


def test_documents_of_one_key_are_one(tmp_path: Path) -> None:
    """All three steps of datatrove: one document of each key is left, and all without a URL."""
    documents = [
        Document(text="", id=str(number), metadata={} if url is None else {"url": url})
        for number, url in enumerate([*URLS, None, None])
    ]
    config = ExactDedupConfig(UrlNormalizer(RULES).of_document, hash_config=HashConfig(hash_fc="sha1"))
    ExactDedupSignature(f"{tmp_path}/signatures", config).run(iter(documents))
    ExactFindDedups(f"{tmp_path}/signatures", f"{tmp_path}/duplicates", config).run()
    left = list(ExactDedupFilter(f"{tmp_path}/duplicates", config).run(iter(documents)))
    assert sum("url" not in document.metadata for document in left) == 3
    kept = [RULES.compile().key(document.metadata["url"]) for document in left if "url" in document.metadata]
    assert sorted(kept) == sorted({key for key in KEYS if key is not None})


def test_it_travels_to_other_processes() -> None:
    """By pickle and by dill, which datatrove uses; and it says what it returns, which datatrove asks."""
    normalizer = UrlNormalizer(RULES)
    url = next(url for url in URLS if url)
    for copy in (pickle.loads(pickle.dumps(normalizer)), dill.loads(dill.dumps(normalizer))):  # noqa: S301
        assert copy(url) == normalizer(url) == KEYS[0]
    assert inspect.signature(normalizer.of_document).return_annotation is str
