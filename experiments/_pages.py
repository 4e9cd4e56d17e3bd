"""Generator of the pages in docs that compare our results with those of the documents, from the stored results."""

from __future__ import annotations

import importlib
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any

from experiments._report import (
    ADDED,
    BORDER,
    DOCUMENTS,
    JUDGED,
    MISSED,
    NOT_YET,
    ORDER,
    REPRODUCED,
    SKIPPED,
    Result,
    Row,
    cells,
)

__all__ = ["pages"]

SUMMARY, FOLDER = "experiments.md", "experiments"  # in docs
MOST = 10  # experiments with the most missed rows, which the summary names
CAUSES = {  # of misses, by what their remarks say; the first that is found counts
    "ours is better than the printed value": r"^(a little )?better than printed|^ours? .*(better|higher)",
    "a setting that the document does not specify": r"\bnot (all )?(given|known|said|defined)\b|document does not",
    "data other than those of the document": r"\bother (data|pictures|genes|samples)|picture is another|surrogate|"
    r"drawn here|depends on the picture|more objects",
    "the initialization, or too few runs to decide": r"(local|poor|worse) optim|lead to the optimum|start at small|"
    r"start alike|Better starts|all starts|of ten starts|\b(one|single) (run|repeat)\b",
}
OTHERWISE = "none of these, or no remark: the statement fails here, or holds by less than its rule requires"
AIMS = "Those of E34, B09 and B10 are goals of the library; all others are printed in the documents."
AGAIN = """
## How to run them again

| command | what it does |
|---|---|
| `python -m experiments e03 g01` | run the named experiments, or all, store the results, and draw the figures |
| `python -m experiments --missed` | repeat the experiments with missed rows |
| `python -m experiments --check` | repeat a random fifth and compare it with the stored results; nothing is stored |
| `python -m experiments --table` | write these pages from the stored results |

`--minutes 30` limits the total time, estimated from the stored times, and skips experiments that exceed it.
""".splitlines()


def pages(results: Mapping[str, Result]) -> dict[str, str]:
    """Return the summary and the page of each document by their paths in docs; results by the name of their script."""
    groups = {letter: {name: it for name, it in results.items() if name.startswith(letter)} for letter in DOCUMENTS}
    found = {letter: group for letter, group in groups.items() if group}
    return {SUMMARY: _summary(results, found)} | {
        f"{FOLDER}/{_slug(letter)}.md": _document(letter, group) for letter, group in found.items()
    }


def _summary(results: Mapping[str, Result], groups: Mapping[str, Mapping[str, Result]]) -> str:
    """Return the summary page: counts, common causes of misses, and how to repeat the experiments."""
    verdicts = Counter(line["verdict"] for _, line in _judged(results))
    total = sum(verdicts.values())
    lines = [
        "# Experiments",
        *_paragraph(
            f"{len(results)} experiments from published research, run with this library, with {total} "
            f"numbers and statements to compare: {verdicts[REPRODUCED]} are reproduced "
            f"({verdicts[REPRODUCED] / total:.0%}), {verdicts[ORDER]} differ in value but keep the order of the "
            f"methods, {verdicts[BORDER]} are on the border, and {verdicts[MISSED]} are missed "
            f"({verdicts[MISSED] / total:.0%}). {AIMS}"
        ),
        "",
        f"| document | {' | '.join(JUDGED)} | minutes |",
        "|---|" + "--:|" * (len(JUDGED) + 1),
    ]
    for letter, group in groups.items():
        counts = Counter(line["verdict"] for _, line in _judged(group))
        minutes = sum(result["seconds"] for result in group.values()) / 60
        texts = (_link(letter), *(str(counts[verdict]) for verdict in JUDGED), f"{minutes:.0f}")
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join([*lines, *_verdicts(results), *_misses(results), *AGAIN, *_contents(groups)]) + "\n"


def _verdicts(results: Mapping[str, Result]) -> list[str]:
    """Return what the verdicts mean, and how many of them rest on one run."""
    once = Counter(name[:3].upper() for name, line in _judged(results) if _once(line, _script(name, "ONE_RUN", ())))
    places = ", ".join(f"{name} ({count})" for name, count in once.items())
    single = f" A single run (more would take too long) decides {once.total()} verdicts: {places}." if once else ""
    return [
        "",
        "## What the verdicts mean",
        "",
        f"- **{REPRODUCED}**: our value is within the tolerance defined in the script, or the statement holds.",
        f"- **{ORDER}**: the value differs, but the methods rank as in the document.",
        f"- **{BORDER}**: the limit of the tolerance is within one standard error of our mean, so other seeds or",
        "  another processor may lead to a different verdict. This verdict was added later and is not used everywhere.",
        f"- **{MISSED}**: none of these.",
        *_paragraph(
            "The protocol and the rule for each verdict are stated at the top of each script and were fixed before the "
            "full run. The pages of the documents contain only rows that can be compared; the files in "
            "`experiments/results` contain all rows and all settings." + single
        ),
    ]


def _misses(results: Mapping[str, Result]) -> list[str]:
    """Return the common causes of missed rows, by their remarks, and the experiments with most of them."""
    missed = [(name, line) for name, line in _judged(results) if line["verdict"] == MISSED]
    remarks = [_remark(line, dict(_script(name, "REMARKS", ()))) for name, line in missed]
    causes, unexplained = Counter(map(_cause, remarks)), remarks.count("")
    explained = f"all but {unexplained}" if unexplained else "all"
    places = Counter(name for name, _ in missed).most_common(MOST)
    told = ", ".join(f"{_anchored(name)} ({count})" for name, count in places)
    share = sum(count for _, count in places)
    return [
        "",
        "## What the misses have in common",
        *_paragraph(
            f"Missed rows are **bold** on the pages of the documents, and {explained} have a remark on the likely "
            "cause. Each row is assigned to the first cause in this list that its remark mentions:"
        ),
        "",
        "| likely cause | missed rows |",
        "|---|--:|",
        *(f"| {cause} | {causes[cause]} |" for cause in (*CAUSES, OTHERWISE)),
        *_paragraph(f"{share} of the {len(missed)} missed rows are in {len(places)} experiments: {told}."),
    ]


