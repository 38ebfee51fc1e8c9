"""libsvm text: every spelling, every block size, and every way to be wrong."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers import batches, open_reader, read


def rows(path, **options):
    """[(label, [(index, value), …], line), …] as the reader gives them."""
    out = []
    for batch in batches(path, "libsvm", **options):
        for i in range(batch.rows):
            part = slice(batch.indptr[i], batch.indptr[i + 1])
            out.append((batch.y[i], list(zip(batch.indices[part].tolist(), batch.values[part].tolist())), int(batch.line[i])))
    return out


value = st.one_of(
    st.floats(-1e9, 1e9).map(repr),
    st.integers(-(10**10), 10**10).map(str),
    st.sampled_from(["1", "0", "-1", "+1", ".5", "2."]),
    st.floats(0, 1).map(lambda v: f"{v:.6g}"),
    st.floats(0, 1).map(lambda v: f"{v:.20f}"),
    st.just("1e-310"),
)
feature = st.tuples(st.integers(0, 2**31 - 3), value)
row = st.tuples(value, st.lists(feature, max_size=6))
blank = st.sampled_from([" ", "  ", "\t"])
tail = st.sampled_from(["", " ", "  ", " # a: comment", " #c", "\r"])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(row, blank, tail, st.booleans()), min_size=1, max_size=12),
    st.sampled_from([16, 64, 333, 1 << 16]),
    st.sampled_from([1, 5, 1 << 20]),
    st.booleans(),
    st.booleans(),
)
def test_reads_what_was_written(tmp_path_factory, content, block, gather, newline, intercept):
    lines, expected = [], []
    for (label, features), space, end, empty in content:
        if empty:
            lines.append("")
        expected.append((float(label), [(k + intercept, float(v)) for k, v in features], len(lines) + 1))
        lines.append(label + "".join(f"{space}{k}:{v}" for k, v in features) + end)
    path = tmp_path_factory.mktemp("libsvm") / "data"
    path.write_text("\n".join(lines) + ("\n" if newline else ""))
    got = rows(path, block=block, gather=gather, intercept=intercept)
    if intercept:
        assert all(entry[1][0] == (0, 1.0) for entry in got)
        got = [(y, x[1:], line) for y, x, line in got]
    assert got == expected


# One of each kind of spelling on either side of what is read eight at a time.
SPELLINGS = ["1", "0", "-1", "0.5", ".5", "5.", "-.5", "-5.", "-0", "-0.0", "0.123457", "-0.000123457", "123456.789",
             "9007199254740991", "9007199254740992", "9007199254740993", "999999999999999", "0.12345678901234",
             "0.1234567890123456", "0.12345678901234567", "-0.1234567890123", "1e5", "1.5E-7", "+2", "12345678", "123456789.5",
             "00000000000000.5", "0000000000000005", "1" * 25]  # fmt: skip


@pytest.mark.parametrize("place", range(9))
@pytest.mark.parametrize("unusual", SPELLINGS)
def test_every_spelling_in_every_place(tmp_path, place, unusual):
    """Pairs are read eight at a time: one that is spelled otherwise disturbs none beside it."""
    numbers = ["0.25"] * 19
    numbers[place] = unusual
    text = "1 " + " ".join(f"{10 ** (k % 8) + k}:{v}" for k, v in enumerate(numbers)) + "\n"
    path = tmp_path / "data.svm"
    path.write_text(text + "-1 5:1\n" + text)
    expected = [(10 ** (k % 8) + k, float(v)) for k, v in enumerate(numbers)]
    got = rows(path)
    assert [x for _, x, _ in got] == [expected, [(5, 1.0)], expected]
    assert [np.signbit(v) for _, v in got[0][1]] == [v.startswith("-") for v in numbers]


PORTABLE = """
import sys
from burkholder.machine import processor
from burkholder.streams.readers import batches
assert not processor.has("avx512bw")
for batch in batches(sys.argv[1], "libsvm"):
    print(batch.indices.tolist(), [v.hex() for v in batch.values.tolist()], batch.y.tolist())
