"""The leaderboard: a static site from a folder of submissions."""
