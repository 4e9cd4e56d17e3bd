"""The commands, one small module for each; what needs time to import is imported when a command runs."""

__all__: list[str] = []