"""


def test_any_processor_reads_the_same(tmp_path):
    """Without the vector instructions of this machine: the portable code, compiled for a plain processor."""
    path = tmp_path / "data.svm"
    rng = np.random.default_rng(0)
    lines = [" ".join(["1", *(f"{k + 1}:{v}" for k, v in enumerate(rng.permutation(SPELLINGS)[: k % 25]))]) for k in range(60)]
    path.write_text("\n".join(lines) + "\n")
    expected = [(batch.indices.tolist(), [v.hex() for v in batch.values.tolist()], batch.y.tolist())
                for batch in batches(path, "libsvm")]  # fmt: skip
    plain = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "BURKHOLDER_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PORTABLE, path], env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [" ".join(map(str, parts)) for parts in expected]


def test_agrees_with_scikit_learn(tmp_path):
    datasets = pytest.importorskip("sklearn.datasets")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 40)) * (rng.random((500, 40)) < 0.3)
    path = tmp_path / "data.svm"
    datasets.dump_svmlight_file(x, rng.integers(0, 2, 500), str(path), zero_based=False)
    theirs, labels = datasets.load_svmlight_file(str(path), n_features=40)
    ours = rows(path)
    assert [y for y, _, _ in ours] == labels.tolist()
    for i, (_, features, _) in enumerate(ours):
        assert features == [(k + 1, v) for k, v in zip(theirs[i].indices.tolist(), theirs[i].data.tolist())]


def test_memory_is_reused(tmp_path):
    path = tmp_path / "long.svm"
    path.write_text("1 3:0.25 9:1\n-1 2:7\n" * 20000)
    reader = open_reader(path, block=1 << 12, gather=1 << 12)
    first = None
    count = 0
    for batch in reader:
        first = batch if first is None else first
        assert np.shares_memory(first.values, batch.values) and np.shares_memory(first.indices, batch.indices)
        count += batch.rows
    assert count == 40000 and reader.block == 1 << 12 and reader.features == 9


def test_query_numbers_are_no_features(tmp_path):
    path = tmp_path / "q"
    path.write_text("2 qid:7 1:0.5 # doc\n1 qid:12345678901 3:1\n")
    assert rows(path) == [(2.0, [(1, 0.5)], 1), (1.0, [(3, 1.0)], 2)]


BAD = {
    "x 1:2": "label 'x'",
    "1 2": "'2' is not a feature",
    "1 a:2": "'a:2' is not a feature",
    "1 2:": "value in '2:'",
    "1 2:x": "value in '2:x'",
    "1 2:1:3": "value in '2:1:3'",
    "1 99999999999:1": "above",
    "1 -2:1": "is not a feature",
    "1 2:nan": "value",
    "1 2:inf": "value",
    "1 2:1e999": "value",
    "nan 1:1": "label",
    "1,2 1:1": "label",
    "1 2.5:1": "feature",
    "1 2147483647:1": "above",
    "1 :5": "feature",
    "1 3:1.5.5": "value",
    "1 3:12345678x": "value",
    "1 3:1.2345678x": "value",
    f"1 3:{'9' * 400}": "not finite",
    f"{'9' * 400} 1:1": "not finite",
}


@pytest.mark.parametrize("block", [16, 1 << 16])
@pytest.mark.parametrize(("line", "words"), BAD.items())
def test_malformed_lines_have_a_place(tmp_path, line, words, block):
    path = tmp_path / "bad.svm"
    path.write_text(f"1 1:1\n\n-1 2:2 3:4\n{line}\n1 5:5\n")
    with pytest.raises(BadLine, match=words) as caught:
        rows(path, block=block)
    assert caught.value.line == 4 and caught.value.path == str(path)
    reader = open_reader(path, skip_bad=True, block=block)
    assert sum(batch.rows for batch in reader) == 3
    assert reader.bad_lines == 1 and reader.bad_examples[0].startswith("line 4: ")
    assert rows(path, skip_bad=True, block=block)[-1] == (1.0, [(5, 5.0)], 5)


@pytest.mark.parametrize("bad", ["wrong", f"1 3:{'9' * 400} 4:1", f"{'9' * 400} 4:1"])
def test_good_rows_before_a_bad_one_are_given_first(tmp_path, bad):
    path = tmp_path / "bad.svm"
    path.write_text(f"1 1:1\n-1 2:2\n{bad}\n1 5:1\n")
    iterator = read(path, format="libsvm")
    assert [next(iterator)[1], next(iterator)[1]] == [1.0, -1.0]
    with pytest.raises(BadLine, match="line 3"):
        next(iterator)


def test_many_bad_lines_are_all_counted(tmp_path):
    path = tmp_path / "bad.svm"
    path.write_text("wrong\n" * 500 + "1 1:1\n" + "1 x\n" * 400)
    reader = open_reader(path, "libsvm", skip_bad=True)
    assert sum(batch.rows for batch in reader) == 1 and reader.bad_lines == 900 and len(reader.bad_examples) == 5


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "   \n"])
def test_files_without_rows_are_refused(tmp_path, text):
    path = tmp_path / "empty.svm"
    path.write_text(text)
    with pytest.raises(BadInput, match="holds no row"):
        rows(path)
    (tmp_path / "bad.svm").write_text("a\nb\n")
    with pytest.raises(BadInput, match="none of its 2 lines"):
        rows(tmp_path / "bad.svm", skip_bad=True)


def test_labels_as_classes(tmp_path):
    path = tmp_path / "classes.svm"
    path.write_text("0 1:1\n1 1:1\n+1 1:2\n")
    assert [y for y, _, _ in rows(path, classes=True)] == [-1.0, 1.0, 1.0]
    path.write_text("1 1:1\n-1 1:1\n3 1:2\n1 1:1\n")
    with pytest.raises(BadLine, match="line 3: the label 3 is not a class"):
        rows(path, classes=True)
    assert [line for _, _, line in rows(path, classes=True, skip_bad=True)] == [1, 2, 4]
    reader = open_reader(path, classes=None)
    assert sum(batch.rows for batch in reader) == 4 and reader.classes is False
