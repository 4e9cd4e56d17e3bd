"""
Explore a map
=============

`protolearn.explore.explore` writes a map, its samples and everything needed to inspect them to one page. It works
without a network and without Python, so it can be sent to those who know the samples best. The pages below are live.
"""

# %%
# A static plot
# -------------
# The preprocessing steps are part of the pipeline, so everything is shown in the units of the measurements.

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import SOM, RelationalSOM
from protolearn.core.lattices import hexagonal
from protolearn.datasets import load_words
from protolearn.explore import explore
from protolearn.plotting import plot_class_map

wine = load_wine(as_frame=True)
cultivar = wine.target_names[wine.target]
model = make_pipeline(StandardScaler(), SOM(hexagonal(7, 10))).fit(wine.data)
plot_class_map(model[-1], y=cultivar)

# %%
# The page
# --------
# Choose the coloring of the map. Select cells by a click or by a lasso, and the other panels show which wines are in
# them, how their prototypes differ from the average, and how these wines differ from all others.

folder = Path(mkdtemp())
page = explore(model, wine.data, cultivar, title="A map of wines", path=folder / "wine-map.html")

# %%
# Objects without features
# ------------------------
# The words are described only by their edit distances. Each cell shows the words that are most typical of it.

data = load_words()
meanings = ["three", "seven", "mother", "night", "name", "new"]
chosen = [list(data.meanings).index(meaning) for meaning in meanings]
words = data.words[:, chosen].ravel().tolist()
word_map = RelationalSOM(hexagonal(7, 9), metric="edit", metric_params={"normalize": True}).fit(words)
page = explore(
    word_map, words, meanings * len(data.languages), names=words, title="A map of words", path=folder / "words-map.html"
)

plt.show()
