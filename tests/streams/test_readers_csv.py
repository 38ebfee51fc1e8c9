"""Delimited text: columns, kinds, quotes, missing values, and clear errors."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers import batches, feature_index, open_reader, read


def write(folder, text, name="data.csv"):
    path = folder / name
    path.write_text(text, newline="")
    return path


word = (
    st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=6)
    .map(str.strip)
    .filter(lambda w: "\n" not in w or w == w.strip())
)
cell = st.one_of(st.none(), st.floats(-1e12, 1e12), st.integers(-(10**6), 10**6))
record = st.tuples(cell, word, st.floats(-100, 100), cell)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(record, min_size=1, max_size=8),
    st.sampled_from([16, 100, 1 << 17]),
    st.sampled_from([1, 5, 1 << 20]),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_agrees_with_the_csv_module(tmp_path_factory, records, block, gather, delimiter, end, quote):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL)
    writer.writerow(["num", "wörd", "target", "n 2"])
    for a, text, y, b in records:
        writer.writerow(["" if a is None else repr(a), text, repr(y), "NA" if b is None else repr(b)])
    path = write(tmp_path_factory.mktemp("csv"), buffer.getvalue())
    options = {"delimiter": delimiter, "categorical": ["wörd"], "block": block, "gather": gather, "header": True}
    expected = []
    for a, text, y, b in records:
        x = {"num?": 1.0} if a is None else {"num": float(a)}
        x[f"wörd={text}" if text else "wörd?"] = 1.0
        x.update({"n 2?": 1.0} if b is None else {"n 2": float(b)})
        expected.append((x, y))
    assert list(read(path, **options)) == expected
    # The same rows as batches: names and indices are two spellings of one thing.
    flat = [(k, v) for batch in batches(path, **options) for k, v in zip(batch.indices.tolist(), batch.values.tolist())]
    place = {"num": 0, "n 2": 2, "num?": 3, "wörd?": 4, "n 2?": 5}
    named = [(place[k] if k in place else 6 + feature_index(k.removeprefix("wörd="), "wörd"), v) for x, _ in expected for k, v in x.items()]
    assert flat == named


def test_the_intercept_comes_first(tmp_path):
    path = write(tmp_path, "a,b,y\n1,2,3\n4,,5\n")
    batch = next(iter(batches(path, intercept=True)))
    assert batch.indices.tolist() == [0, 1, 2, 0, 1, 4] and batch.values.tolist() == [1, 1, 2, 1, 4, 1]
    assert batch.indptr.tolist() == [0, 3, 6] and batch.y.tolist() == [3, 5] and batch.line.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("text", "header", "names"),
    [
        ("a,b,y\n1,2,3\n", True, ["a", "b", "y"]),
        ("M,0.5,3\nF,0.25,4\n", False, ["1", "2", "3"]),
        ("0,1,target\n5,6,1\n7,8,0\n", True, ["0", "1", "target"]),
        ("1,2,3\n4,5,6\n", False, ["1", "2", "3"]),
        ("a,NA,3\nb,2,4\n", False, ["1", "2", "3"]),
        ("\ufeffname,y\nx,1\nz,2\n", True, ["name", "y"]),
        ('"a b","c,d",y\n1,2,3\n', True, ["a b", "c,d", "y"]),
        ("\n\na\ty\n1\t2\n", True, ["a", "y"]),
        ("a;b;y\n1.5;2;3\n", True, ["a", "b", "y"]),
        ("1,5;2,3;3,1\n2,5;1,3;0,1\n", False, ["1", "2", "3"]),
        ("2024-01,2024-02\n1,2\n3,4\n", True, ["2024-01", "2024-02"]),
        ('"a, net";"b, c, d";y\n1;2;3\n', True, ["a, net", "b, c, d", "y"]),
    ],
)
def test_header_and_delimiter_are_found(tmp_path, text, header, names):
    reader = open_reader(write(tmp_path, text), target="-1")
    assert reader.header is header and reader.plan.names == names
    assert sum(batch.rows for batch in reader) == len([line for line in text.split("\n") if line]) - header


def test_header_can_be_told(tmp_path):
    path = write(tmp_path, "7,8\n1,2\n")
    assert list(read(path, target="8", header=True)) == [({"7": 1.0}, 2.0)]
    assert list(read(path, target=-1, header=False)) == [({"1": 7.0}, 8.0), ({"1": 1.0}, 2.0)]
    words = write(tmp_path, "u,v\nx,y\n", "words.csv")
    assert list(read(words, target=-1, header=False, positive="y")) == [({"1=u": 1.0}, -1.0), ({"1=x": 1.0}, 1.0)]


def test_roles_of_columns(tmp_path):
    path = write(tmp_path, "id,zip,w,size,out\n1,8001,2,5,yes\n2,8002,0.5,6,no\n")
    reader = open_reader(path, target="out", positive="yes", weight="w", drop=("id",), categorical=("zip",))
    batch = next(iter(reader))
    assert batch.weight.tolist() == [2.0, 0.5] and batch.y.tolist() == [1.0, -1.0]
    assert batch.indices.tolist() == [4 + feature_index("8001", "zip"), 1, 4 + feature_index("8002", "zip"), 1]
    assert reader.features == 2  # its columns


@pytest.mark.parametrize(
    "token", ["", "NA", "nan", "NaN", "N/A", "null", "None", "?", "  ", "#N/A", "<NA>", "\\N", "-", "--", ".", "–", "—"]
)
def test_missing_numbers_are_zero_with_a_flag(tmp_path, token):
    path = write(tmp_path, f"a,b,y\n1,2,3\n{token},5,6\n")
    assert list(read(path)) == [({"a": 1.0, "b": 2.0}, 3.0), ({"a?": 1.0, "b": 5.0}, 6.0)]
    batch = next(iter(batches(path)))
    assert batch.indices.tolist() == [0, 1, 2, 1]
    path = write(tmp_path, f"a,b,y\n1,2,{token}\n3,4,5\n")
    reader = open_reader(path)
    assert [batch.y.tolist() for batch in reader] == [[5.0]] and (reader.unlabelled, reader.bad_lines) == (1, 0)
    kept = [y for _, y in read(path, labels="optional")]
    assert math.isnan(kept[0]) and kept[1] == 5.0
    with pytest.raises(BadInput, match="none of its 1 rows has a target"):
        list(read(write(tmp_path, f"a,b,y\n1,2,{token}\n")))


BAD = {
    "1,2": "2 fields where there are 3",
    "1,2,3,4": "4 fields where there are 3",
    "1,oops,3": "text 'oops' in the numeric column 'b'",
    "1,2,x": "target 'y' is 'x'",
    "1,inf,3": "text 'inf'",
    "1,1e999,3": "'b'",
    "1,2,-inf": "target 'y'",
    '1,"2"x,3': "closing quote",
    f"1,2,{'9' * 400}": "not finite",
}


@pytest.mark.parametrize("block", [16, 1 << 16])
@pytest.mark.parametrize(("line", "words"), BAD.items())
def test_malformed_lines_have_a_place(tmp_path, line, words, block):
    # The sample that decides on kinds is the first 256 KB: the bad line comes behind it.
    good = "1,2,3\n" * 50_000
    path = write(tmp_path, f"a,b,y\n{good}\n{line}\n4,5,6\n")
    with pytest.raises(BadLine, match=words) as caught:
        for _ in batches(path, block=block):
            pass
    assert caught.value.line == 50_003
    reader = open_reader(path, skip_bad=True, block=block)
    assert sum(batch.rows for batch in reader) == 50_001 and reader.bad_lines == 1


def test_text_in_a_number_column_of_the_sample_makes_it_categorical(tmp_path):
    path = write(tmp_path, "a,b,y\n1,2,3\nx,2,4\n")
    assert list(read(path)) == [({"a=1": 1.0, "b": 2.0}, 3.0), ({"a=x": 1.0, "b": 2.0}, 4.0)]


def test_quoted_line_ends_count_as_lines(tmp_path):
    path = write(tmp_path, 'a,y\n"x\ny",1\n"say ""hi""",2\nz,bad\n')
    rows = read(path)
    assert next(rows) == ({"a=x\ny": 1.0}, 1.0) and next(rows) == ({'a=say "hi"': 1.0}, 2.0)
    with pytest.raises(BadLine, match="line 5"):
        next(rows)


