"""What a person says about asking sites decides which hosts are asked, and how."""

from __future__ import annotations

import pytest

from undust.errors import WrongUsage
from undust.jobs.input_files import AskingChoice


def choice(*hosts: str, connect_to: tuple[str, ...] = ()) -> AskingChoice:
    """Return what a person said who named these hosts."""
    return AskingChoice(100, 0.05, 1.0, 10, None, 60.0, "you@example.org", hosts, connect_to)


def test_hosts_are_named_by_option_base_and_connection() -> None:
    """A star stands for all hosts below one."""
    said = choice("WWW.shop.test", "*.docs.test", connect_to=("staging.test=127.0.0.1:8080",))
    expected = {"www.shop.test", "*.docs.test", "staging.test", "a.test"}
    assert said.required_hosts("https://a.test") == expected


def test_a_path_is_not_a_host() -> None:
    """What is refused is quoted."""
    with pytest.raises(WrongUsage, match=r"--ask-host shop\.test/cart is not a host"):
        choice("shop.test/cart").named_hosts(None)


def test_without_a_host_nothing_is_fetched() -> None:
    """A log may name the hosts of others, so a person has to name one."""
    assert choice().named_hosts(None) == frozenset()
    with pytest.raises(WrongUsage, match="no host was named to fetch from"):
        choice().required_hosts(None)


def test_manners_are_what_was_said() -> None:
    """A third of the time for an answer is for each of its stages; no set of hosts means any host."""
    manners = choice().manners(None)
    assert (manners.delay_s, manners.max_fetches, manners.ask_hosts) == (1.0, 10, None)
    assert manners.stage_timeout_s * 3 == manners.answer_timeout_s == 60.0
    assert "you@example.org" in choice().agent
