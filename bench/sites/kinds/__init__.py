"""The kinds of sites, one file each."""

from bench.sites.kinds.academic import ACADEMIC
from bench.sites.kinds.documentation import DOCUMENTATION
from bench.sites.kinds.forum import FORUM
from bench.sites.kinds.news import NEWS
from bench.sites.kinds.shop import SHOP
from bench.sites.kinds.wiki import WIKI

ALL = (FORUM, SHOP, NEWS, WIKI, ACADEMIC, DOCUMENTATION)