@pytest.mark.parametrize("block", [16, 1 << 16])
def test_an_open_quote_is_refused(tmp_path, block):
    path = write(tmp_path, 'a,y\nu,1\n"v,2\nw,3\n')
    with pytest.raises(BadLine, match=r"line 3: .*quote"):
        list(batches(path, block=block))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "amout"}, r"no column 'amout' in .*Columns: date, store, amount\. Did you mean 'amount'\?"),
        ({}, "say which column .*Columns: date, store, amount"),
        ({"target": "7"}, "no column '7'"),
        ({"target": "-9"}, "no column '-9'"),
        ({"target": "amount", "drop": ("stor",)}, "drop = 'stor'.*Did you mean 'store'"),
        ({"target": "amount", "drop": ("store", "date")}, "no column to learn from"),
        ({"target": "amount", "delimiter": ",,"}, "delimiter"),
    ],
)
def test_wrong_columns_are_explained(tmp_path, options, words):
    path = write(tmp_path, "date,store,amount\n2024-01-01,a,5\n")
    with pytest.raises(BadInput, match=words):
        list(read(path, **options))


@pytest.mark.parametrize("text", ["", "\n \n", "a,b,target\n"])
def test_files_without_rows_are_refused(tmp_path, text):
    with pytest.raises(BadInput, match="holds no row"):
        list(read(write(tmp_path, text)))


def test_two_columns_of_one_name(tmp_path):
    with pytest.raises(BadInput, match="two columns are called 'a'"):
        list(read(write(tmp_path, "a,a,target\n1,2,3\n")))


def test_a_wide_table(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((30, 2000))
    text = ",".join(f"c{i}" for i in range(2000)) + ",y\n" + "".join(",".join(map(repr, row.tolist())) + ",1\n" for row in x)
    batch = next(iter(batches(write(tmp_path, text), block=64)))
    whole = np.concatenate([batch.values.copy() for batch in batches(tmp_path / "data.csv", block=64)])
    assert batch.rows >= 1 and np.array_equal(whole.reshape(30, 2000), x)
