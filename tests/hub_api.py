"""The routes of the Hub's stand-in: which function serves which request."""

import re
from typing import TYPE_CHECKING

import hub_committing as committing
import hub_discussions as discussions
import hub_reading as reading
from hub_http import Answer, Call, Route
from hub_store import RefusedError

if TYPE_CHECKING:
    from hub_server import HubServer


def answer(hub: "HubServer", call: Call) -> Answer:
    """Find the route of a request; RefusedError 404 if there is none."""
    for method, pattern, route in ROUTES:
        if method in (call.method, "GET" if call.method == "HEAD" else None) and (
            found := re.fullmatch(pattern, call.path)
        ):
            return route(hub, call, found)
    raise RefusedError(404, f"Not found: {call.method} {call.path}")


_NAME = r"(?P<repo>[^/]+/[^/]+)"
_API = rf"/api/(?P<kind>models/|datasets/|spaces/){_NAME}"
_REV = r"(?P<rev>[^/]+)"
_NUM = r"/discussions/(?P<num>\d+)"
ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("GET", "/api/whoami-v2", reading.whoami),
    ("POST", "/api/repos/create", reading.create),
    ("POST", "/api/validate-yaml", committing.validate_yaml),
    ("GET", rf"{_API}/refs", reading.refs),
    ("POST", rf"{_API}/tag/{_REV}", reading.tag),
    ("DELETE", rf"{_API}/tag/{_REV}", reading.untag),
    ("GET", rf"{_API}/tree/{_REV}(?:/(?P<path>.+))?", reading.tree),
    ("POST", rf"{_API}/paths-info/{_REV}", reading.paths_info),
    ("GET", rf"{_API}/commits/{_REV}", reading.commits),
    ("POST", rf"{_API}/preupload/{_REV}", committing.preupload),
    ("POST", rf"{_API}/commit/{_REV}", committing.commit),
    ("GET", rf"{_API}/discussions", discussions.discussions),
    ("POST", rf"{_API}/discussions", discussions.open_one),
    ("GET", rf"{_API}{_NUM}", discussions.details),
    ("POST", rf"{_API}{_NUM}/(?P<what>comment|status|merge)", discussions.change),
    ("GET", rf"{_API}(?:/revision/{_REV})?", reading.info),
    ("POST", rf"/(?P<kind>datasets/|spaces/|){_NAME}\.git/info/lfs/objects/batch", committing.lfs_batch),
    (
        "PUT",
        rf"/lfs/(?P<kind>models/|datasets/|spaces/){_NAME}/(?P<oid>[0-9a-f]{{64}})",
        committing.lfs_upload,
    ),
    ("POST", rf"/lfs/(?P<kind>models/|datasets/|spaces/){_NAME}/verify", committing.lfs_verify),
    ("GET", rf"/(?P<kind>datasets/|spaces/|){_NAME}/resolve/{_REV}/(?P<path>.+)", reading.resolve),
)
