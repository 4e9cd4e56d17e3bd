"""The experiments of Hasenfuss 2009, chapter 3, run again: our numbers beside the printed ones."""
