import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # lets scikit-learn run its array API checks too
os.environ.setdefault("MPLBACKEND", "Agg")
