"""The same table in every form gives the same rows: text, JSON lines, Parquet, Arrow, frames; dates mean what the calendar says."""

from __future__ import annotations

import io
import json
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burkholder as bk
from burkholder.errors import BadInput, BadLine
from burkholder.learning import dates
from burkholder.streams.readers.csv import _decimal
from burkholder.streams.readers.dates import spelled
from burkholder.streams.readers.reading import Reading

pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
moment = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(lambda when: when.replace(microsecond=0))
RECORD = st.tuples(
    st.one_of(st.none(), st.floats(-1e6, 1e6)),
    st.one_of(st.none(), st.sampled_from(["Rome", "Oslo", "3", "x y"])),
    st.one_of(st.none(), moment),
    st.one_of(st.none(), st.booleans()),
    st.floats(-10, 10),
)


def written(folder: Path, records: list[tuple]) -> dict[str, object]:
    """One table in every form."""
    lines = ["size,city,when,open,y"]
    for size, city, when, opened, y in records:
        fields = (
            "" if size is None else repr(size),
            city or "",
            "" if when is None else when.isoformat(" "),
            "" if opened is None else opened,
        )
        lines.append(",".join(map(str, [*fields, y])))
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    rows = [dict(zip(("size", "city", "when", "open", "y"), record)) for record in records]
    spelled_out = [{**row, "when": None if row["when"] is None else row["when"].isoformat()} for row in rows]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in spelled_out))
    kinds = [("size", pyarrow.float64()), ("city", pyarrow.string()), ("when", pyarrow.timestamp("us")), ("open", pyarrow.bool_())]
    kinds += [("y", pyarrow.float64())]
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(kinds))
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    pyarrow.feather.write_feather(table, folder / "t.feather")
    with pyarrow.ipc.new_stream(folder / "t.arrows", table.schema) as stream:
        stream.write_table(table)
    return {
        **{name: folder / f"t.{name}" for name in ("csv", "jsonl", "parquet", "feather", "arrows")},
        "arrow": table,
        "polars": polars.from_arrow(table),
    }


@given(st.lists(RECORD, min_size=1, max_size=6))
def test_every_form_gives_the_same_rows(tmp_path_factory: pytest.TempPathFactory, records: list[tuple]) -> None:
    import pyarrow.feather
    import pyarrow.parquet  # noqa: F401

    records = [(1.5, "Rome", datetime(2024, 3, 5, 13, 30), True, 1.25), *records]  # so that text can tell what its columns are
    forms = written(tmp_path_factory.mktemp("forms"), records)
    expected = []
    for size, city, when, opened, y in records:
        x = {"size?": 1.0} if size is None else {"size": size}
        x |= {"city?": 1.0} if not city else {f"city={city}": 1.0}
        x |= {"when?": 1.0} if when is None else dict(dates.named("when", when))
        x |= {"open?": 1.0} if opened is None else {"open": float(opened)}
        expected.append((x, y))
    for name, form in forms.items():
        assert list(bk.read(form, target="y", categorical=("city",))) == expected, name
    named = [dict(zip(("size", "city", "when", "open"), record[:4])) for record in records]
    frame, listed = forms["polars"].drop("y"), bk.Learner("adagrad", loss="absolute", intercept=True)  # type: ignore[attr-defined]
    framed = bk.Learner("adagrad", loss="absolute", intercept=True)
    y = [record[4] for record in records]
    assert np.allclose(framed.run(frame, y).predictions, listed.run(named, y).predictions, rtol=1e-9, atol=1e-9)


FORMS = ["{:%Y-%m-%d %H:%M:%S}", "{:%Y-%m-%dT%H:%M:%SZ}", "{:%Y/%m/%d %H:%M:%S}", "{:%d.%m.%Y %H:%M:%S+01:00}", "{:%d %B %Y, %H:%M:%S}"]
FORMS += ["{:%d-%b-%Y %H:%M:%S UTC}", "{:%b %d, %Y %I:%M:%S %p}", "{:%Y-%m-%d %I:%M:%S %p GMT}"]


