"""The commands, one small module for each; slow imports are deferred until a command runs."""

__all__: list[str] = []
