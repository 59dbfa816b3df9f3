"""What came out of a batch: `report.html` for people, `results.csv` and `results.jsonl`."""

from __future__ import annotations

import csv
import html
import json
import math
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from atop_backend.batch.manifest import JobRow, Manifest
from atop_backend.batch.thumbnails import before_and_after
from atop_backend.contracts import JobResult
from atop_backend.errors import AtopError

SHOWN = 300  # rows with pictures and failures with logs; the other files hold all

COLUMNS: tuple[str, ...] = (
    "name", "asset", "parts", "prompt", "state", "attempts", "reduction", "error", "message",
    "seconds", "type", "axis_x", "axis_y", "axis_z", "origin_x", "origin_y", "origin_z", "lower",
    "upper", "confidence", "sentence", "folder",
)  # fmt: skip


class Outcome(NamedTuple):
    """A job with its result, if it has one."""

    row: JobRow
    result: JobResult | None


def write_results(manifest: Manifest) -> list[Outcome]:
    """Write results.csv and results.jsonl, a line a job in the order given; all outcomes."""
    outcomes = [Outcome(row, _result(row)) for row in manifest.rows()]
    records = [_record(outcome) for outcome in outcomes]
    table, lines = manifest.out / "results.csv", manifest.out / "results.jsonl"
    with _aside(table).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(records)
    _aside(table).replace(table)
    with _aside(lines).open("w", encoding="utf-8") as stream:
        for record, outcome in zip(records, outcomes, strict=True):
            result = outcome.result.to_dict() if outcome.result else None
            stream.write(json.dumps({**record, "result": result}, allow_nan=False) + "\n")
    _aside(lines).replace(lines)
    return outcomes


def write_report(manifest: Manifest, since: float) -> Path:
    """Write all three files; the path of report.html, which needs no other file.

    Args:
        since: When this run began, seconds since 1970; throughput is counted from then.
    """
    outcomes = write_results(manifest)
    done = [outcome for outcome in outcomes if outcome.result is not None]
    done.sort(key=lambda outcome: outcome.result.best.confidence)  # type: ignore[union-attr]
    failed = [outcome.row for outcome in outcomes if outcome.row.state == "failed"]
    body = [
        _summary(manifest.counts(), [outcome.row for outcome in outcomes], since),
        _errors(failed),
        _answers(done),
        _failures(failed),
        _left_out(manifest.left_out()),
    ]
    path = manifest.out / "report.html"
    _aside(path).write_text(_PAGE.format(body="\n".join(body)), encoding="utf-8")
    _aside(path).replace(path)
    return path


def throughput(rows: Iterable[JobRow], since: float) -> tuple[int, float]:
    """Jobs settled since a time, and how many a minute; the rate is 0 where none was."""
    ends = [row.updated for row in rows if row.state in ("done", "failed") and row.updated >= since]
    if not ends:
        return 0, 0.0
    return len(ends), 60 * len(ends) / max(max(ends) - since, 1e-3)