@given(moment, st.sampled_from(FORMS))
def test_dates_in_text_are_those_of_the_calendar(when: datetime, form: str) -> None:
    when = max(when, datetime(1000, 1, 1))  # strftime does not fill up earlier years
    assert spelled(form.format(when)) == np.datetime64(when, "us")
    assert spelled(form.format(when).replace(":", "-", 1)) is None
    trend, words = dates.many(np.array([when], "datetime64[us]"), True)
    one = dates.named("w", when)
    assert trend[0] == one[0][1] and [f"w={dates.WORDS[word[0]]}" for word in words] == [name for name, _ in one[1:]]
    assert spelled(f"{when.year:04}-{when.month:02}") == (
        np.datetime64(when, "M").astype("datetime64[D]") if 1800 <= when.year < 2200 else None
    )
    assert one[1][0] == f"w=hour {when.hour}" and one[2][0].endswith(f"{when:%A}") and one[3][0].endswith(f"{when:%B}")


@pytest.mark.parametrize(
    "word",
    [
        *("2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-32", "3/5/2024", "2024-01-01 24:00", "12", "1.5", ""),
        *("2024-13", "1234-05", "2024-3", "31 Feb 2024", "Mai 5, 2024", "5 Mar 24", "2024-01-01 13:30 pm", "May", "5-Mar-2024x", "May 5"),
    ],
)
def test_what_is_no_date(word: str) -> None:
    assert spelled(word) is None


def test_a_trend_is_years() -> None:
    first, later = datetime(2000, 1, 1), datetime(2000, 1, 1) + timedelta(days=365.25 * 10)
    assert dates.parts(first)[0] == 0.0 and dates.parts(later)[0] == pytest.approx(10.0, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "mark", "found"),
    [
        ("1,5;2", ";", ","),
        ("1,500;2", ";", "."),
        ("0,500;2", ";", ","),
        ("1,5;2.5", ";", "."),
        ("1,5", ",", "."),
        ("1234,500\t1", "\t", ","),
    ],
)
def test_decimal_commas_where_they_can_be_nothing_else(text: str, mark: str, found: str) -> None:
    assert _decimal(f"a{mark}b\n{text}\n", mark) == found


def test_classes_are_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n1,iris\n2,rose\n3,\n4,tulip\n5,iris\n")
    assert [y for _, y in bk.read(path, target="kind")] == ["iris", "rose", "tulip", "iris"]
    reader = bk.open_reader(path, target="kind", classes=None)
    assert [batch.y.tolist() for batch in reader] == [[0.0, 1.0, 2.0, 0.0]] and reader.class_names == ["iris", "rose", "tulip"]
    path.write_text("a,kind\n1,no\n2,yes\n")
    reader = bk.open_reader(path, target="kind", classes=None)
    assert [batch.y.tolist() for batch in reader] == [[-1.0, 1.0]] and reader.class_names == ["no", "yes"]
    path.write_text("a,kind\n" + "1,no\n2,yes\n" * 300000 + "3,maybe\n")  # beyond the sample
    with pytest.raises(BadLine, match="third class"):
        list(bk.open_reader(path, target="kind", classes=None))


