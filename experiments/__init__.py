"""Published experiments run again: our numbers beside the printed ones."""
