"""The command `rupeebias`: one file a command."""