def _contents(groups: Mapping[str, Mapping[str, Result]]) -> list[str]:
    entries = [f"{FOLDER}/{_slug(letter)}" for letter in groups]
    return ["", "```{toctree}", ":hidden:", "", *entries, "```"]


def _document(letter: str, results: Mapping[str, Result]) -> str:
    """Return the page of one document: its rows with something to compare, experiment by experiment."""
    heading, source = DOCUMENTS[letter]
    counts = Counter(line["verdict"] for _, line in _judged(results))
    tally = "; ".join(f"{counts[verdict]} {verdict}" for verdict in JUDGED)
    lines = [
        f"# {heading}",
        *_paragraph(f"{source}: {tally}."),
        *_paragraph(
            "Values are mean ± standard deviation over runs; where no number of runs is given, the value is "
            "deterministic or computed from several others. A letter after a verdict refers to the remarks below the "
            f"table. *{ADDED}* marks variants that were added after the first results, to find the cause of a miss; "
            f"*{NOT_YET}* and *{SKIPPED}* rows have not been run. See [Experiments](../{SUMMARY}) for the meaning of "
            "the verdicts and how to repeat the experiments."
        ),
    ]
    for name, result in results.items():
        lines += _experiment(name, result)
    return "\n".join(lines) + "\n"


def _experiment(name: str, result: Result) -> list[str]:
    """Return the section of one experiment: a table, remarks, and when and how long it ran."""
    remarks, once = dict(_script(name, "REMARKS", ())), _script(name, "ONE_RUN", ())
    letters: dict[str, str] = {}
    rows = []
    for line in filter(_has_something_to_compare, result["rows"]):
        *texts, verdict = cells(line | {"n": 1} if _once(line, once) else line)
        if line["verdict"] == MISSED:
            verdict = f"**{verdict}**"
        if remark := _remark(line, remarks):
            verdict += f" ({letters.setdefault(remark, ascii_lowercase[len(letters)])})"
        rows.append(f"| {' | '.join([*map(_escaped, texts), verdict])} |")
    table = ["", "| quantity | document | ours | runs | verdict |", "|---|---|---|--:|---|", *rows]
    nothing = _paragraph(
        f"There is no printed number to compare with; our results are in `experiments/results/{name[:3]}.json`."
    )
    notes = [f"- ({letter}) {_escaped(remark[0].upper() + remark[1:])}." for remark, letter in letters.items()]
    return ["", f"## {_title(name)}", *(table if rows else nothing), *([""] if notes else []), *notes, *_run(result)]


def _run(result: Result) -> list[str]:
    """Return a sentence on when and how long an experiment ran, and of which code."""
    busy = f" ({result['cpu_seconds'] / 60:.1f} of processor time)" if "cpu_seconds" in result else ""
    code = f", commit {result['commit']}" if result.get("commit") else ""
    minutes = f"{result['seconds'] / 60:.1f} minutes{busy}"
    return _paragraph(f"Run on {result['date']} with version {result['version']}{code}, in {minutes}.")


def _judged(results: Mapping[str, Result]) -> list[tuple[str, Row]]:
    """Return rows that have a verdict, each with the name of its script."""
    return [(name, line) for name, result in results.items() for line in result["rows"] if line["verdict"] in JUDGED]


def _has_something_to_compare(line: Row) -> bool:
    return line["verdict"] in JUDGED or (line["verdict"] in (ADDED, NOT_YET, SKIPPED) and line["document"] is not None)


def _cause(remark: str) -> str:
    """Return the first of the causes that a remark speaks of."""
    return next((cause for cause, phrases in CAUSES.items() if re.search(phrases, remark)), OTHERWISE)


def _slug(letter: str) -> str:
    return DOCUMENTS[letter][0].lower().replace(" ", "_")


def _link(letter: str) -> str:
    return f"[{DOCUMENTS[letter][0]}]({FOLDER}/{_slug(letter)}.md)"


def _title(name: str) -> str:
    return f"{name[:3].upper()} {_script(name, 'TITLE', '')}"


def _anchored(name: str) -> str:
    """Return a link to the section of an experiment."""
    anchor = re.sub(r"[^\w -]", "", _title(name).lower()).replace(" ", "-")
    return f"[{name[:3].upper()}]({FOLDER}/{_slug(name[0])}.md#{anchor})"


def _paragraph(text: str) -> list[str]:
    return ["", *textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)]


def _escaped(text: str) -> str:
    """Return a text for a cell, in which a value and its deviation stay in one line."""
    return re.sub(r"([|*_$])", r"\\\1", text).replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")


def _script(name: str, key: str, default: Any) -> Any:
    """Return a constant of the script of an experiment."""
    return getattr(importlib.import_module(f"experiments.{name}"), key, default)


def _once(line: Row, phrases: Sequence[str]) -> bool:
    """Say whether a row is of a single run: so it is stored, or it has no spread and one of the phrases."""
    return line["n"] == 1 or (line["n"] is None and any(phrase in line["quantity"] for phrase in phrases))


def _remark(line: Row, remarks: Mapping[str, str]) -> str:
    """Return the explanation of a row that is not reproduced: that of the first phrase found in its quantity."""
    if line["verdict"] not in (ORDER, BORDER, MISSED):
        return ""
    return next((text for phrase, text in remarks.items() if phrase in line["quantity"]), "")
