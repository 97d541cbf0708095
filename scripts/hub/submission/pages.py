"""The page headers of a Parquet file, read before anything is unpacked.

A footer can lie about sizes, and a few kilobytes can unpack to gigabytes. What a reader really allocates is
what the header before each page says, so those are added up first. Only plain and dictionary encodings are
let through, whose pages are as large as what they decode to.
"""

from typing import Final

from .footer import Footer
from .limits import MAX_PAGES, MAX_UNPACKED
from .thrift import Compact, Struct

_DATA, _DICTIONARY = 0, 2
_ENCODINGS: Final = {_DATA: {0, 2, 3, 8}, _DICTIONARY: {0, 2}}
"""Kinds of page and the encodings that each may have: plain, dictionary indices, run lengths."""
_DETAILS: Final = {_DATA: 5, _DICTIONARY: 7}
"""Field of a page header that holds the rest about its kind."""
_RUN_LENGTHS: Final = 3


def check_pages(data: bytes, footer: Footer) -> None:
    """Check the header of every page of a file.

    Raises ValueError, with a message for people, if they unpack to more than MAX_UNPACKED bytes or are not
    made as `write_answers` makes them.
    """
    n_pages, unpacked = 0, 0
    for chunk in footer.chunks:
        at = chunk.start
        while at < chunk.end:
            reader = Compact(data, at, chunk.end)
            header = reader.struct()
            _check_header(header, footer.n_rows)
            at = reader.at + header[3]
            n_pages, unpacked = n_pages + 1, unpacked + header[2]
            if unpacked > MAX_UNPACKED:
                raise ValueError(f"it unpacks to more than {MAX_UNPACKED >> 20} MB")
            if n_pages > MAX_PAGES:
                raise ValueError(f"it has more than {MAX_PAGES:,} pages")
        if at != chunk.end:
            raise ValueError("its pages do not lie where its footer says")


def _check_header(header: Struct, n_rows: int) -> None:
    kind = header.get(1, -1)
    details = header.get(_DETAILS.get(kind, 0)) if isinstance(kind, int) else None
    if not isinstance(details, dict) or header.keys() - {1, 2, 3, 4, _DETAILS[kind]}:
        raise ValueError("it has a page of another kind than expected")
    if details.get(2) not in _ENCODINGS[kind] or details.keys() - {1, 2, 3, 4, 5} or details.get(5):
        raise ValueError("it has a page that is encoded otherwise than expected")
    if kind == _DATA and (details.get(3), details.get(4)) != (_RUN_LENGTHS, _RUN_LENGTHS):
        raise ValueError("it has a page that is encoded otherwise than expected")
    numbers = [header.get(2), header.get(3), header.get(4, 0), details.get(1)]
    if any(type(number) is not int for number in numbers):
        raise ValueError("the header of a page is damaged")
    if header[2] < 0 or header[3] < 0 or not 0 <= details[1] <= n_rows:
        raise ValueError("the header of a page holds an impossible number")
