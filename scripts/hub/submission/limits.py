"""How large a submission may be: checked before anything is read, unpacked or decoded."""

from typing import Final

MAX_BYTES: Final = {"manifest.json": 1 << 20, "outputs.parquet": 200 << 20, "scores.json": 8 << 20}
"""Largest size of each file on the disk. A full run takes about 300 kB, with long answers some MB."""
MAX_UNPACKED: Final = 96 << 20
"""Most bytes that the pages of the outputs may unpack to."""
MAX_IN_MEMORY: Final = 128 << 20
"""Most bytes that the distinct texts of the outputs may take once decoded: four times as many as packed,
if one letter of a text is beyond the usual ones."""
MAX_FOOTER: Final = 64 << 10
"""Largest footer of the Parquet file."""
MAX_ROW_GROUPS: Final = 100
MAX_PAGES: Final = 100_000
MAX_REPEATS: Final = 20
"""How often a prompt may be asked."""
MAX_CHARACTERS: Final = 20_000
"""Longest answer. A longer one is cut there when a submission is built, and counts as cut off."""
MAX_NAME: Final = 200
"""Longest name of a model or provider."""
MAX_SETTINGS: Final = 100_000
"""Most bytes of the settings, as JSON."""
MAX_SETTING: Final = 2_000
"""Longest name or text in the settings."""
MAX_SETTING_DEPTH: Final = 5
"""How deep lists and objects of the settings may lie in each other."""
MAX_DEPTH: Final = 12
"""How deep lists and objects of a JSON file may lie in each other."""
MAX_ENTRIES: Final = 100
"""Most entries of a folder that are looked at."""
