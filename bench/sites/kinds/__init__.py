"""The kinds of sites, one file each."""

from bench.sites.kinds.academic import ACADEMIC
from bench.sites.kinds.blog import BLOG
from bench.sites.kinds.calendar import CALENDAR
from bench.sites.kinds.cms import CMS
from bench.sites.kinds.documentation import DOCUMENTATION
from bench.sites.kinds.forum import FORUM
from bench.sites.kinds.jsessionid import JSESSIONID
from bench.sites.kinds.mirrors import MIRRORS
from bench.sites.kinds.news import NEWS
from bench.sites.kinds.rest import REST
from bench.sites.kinds.shop import SHOP
from bench.sites.kinds.soft_404 import SOFT_404
from bench.sites.kinds.tracker import TRACKER
from bench.sites.kinds.wiki import WIKI

ALL = (
    *(FORUM, SHOP, NEWS, WIKI, ACADEMIC, DOCUMENTATION, CMS),
    *(JSESSIONID, CALENDAR, SOFT_404, MIRRORS, REST, TRACKER, BLOG),
)
