"""Which IP addresses belong to the public internet: an allow-list.

An address is public if it lies in a range that is handed out for public use and in no range of the IANA
special-purpose address registries (RFC 6890 and its updates). Python's `ipaddress.is_global` works the
other way round, by a list of what is not public, so a range that it does not know counts as public.

Registries: iana-ipv4-special-registry, iana-ipv6-special-registry, ipv6-unicast-address-assignments.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

SPECIAL_IPV4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # "this network" (RFC 791)
            "10.0.0.0/8",  # private use (RFC 1918)
            "100.64.0.0/10",  # shared by customers of one provider (RFC 6598)
            "127.0.0.0/8",  # loopback (RFC 1122)
            "169.254.0.0/16",  # link local (RFC 3927); cloud metadata services
            "172.16.0.0/12",  # private use (RFC 1918)
            "192.0.0.0/24",  # IETF protocol assignments (RFC 6890)
            "192.0.2.0/24",  # documentation (RFC 5737)
            "192.31.196.0/24",  # AS112 (RFC 7535)
            "192.52.193.0/24",  # automatic multicast tunnels (RFC 7450)
            "192.88.99.0/24",  # 6to4 relays, deprecated (RFC 7526)
            "192.168.0.0/16",  # private use (RFC 1918)
            "192.175.48.0/24",  # AS112 (RFC 7534)
            "198.18.0.0/15",  # benchmarks (RFC 2544)
            "198.51.100.0/24",  # documentation (RFC 5737)
            "203.0.113.0/24",  # documentation (RFC 5737)
            "224.0.0.0/4",  # multicast (RFC 5771)
            "240.0.0.0/4",  # reserved (RFC 1112), with the limited broadcast address
        ),
    )
)
"""IPv4 ranges that are not public. The few registered as reachable serve the network itself, not pages."""

PUBLIC_IPV6 = IPv6Network("2000::/3")
"""The only IPv6 range from which global unicast addresses are handed out (RFC 4291, 2.4)."""

SPECIAL_IPV6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # IETF protocol assignments: Teredo, benchmarks, AMT, AS112, ORCHID, DRIP (RFC 2928)
            "2001:db8::/32",  # documentation (RFC 3849)
            "2620:4f:8000::/48",  # AS112 (RFC 7534)
            "3ffe::/16",  # 6bone, returned (RFC 3701)
            "3fff::/20",  # documentation (RFC 9637)
        ),
    )
)
"""Ranges inside `PUBLIC_IPV6` that are not public. All that lies outside it is not public either."""

_LOW_32 = 0xFFFF_FFFF
_MAPPED, _NAT64, _SIX_TO_FOUR = map(IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96", "2002::/16"))
_ISATAP = {0x0000_5EFE, 0x0200_5EFE}
"""The upper half of the interface identifier in front of an IPv4 address (RFC 5214, 6.1)."""


def is_public_address(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is public; IPv6 that leads to an IPv4 address is judged by both."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in SPECIAL_IPV4)
    number = int(address)
    if address in _MAPPED or address in _NAT64:
        # Nothing but an IPv4 address in other words (RFC 4291, 2.5.5.2; RFC 6052, 2.1).
        return is_public_address(IPv4Address(number & _LOW_32))
    if address not in PUBLIC_IPV6 or any(address in network for network in SPECIAL_IPV6):
        return False
    inside = []
    if address in _SIX_TO_FOUR:
        inside.append(number >> 80 & _LOW_32)  # RFC 3056, 2
    if number >> 32 & _LOW_32 in _ISATAP:
        inside.append(number & _LOW_32)
    return all(is_public_address(IPv4Address(each)) for each in inside)
