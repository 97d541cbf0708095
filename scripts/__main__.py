"""`python -m rupeebias` is the command `rupeebias`."""

from .cli.app import main

if __name__ == "__main__":
    main()
