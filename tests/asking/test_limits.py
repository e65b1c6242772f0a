"""Which addresses may be asked: range by range, at both edges of each."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING

import pytest

from undust.asking.limits import is_public

if TYPE_CHECKING:
    from collections.abc import Iterator

# The whole registries, entries inside other entries included; and multicast, which has its own registry.
IPV4_REGISTRY = (
    *("0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32"),
    *("192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
    *("192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"),
)
IPV6_REGISTRY = (
    *("::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32"),
    *("2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48"),
    *("2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20"),
    *("5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "3ffe::/16"),
)
# All that is not 2000::/3, block by block (RFC 4291, 2.4), without the two that stand for IPv4 addresses.
OUTSIDE_IPV6 = (
    *("::/96", "::ffff:0:0:0/96", "64:ff9a::/32", "100::/8", "200::/7", "400::/6", "800::/5"),
    *("1000::/4", "4000::/3", "6000::/3", "8000::/3", "a000::/3", "c000::/3", "e000::/4", "f000::/5"),
    *("f800::/6", "fe00::/9"),
)
PUBLIC_IPV4 = ("1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "93.184.216.34", "223.255.255.255")
PUBLIC_IPV6 = ("2000::", "2001:200::1", "2606:4700:4700::1111", "2a00:1450::1", "3ffd::1", "3fff:1000::1")


def edges(network: IPv4Network | IPv6Network) -> tuple[int, int]:
    """Return the first and the last address."""
    return int(network.network_address), int(network.broadcast_address)


def holds(networks: tuple[str, ...], address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address lies in one of the networks."""
    kind = IPv4Network if isinstance(address, IPv4Address) else IPv6Network
    return any(first <= int(address) <= last for first, last in (edges(kind(each)) for each in networks))


def neighbours(registry: tuple[str, ...]) -> Iterator[IPv4Address | IPv6Address]:
    """Give the addresses next to each range that lie in no range at all."""
    for each in registry:
        kind, network = (IPv4Address, IPv4Network(each)) if "." in each else (IPv6Address, IPv6Network(each))
        first, last = edges(network)
        for number in (first - 1, last + 1):
            if 0 <= number < 1 << network.max_prefixlen and not holds(registry, kind(number)):
                yield kind(number)


@pytest.mark.parametrize("network", IPV4_REGISTRY)
def test_special_ipv4(network: str) -> None:
    """No special range is public, at either edge, alone or inside an IPv6 address."""
    for number in edges(IPv4Network(network)):
        address = IPv4Address(number)
        assert not is_public(str(address))
        for wrapped in wrappings(number):
            assert not is_public(str(wrapped)), wrapped


def wrappings(number: int) -> list[IPv6Address]:
    """Return the IPv6 addresses that lead to an IPv4 address."""
    prefixes = ("::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::", "2606:4700::5efe:0:0")
    low = [IPv6Address(int(IPv6Address(prefix)) | number) for prefix in (*prefixes, "2606::200:5efe:0:0")]
    teredo = int(IPv6Address("2001::")) | (number ^ 0xFFFF_FFFF)
    return [*low, IPv6Address(0x2002 << 112 | number << 80 | 1), IPv6Address(teredo)]


@pytest.mark.parametrize("network", IPV6_REGISTRY + OUTSIDE_IPV6)
def test_special_ipv6(network: str) -> None:
    """No special range is public, nor anything outside 2000::/3, at either edge."""
    for number in edges(IPv6Network(network)):
        assert not is_public(str(IPv6Address(number))), IPv6Address(number)


def test_ipv4_beside_a_range_is_public() -> None:
    """A range ends where it ends."""
    found = list(neighbours(IPV4_REGISTRY))
    assert len(found) > 15
    assert [str(address) for address in found if not is_public(str(address))] == []


def test_ipv6_beside_a_range_is_public_inside_2000() -> None:
    """A range inside 2000::/3 ends where it ends; beside a range outside it nothing is public."""
    found = list(neighbours(IPV6_REGISTRY))
    inside = [address for address in found if int(address) >> 125 == 1]
    assert len(inside) > 5
    assert [str(address) for address in found if is_public(str(address))] == list(map(str, inside))


@pytest.mark.parametrize("address", PUBLIC_IPV4 + PUBLIC_IPV6)
def test_public(address: str) -> None:
    """What is handed out to everybody is public, also where it is written as IPv6."""
    assert is_public(address)
    if "." in address:
        number = int(IPv4Address(address))
        public = {str(each) for each in wrappings(number) if is_public(str(each))}
        kinds = ("::ffff:0:0", "64:ff9b::", "2606:4700::5efe:0:0", "2606::200:5efe:0:0")
        expected = {str(IPv6Address(int(IPv6Address(each)) | number)) for each in kinds}
        assert public == expected | {str(IPv6Address(0x2002 << 112 | number << 80 | 1))}


@pytest.mark.parametrize("address", ["2606:4700::1%eth0", "1.1.1.1%1", "1.1.1", "0x7f.0.0.1", "01.1.1.1", ""])
def test_other_texts_are_not_public(address: str) -> None:
    """A zone, and whatever is not an address, is not public."""
    assert not is_public(address)