def duration(seconds: float) -> str:
    """A length of time for people: "2 h 05 min", "40 s"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _result(row: JobRow) -> JobResult | None:
    if row.state != "done":
        return None
    try:
        text = (row.request.out / "result.json").read_text(encoding="utf-8")
        return JobResult.from_dict(json.loads(text))
    except (OSError, ValueError, KeyError, AtopError):
        return None  # its folder was moved or edited since


def _record(outcome: Outcome) -> dict[str, Any]:
    row, result = outcome
    record: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    record |= {
        "name": row.name,
        "asset": str(row.request.asset),
        "parts": ";".join(row.request.parts),
        "prompt": row.request.prompt,
        "state": row.state,
        "attempts": row.attempts,
        "reduction": row.reduction,
        "error": row.error,
        "message": row.message,
        "seconds": round(row.seconds, 3),
        "folder": row.result,
    }
    if result is not None:
        joint = result.joint
        record |= {"type": joint.kind, "lower": joint.lower, "upper": joint.upper}
        record |= {f"axis_{c}": value for c, value in zip("xyz", joint.axis, strict=True)}
        record |= {f"origin_{c}": value for c, value in zip("xyz", joint.origin, strict=True)}
        record |= {"confidence": result.best.confidence, "sentence": result.best.sentence}
    return record


def _summary(counts: dict[str, int], rows: list[JobRow], since: float) -> str:
    settled, rate = throughput(rows, since)
    left = counts["waiting"] + counts["running"]
    times = sorted(row.seconds for row in rows if row.state == "done" and row.seconds)
    cards = [
        (counts["all"], "jobs"),
        (counts["done"], "done"),
        (counts["failed"], "failed"),
        (left, "left"),
        (f"{rate:.2f}" if settled else "–", "a minute"),
        (duration(60 * left / rate) if settled and left else "–", "to go"),
        (f"{times[len(times) // 2]:.1f} s" if times else "–", "median job"),
    ]
    cells = "".join(f"<div><b>{value}</b>{name}</div>" for value, name in cards)
    when = time.strftime("%Y-%m-%d %H:%M:%S")
    return f"<h1>Articulated parts</h1><p>As of {when}.</p><div class=cards>{cells}</div>"


def _errors(failed: list[JobRow]) -> str:
    if not failed:
        return ""
    counts = Counter(row.error for row in failed).most_common()
    rows = "".join(f"<tr><td>{_text(name)}<td class=n>{number}" for name, number in counts)
    return f"<h2>Errors</h2><table><tr><th>class<th>jobs{rows}</table>"


def _answers(done: list[Outcome]) -> str:
    if not done:
        return "<h2>Look at me</h2><p>Nothing is done yet.</p>"
    more = f" The first {SHOWN} of {len(done)}." if len(done) > SHOWN else ""
    rows = "".join(map(_answer, done[:SHOWN]))
    return (
        f"<h2>Look at me</h2><p>Most doubtful first.{more}</p><table><tr><th>before<th>after"
        f"<th>confidence<th>part<th>answer<th>axis<th>range<th class=n>seconds{rows}</table>"
    )


def _answer(outcome: Outcome) -> str:
    row, result = outcome
    assert result is not None
    joint, best = result.joint, result.best
    try:
        pictures = before_and_after(row.request.out, joint)
    except (AtopError, OSError, ValueError):
        pictures = "", ""
    shown = "".join(
        f"<td><img alt={name} src={uri}>" if uri else "<td class=none>no picture"
        for name, uri in zip(("before", "after"), pictures, strict=True)
    )
    axis = ", ".join(f"{value:+.3f}" for value in joint.axis)
    unit, scale = ("°", math.degrees(1)) if joint.kind == "revolute" else ("", 1.0)
    span = f"{joint.lower * scale:.3g}{unit} to {joint.upper * scale:.3g}{unit}"
    level = "low" if best.confidence < 0.5 else "fair" if best.confidence < 0.8 else "high"
    smaller = "<br><small>made smaller for want of memory</small>" if row.reduction else ""
    return (
        f"<tr>{shown}<td class=n><span class={level}>{best.confidence:.0%}</span>"
        f"<td><a href='{_text(row.result)}'>{_text(row.name)}</a><br>"
        f"<small>“{_text(row.request.prompt)}”</small>"
        f"<td>{_text(best.sentence.partition(', confidence')[0])}{smaller}"
        f"<td class=axis>{axis}<td>{span}"
        f"<td class=n>{row.seconds:.1f}"
    )


def _failures(failed: list[JobRow]) -> str:
    if not failed:
        return ""
    more = f"<p>The first {SHOWN} of {len(failed)}.</p>" if len(failed) > SHOWN else ""
    rows = "".join(
        f"<tr><td>{_text(row.name)}<td>{_text(row.error)}<td>{_text(row.message)}"
        f"<td class=n>{row.attempts}<td><details><summary>log</summary>"
        f"<pre>{_text(row.log_tail) or 'empty'}</pre></details>"
        for row in failed[:SHOWN]
    )
    head = "<tr><th>part<th>class<th>message<th class=n>tries<th>log"
    return f"<h2>Failures</h2>{more}<table>{head}{rows}</table>"


def _left_out(assets: list[tuple[str, str]]) -> str:
    if not assets:
        return ""
    more = f" The first {SHOWN}." if len(assets) > SHOWN else ""
    rows = "".join(f"<tr><td>{_text(a)}<td>{_text(reason)}" for a, reason in assets[:SHOWN])
    return (
        f"<h2>Assets without a job</h2><p>{len(assets)} of them.{more}</p>"
        f"<table><tr><th>asset<th>reason{rows}</table>"
    )


def _text(value: str) -> str:
    return html.escape(value, quote=True)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")


_PAGE = """<!doctype html>
<html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>Articulated parts</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem;
  padding: 0 1rem; color: #222; background: #fafafa }}
h1 {{ font-size: 1.6rem; margin: 0 }} h2 {{ font-size: 1.2rem; margin: 2rem 0 .5rem }}
p, small {{ color: #666 }}
.cards {{ display: flex; flex-wrap: wrap; gap: .75rem }}
.cards div {{ background: #fff; border: 1px solid #ddd; border-radius: 8px; padding: .6rem 1rem;
  min-width: 5.5rem; color: #666 }}
.cards b {{ display: block; font-size: 1.4rem; color: #222 }}
table {{ border-collapse: collapse; width: 100%; background: #fff }}
th, td {{ text-align: left; padding: .4rem .6rem; border: 1px solid #e2e2e2; vertical-align: top }}
th {{ background: #f0f0f0; position: sticky; top: 0 }}
.n {{ text-align: right; white-space: nowrap }} .axis {{ white-space: nowrap }}
img {{ width: 128px; height: 128px; display: block }} .none {{ color: #aaa; width: 128px }}
.low, .fair, .high {{ border-radius: 1em; padding: .1em .6em; font-weight: 600 }}
.low {{ background: #fbdada; color: #8c1d1d }} .fair {{ background: #fdf0cc; color: #7a5500 }}
.high {{ background: #dcf2dc; color: #1f6b2a }}
pre {{ white-space: pre-wrap; font-size: 12px; max-width: 40rem }}
</style>
{body}
</html>
"""
