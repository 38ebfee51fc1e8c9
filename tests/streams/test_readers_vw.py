"""VW text against a plain reading of its grammar, and its malformed lines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers import batches, feature_index, open_reader
from burkholder.streams.readers.hashing import code


def rows(path, **options):
    """[(label, weight, [(index, value), …], line), …] as the reader gives them."""
    out = []
    for batch in batches(path, "vw", **options):
        for i in range(batch.rows):
            part = slice(batch.indptr[i], batch.indptr[i + 1])
            pairs = list(zip(batch.indices[part].tolist(), batch.values[part].tolist()))
            out.append((batch.y[i], batch.weight[i], pairs, int(batch.line[i])))
    return out


name = st.one_of(st.text("abcxyz_.^é", min_size=1, max_size=7), st.integers(0, 10**22).map(str))
number = st.one_of(st.floats(-1e6, 1e6).map(repr), st.integers(0, 999).map(str), st.sampled_from(["1e-3", "+2", ".5"]))
feature = st.tuples(st.one_of(name, st.just("")), st.one_of(st.none(), number)).filter(lambda f: f[0] or f[1])
namespace = st.tuples(st.one_of(name, st.just("")), st.one_of(st.none(), st.sampled_from(["2", "0.5"])), st.lists(feature, max_size=5))
head = st.tuples(number, st.one_of(st.none(), st.floats(0, 9).map(repr)), st.sampled_from(["", "'tag", "tag"]))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(head, st.lists(namespace, min_size=1, max_size=3)), min_size=1, max_size=6),
    st.sampled_from([16, 200, 1 << 16]),
    st.sampled_from([1, 5, 1 << 20]),
    st.sampled_from([4, 18, 30]),
    st.booleans(),
)
def test_reads_what_was_written(tmp_path_factory, content, block, gather, bits, intercept):
    lines, expected = [], []
    mask = (1 << bits) - 1
    for (label, weight, tag), spaces in content:
        text = label + (f" {weight}" if weight else "") + f" {tag}"
        pairs = [(0, 1.0)] if intercept else []
        for space, scale, features in spaces:
            seed, nameless = code(space) if space else 0, 0
            text += f"|{space}" + (f":{scale}" if scale else "")
            for word, value in features:
                text += f" {word}" + (f":{value}" if value else "")
                if word:
                    index = code(word, seed)
                else:
                    index, nameless = seed + nameless, nameless + 1
                pairs.append(((index & mask) + intercept, float(value or 1) * float(scale or 1)))
            text += " "
        lines.append(text)
        expected.append((float(label), float(weight or 1), pairs, len(lines)))
    path = tmp_path_factory.mktemp("vw") / "data"
    path.write_text("\n".join(lines))
    assert rows(path, block=block, gather=gather, bits=bits, intercept=intercept) == expected


def test_the_index_is_the_documented_one(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text("1 |colour red green:2\n-1 2 | 123:0.5\n")
    assert rows(path) == [
        (1.0, 1.0, [(feature_index("red", "colour"), 1.0), (feature_index("green", "colour"), 2.0)], 1),
        (-1.0, 2.0, [(123, 0.5)], 2),
    ]


BAD = {
    "1 a b": "no '|'",
    "|a b": "no label",
    "1|a b": "no label",
    "x |a b": "label 'x'",
    "1 -2 |a b": "importance weight '-2'",
    "1 w |a b": "importance weight 'w'",
    "1 1 0.5 |a b": "initial prediction",
    "1 |a b:c": "value in 'b:c'",
    "1 |a:b c": "scale of namespace 'a:b'",
    "1 |a b:": "value",
    "1 |a b:nan": "value",
    "1 |a b:1e999": "value",
    "1:2 |a b": "label",
}


@pytest.mark.parametrize(("line", "words"), BAD.items())
def test_malformed_lines_have_a_place(tmp_path, line, words):
    path = tmp_path / "bad.vw"
    path.write_text(f"1 |a b\n\n{line}\n-1 |a c\n")
    with pytest.raises(BadLine, match=words.replace("|", r"\|")) as caught:
        rows(path)
    assert caught.value.line == 3
    reader = open_reader(path, skip_bad=True)
    assert sum(batch.rows for batch in reader) == 2 and reader.bad_lines == 1


def test_the_table_must_be_addressable(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text("1 |a b\n")
    with pytest.raises(BadInput, match="bits"):
        rows(path, bits=40)


@pytest.mark.parametrize("line", ["1 |n:1e300 a:1e300", "1 |n:0 a:" + "9" * 400, "1 |n:2 a:" + "9" * 308 + "0.5"])
def test_what_overflows_with_its_scale_is_refused(tmp_path, line):
    path = tmp_path / "a.vw"
    path.write_text(f"-1 | b\n{line}\n")
    with pytest.raises(BadLine, match="line 2"):
        rows(path)
    assert [line for *_, line in rows(path, skip_bad=True)] == [1]
