"""
A table of numbers and categories
=================================

Patients have an age and a blood pressure, but also a sex and smoking habits. After a ``ColumnTransformer`` an LVQ
classifier receives sixteen columns. It can still be interpreted in the eight columns of the table, and in their units.
"""

# %%
# The patients
# ------------
# The data are synthetic: 800 people with a risk that depends on all but one of the columns, and some missing values, as
# is common in such tables.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from protolearn import GMLVQ
from protolearn.lvq import counterfactual, explain, prototype_table
from protolearn.plotting import plot_explanation, plot_model

rng = np.random.default_rng(1)
n = 800
patients = pd.DataFrame(
    {
        "age": rng.integers(30, 81, n),
        "sex": rng.choice(["female", "male"], n),
        "BMI": rng.gamma(40, 0.68, n).round(1),
        "systolic pressure": rng.normal(128, 16, n).round(),
        "cholesterol": rng.normal(205, 38, n).round(),
        "smoking": rng.choice(["never", "former", "current"], n, p=[0.5, 0.3, 0.2]),
        "activity": rng.choice(["low", "moderate", "high"], n, p=[0.4, 0.4, 0.2]),
        "blood group": rng.choice(["0", "A", "AB", "B"], n, p=[0.41, 0.43, 0.05, 0.11]),
    }
)
risk = (
    0.07 * (patients["age"] - 55)
    + 0.6 * (patients["sex"] == "male")
    + 0.10 * (patients["BMI"] - 27)
    + 0.04 * (patients["systolic pressure"] - 128)
    + 0.012 * (patients["cholesterol"] - 205)
    + patients["smoking"].map({"never": -0.4, "former": 0.2, "current": 1.5})
    + patients["activity"].map({"low": 0.8, "moderate": -0.1, "high": -1.0})
)
outcome = np.where(risk + rng.logistic(0, 0.5, n) > 0.6, "event", "none")
for column in ("BMI", "cholesterol", "smoking"):
    patients.loc[rng.random(n) < 0.05, column] = np.nan
patients.head()

# %%
# The model
# ---------
# Numbers are standardized, categories are one-hot encoded, and missing values are imputed.

categories = ["sex", "smoking", "activity", "blood group"]
numbers = [name for name in patients if name not in categories]
columns = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
    (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False)), categories),
)
X, X_test, y, y_test = train_test_split(patients, outcome, stratify=outcome, random_state=0)
pipeline = make_pipeline(columns, GMLVQ()).fit(X, y)
print(f"accuracy on {len(X_test)} other patients: {pipeline.score(X_test, y_test):.2f}")
print(f"columns of the table: {patients.shape[1]}, of the classifier: {pipeline[-1].n_features_in_}")

# %%
# Typical patients
# ----------------
# ``prototype_table`` undoes the scaling and the encoding. For a categorical column, a prototype has its most likely
# category, with its share.

prototype_table(pipeline)

# %%
# Relevances
# ----------
# ``plot_model`` shows the most informative plot of a fitted model or pipeline that needs no samples: here the
# relevances of the features.

plot_model(pipeline)

# %%
# ``explain`` adds up the columns that belong to one feature of the table, so a category has one contribution. The mean
# absolute contribution over all test patients shows what the decisions are based on; the blood group, which is
# unrelated to the risk, comes last.

explanation = explain(pipeline, X_test)
weight = pd.Series(np.abs(explanation.contributions).mean(axis=0), explanation.feature_names).sort_values()

figure, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
ax.barh(weight.index, weight / weight.sum(), color="#0072B2", height=0.65)
ax.xaxis.set_major_formatter("{x:.0%}")
ax.set_xlabel("share of the contributions, mean over the test patients")
ax.spines[["top", "right", "left"]].set_visible(False)
ax.tick_params(left=False)

# %%
# One patient
# -----------
# The same for a single patient who smokes, has a high blood pressure, and is predicted to have an event.

chosen = (explanation.classes == "event") & (X_test["smoking"] == "current") & (X_test["systolic pressure"] > 140)
row = np.flatnonzero(chosen)[1]
patient = X_test.iloc[[row]]
print(patient.T.to_string(header=False))

plot_explanation(explanation, sample=row)

# %%
# Possible changes
# ----------------
# The smallest change to the other class must not involve the age, the sex or the blood group. BMI, pressure and
# cholesterol may only decrease, within bounds; a smoker can only become a former smoker. With ``sparse=True`` as few
# features change as possible, and a category counts as one.

allowed = {
    "fixed": ["age", "sex", "blood group"],
    "decreasing": ["BMI", "systolic pressure", "cholesterol"],
    "bounds": {
        "BMI": (20, None),
        "systolic pressure": (110, None),
        "cholesterol": (140, None),
        "smoking": ["current", "former"],
    },
    "integers": ["systolic pressure", "cholesterol"],
}
for sparse in (False, True):
    print(counterfactual(pipeline, patient, "none", sparse=sparse, **allowed).table())

# %%
# More about such changes: :doc:`plot_lvq_counterfactual`.

plt.show()