def test_libsvm_of_many_classes(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text("3 1:1\n1 2:1\n2 1:2\n3 1:1\n")
    reader = bk.open_reader(path, classes="any")
    assert [batch.y.tolist() for batch in reader] == [[0.0, 1.0, 2.0, 0.0]] and reader.class_names == ["3", "1", "2"]


def test_files_without_labels(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert [x for x, _ in bk.read(tmp_path / "t.csv", labels="ignored")] == [{"a": 1.0, "b": 2.0}]
    (tmp_path / "t.vw").write_text("|f a\n1 |f b\n")
    assert len(list(bk.read(tmp_path / "t.vw", labels="ignored"))) == 2
    with pytest.raises(BadInput, match="labels"):
        bk.open_reader(tmp_path / "t.csv", labels="none")


@pytest.mark.parametrize("line", ['{"a": [1]}', '{"a": 1', "[1]", '{"b": 2}', '{"a": "x", "y": 1}'])
def test_json_lines_that_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "y": 2}\n' * 5000 + line + "\n")
    with pytest.raises(BadLine, match="line 5001"):
        list(bk.read(path, target="y"))
    reader = bk.open_reader(path, target="y", skip_bad=True)
    assert sum(batch.rows for batch in reader) == 5000 and reader.bad_lines == 1


@pytest.mark.parametrize("word", ["", "NA", "n/a", "?", "null", "None", "#N/A"])
@pytest.mark.parametrize("labels", ["needed", "optional"])
@pytest.mark.parametrize("kinds", ["no yes", "no perhaps yes"])
def test_a_missing_target_is_never_a_class(tmp_path: Path, word: str, labels: str, kinds: str) -> None:
    """Of two classes or several, in every form: left out and counted, or kept without a label where that is asked for."""
    words = [*kinds.split(), word, *kinds.split()]
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{k},{each}\n" for k, each in enumerate(words)))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"a": k, "y": each}) + "\n" for k, each in enumerate(words)))
    table = pyarrow.table({"a": list(range(len(words))), "y": words})
    for form in (tmp_path / "t.csv", tmp_path / "t.jsonl", table):
        reader = bk.open_reader(form, target="y", classes="any", labels=labels)
        y = [label for batch in reader for label in batch.y.tolist()]
        assert reader.class_names == kinds.split(), form
        assert reader.unlabelled == (1 if labels == "needed" else 0), form
        assert [label != label for label in y] == ([each == word for each in words] if labels == "optional" else [False] * (len(words) - 1))


def test_a_class_may_be_called_minus(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n" + "1,+\n2,-\n-,+\n" * 5)
    reader = bk.open_reader(tmp_path / "t.csv", target="y", classes="any")
    batch = next(iter(reader))
    assert reader.class_names == ["+", "-"] and batch.y.tolist() == [-1.0, 1.0, -1.0] * 5 and reader.unlabelled == 0
    assert batch.indices.tolist() == [0, 0, 1] * 5  # a number, a number, a missing one


def test_objects_in_json_are_columns_and_a_few_odd_words_do_not_change_what_a_column_is(tmp_path: Path) -> None:
    rows = [{"user": {"age": k, "city": "Rome"}, "y": 1.0} for k in range(5)]
    rows.append({"user": {"age": "-", "city": None}, "y": 2.0})
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = list(bk.read(tmp_path / "t.jsonl", target="y"))
    assert read[1] == ({"user.age": 1.0, "user.city=Rome": 1.0}, 1.0) and read[5] == ({"user.age?": 1.0, "user.city?": 1.0}, 2.0)
    with open(tmp_path / "t.jsonl", "a") as more:
        more.write('{"user": {"age": "old"}, "y": 1.0}\n')
    with pytest.raises(BadLine, match=r"line 7: text 'old' in the numeric column 'user\.age'"):
        list(bk.read(tmp_path / "t.jsonl", target="y"))


def test_a_model_looks_at_its_own_keys_alone(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"user": {"age": k % 3}, "y": float(k)}) + "\n" for k in range(9)))
    reader = bk.open_reader(tmp_path / "t.jsonl", target="y")
    list(reader)
    reading = Reading.of(reader)
    assert reading is not None
    (tmp_path / "new.jsonl").write_text('{"user": {"age": 1}}\n' * 5000 + '{"user": {"age": 2}, "more": 1}\n')
    assert sum(batch.rows for batch in bk.open_reader(tmp_path / "new.jsonl", reading=reading, labels="ignored")) == 5001
    assert [part.tolist() for part in reading.row({"user": {"age": 2.0}})] == [[0], [2.0]]


def test_an_arrow_stream_from_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = io.BytesIO()
    table = pyarrow.table({"a": [1.0, 2.0], "y": [3.0, 4.0]})
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sink.getvalue())))
    assert list(bk.read("-", target="y")) == [({"a": 1.0}, 3.0), ({"a": 2.0}, 4.0)]


TRUTHS = st.lists(st.sampled_from(["true", "False", "TRUE", "false", ""]), min_size=2, max_size=9).filter(lambda words: any(words))


