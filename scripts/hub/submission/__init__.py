"""Submissions: a run as a folder that anyone can check, and sending it to the Hub."""
