"""`python -m burkholder` is the command `burkholder`."""

from burkholder.cli import main

if __name__ == "__main__":
    main()