@given(TRUTHS)
def test_a_column_of_nothing_but_truths_is_numbers(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.mktemp("truths") / "t.csv"
    path.write_text("open,y\n" + "".join(f"{word},{k}\n" for k, word in enumerate(words)))
    means = {"true": {"open": 1.0}, "false": {"open": 0.0}, "": {"open?": 1.0}}
    assert [x for x, _ in bk.read(path, target="y")] == [means[word.lower()] for word in words]
    spelled_out = [{"open?": 1.0} if not word else {f"open={word}": 1.0} for word in words]
    assert [x for x, _ in bk.read(path, target="y", categorical=("open",))] == spelled_out
    path.write_text("open,y\nmaybe,1\n" + "".join(f"{word},{k}\n" for k, word in enumerate(words)))
    assert [x for x, _ in bk.read(path, target="y")][1:] == spelled_out  # another word among them: all are words


def test_truths_as_a_target_are_the_words_of_classes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,left\n1,True\n2,False\n3,True\n")
    assert [y for _, y in bk.read(path, target="left")] == ["True", "False", "True"]


def test_a_model_takes_truths_however_the_next_table_spells_them(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from burkholder.cli.app import app

    rows = [(k % 2 == 0, k % 3, 5.0 * (k % 2)) for k in range(40)]
    (tmp_path / "t.csv").write_text("open,a,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"open": a, "a": b}) + "\n" for a, b, _ in rows))
    pyarrow.parquet.write_table(pyarrow.table({"open": [a for a, _, _ in rows], "a": [b for _, b, _ in rows]}), tmp_path / "t.parquet")
    assert CliRunner().invoke(app, ["learn", str(tmp_path / "t.csv"), "--save", str(tmp_path / "m.bk")]).exit_code == 0
    told = {
        form: CliRunner().invoke(app, ["predict", str(tmp_path / "m.bk"), str(tmp_path / f"t.{form}")]).stdout
        for form in ("csv", "jsonl", "parquet")
    }
    assert told["csv"].count("\n") == 40 and told["csv"] == told["jsonl"] == told["parquet"]
    model = bk.load(tmp_path / "m.bk")
    assert model.predict({"open": "true", "a": 1}) == model.predict({"open": True, "a": 1}) != model.predict({"open": False, "a": 1})


@given(st.lists(st.decimals(-(10**6), 10**6, places=5), min_size=1, max_size=9))
def test_decimals_are_the_numbers_of_their_digits(numbers: list) -> None:
    table = pyarrow.table({"size": pyarrow.array(numbers, pyarrow.decimal128(20, 5)), "y": [1.0] * len(numbers)})
    assert [x["size"] for x, _ in bk.read(table, target="y")] == [float(number) for number in numbers]


DOCUMENTS = {
    "utf-16": ("a,y\n1,2\n".encode("utf-16"), "iconv -f utf-16"),
    "array": (b'[{"a": 1, "y": 2}, {"a": 2, "y": 3}]', "jq -c"),
    "spread": (b'[\n  {"a": 1, "y": 2}\n]\n', "jq -c"),
    "object": (b'{\n  "a": [1, 2]\n}\n', "jq -c"),
    "zip": (b"PK\x03\x04\x14\x00\x00\x00t.csv", "unzip -p"),
    "database": (b"SQLite format 3\x00", "sqlite3 -csv"),
    "pickle": (b"\x80\x04\x95a|b", "to_parquet"),
}


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t.txt"])
@pytest.mark.parametrize("document", DOCUMENTS)
def test_text_that_is_no_table_says_how_to_make_it_one(tmp_path: Path, document: str, name: str) -> None:
    content, remedy = DOCUMENTS[document]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=remedy):
        list(bk.read(tmp_path / name, target="y"))


def test_a_folder_without_arrays_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="this is a folder"):
        list(bk.read(tmp_path, target="y"))


def test_a_lazy_frame_is_a_frame(recwarn: pytest.WarningsRecorder) -> None:
    frame = polars.DataFrame({"a": [1.0, 2.0], "y": [1.0, 0.5]})
    assert list(bk.read(frame.lazy(), target="y")) == list(bk.read(frame, target="y"))
    assert not [warning for warning in recwarn if "LazyFrame" in str(warning.message)]
