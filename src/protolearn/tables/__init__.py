"""Reading of user files (tables, strings, texts, images and distances) as input for estimators.

Tables need pandas, which comes with the extra ``files``.
"""

from protolearn.tables._dialect import as_labels
from protolearn.tables._preparation import Column, TablePreparation, table_pipeline
from protolearn.tables._reading import (
    ObjectColumn,
    is_picture_folder,
    read_distances,
    read_pictures,
    read_strings,
    read_table,
)

__all__ = [
    "Column",
    "ObjectColumn",
    "TablePreparation",
    "as_labels",
    "is_picture_folder",
    "read_distances",
    "read_pictures",
    "read_strings",
    "read_table",
    "table_pipeline",
]
