"""`report.html` and the summary of a run."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from ovsim.dataset.layout import Settings
from ovsim.dataset.report import page
from ovsim.dataset.run import Summary
from ovsim.dataset.stage import blank, without_file


class Page(HTMLParser):
    """Text, tags that stay open, and addresses that a page loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.loads += [v for k, v in attrs if k in ("src", "href") and v]

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data + "\n"


def summary(*records: dict, sources: int | None = None, **more) -> Summary:
    told = {"dataset": "/d", "unchanged": 0, "vanished": 0, "converted": len(records), "seconds": 2.0, "stopped": False, **more}
    return Summary(sources=len(records) if sources is None else sources, records={r["file"]: r for r in records}, **told)


def record(file: str, **more) -> dict:
    return {**blank(file, Settings()), "seconds": 0.5, "peak_memory": 3 << 20, **more}


def test_the_page_is_whole_escaped_and_loads_nothing():
    evil = '<script>alert("x")</script>'
    got = page(summary(record(f"/a/{evil}", outcome="error", cause=evil, message=evil), record("/a/fine.usda")), {"level": "physx"})
    parsed = Page(got)
    assert parsed.open == []
    assert parsed.loads == []
    assert "<script>" not in got
    assert parsed.text.count(evil) == 5
    assert "url(" not in got


def test_the_page_names_what_is_not_ok_and_counts_the_rest():
    rows = [record(f"/s/{i}.usda", joints=10) for i in range(5)]
    got = Page(page(summary(*rows, record("/s/bad.usda", outcome="timeout", cause="Timeout", message="not finished")), {"level": "physx"})).text
    for text in ("1 of 6 stages are not ok", "bad.usda", "not finished", "Timeout", "50\njoints", "took longer than --timeout", "/s/\n"):
        assert text in got
    well = Page(page(summary(*rows), {"level": "physx"})).text
    assert "Every stage is in the dataset." in well
    assert "Not ok" not in well


def test_a_histogram_counts_every_stage_once():
    rows = [record(f"/s/{i}.usda", seconds=2.0**i) for i in range(4)] + [record("/s/x.usda", seconds=1.5)]
    got = page(summary(*rows), {})
    seconds = got.partition("Seconds a stage")[2].partition("</svg>")[0]
    counts = [int(n) for n in re.findall(r'y="[\d.]+">(\d+)</text>', seconds)]
    assert sum(counts) == 5
    assert counts[0] == 2


def test_a_stopped_run_says_how_much_is_left():
    got = page(summary(record("/s/a.usda", outcome="error"), sources=9, stopped=True), {})
    assert "8 stages were not converted" in got


def test_an_empty_run_has_a_page():
    assert Page(page(summary(), {})).open == []


def test_all_is_well_only_when_every_source_is_in_and_ok():
    assert summary(record("a")).all_well
    assert not summary(record("a"), sources=2).all_well
    assert not summary(record("a", outcome="incomplete")).all_well
    assert summary(record("a"), record("b", outcome="error")).outcomes() == {"error": 1, "ok": 1}


def test_files_are_named_from_their_common_directory_and_once():
    rows = [record(f"/a/b/{n}", outcome="error", message=f"/a/b/{n} does not exist; give a file") for n in ("c/x.usda", "d/y.usda")]
    got = Page(page(summary(*rows), {})).text.splitlines()
    assert got.count("/a/b/") == 1
    assert got.count("c/x.usda") == 2  # among what is not ok, and among the slowest
    assert got.count("does not exist; give a file") == 2
    assert Page(page(summary(record("s3://one/a.usda"), record("/b.usda")), {})).text.count("s3://one/a.usda") == 1


def test_bins_are_twelve_at_most_and_the_lowest_holds_what_is_below():
    got = page(summary(record("/s/a.usda", seconds=1e-6), record("/s/b.usda", seconds=1e-3), record("/s/c.usda", seconds=100.0)), {})
    seconds = got.partition("Seconds a stage")[2].partition("</svg>")[0]
    counts = [int(n) for n in re.findall(r'y="[\d.]+">(\d+)</text>', seconds)]
    assert (len(counts), counts[0], counts[-1], sum(counts)) == (12, 2, 1, 3)
    assert "62 ms" in seconds


def test_a_message_names_its_file_once():
    for message, want in (
        ("/a.usda: broken", "broken"),
        ("/a.usda is empty", "is empty"),
        ("no /a.usda", "no /a.usda"),
        ("/a.usdaz: x", "/a.usdaz: x"),
    ):
        assert without_file({"file": "/a.usda", "message": message}) == want
