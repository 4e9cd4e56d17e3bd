"""``python -m protolearn`` is the command ``protolearn``."""

from protolearn.cli import app

if __name__ == "__main__":
    app()
