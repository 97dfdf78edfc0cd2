import sys
from pathlib import Path

import pytest
from openpyxl import Workbook

from tacit.errors import DataError, MissingPackage
from tacit.sources.norms import Property, read_norms
from tacit.sources.wordings import feature_text
from tests.fetched_data import BUCHANAN, needs_buchanan

CSLB = (
    "domain\tfeature type\tconcept\tfeature\tpf\tfeature alternatives\tparticipant list\n"
    "Animals\tvisual perceptual\tbear\thas fur_hair\t4\thas fur; has hair\t1 2; 3 4\n"
    "Animals\tencyclopaedic\tbear\tis found in forests_woods\t9\tdoes live in woods\t4\n"
    "Animals\tfunctional\tseal_(animal)\tdoes eat\t5\t\t2\n"
)
MCRAE = (
    "Concept\tFeature\tWB_Label\tBR_Label\tProd_Freq\tRank_PF\n"
    "accordion\ta_musical_instrument\tsuperordinate\ttaxonomic\t28\t1\n"
    "accordion\thas_keys\texternal_component\tvisual-form_and_surface\t17\t2\n"
    "accordion\tinbeh_-_produces_music\tentity_behavior\tsound\t6\t3\n"
    "accordion\tused_for_music\tfunction\tfunction\t5\t4\n"
)
MCRAE_READ = (
    Property("accordion", "is a musical instrument", 28, "taxonomic"),
    Property("accordion", "has keys", 17, "visual perceptual"),
    Property("accordion", "does produce music", 6, "other perceptual"),
    Property("accordion", "used for music", 5, "functional"),
)
TABLE = "concept\tfeature\tpf\nbear\thas fur\t3\n"


def write(folder: Path, text: str, name: str = "norms.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_the_cslb_layout_is_read(tmp_path: Path) -> None:
    """Properties keep the file's order, with category, alternatives and who gave each."""
    norms = read_norms(write(tmp_path, CSLB, "norms.dat"))
    assert norms.properties == (
        Property(
            "bear",
            "has fur_hair",
            4,
            "visual perceptual",
            ("has fur", "has hair"),
            (frozenset({"1", "2"}), frozenset({"3", "4"})),
        ),
        Property(
            "bear",
            "is found in forests_woods",
            9,
            "encyclopaedic",
            ("does live in woods",),
            (frozenset({"4"}),),
        ),
        Property("seal_(animal)", "does eat", 5, "functional"),
    )
    assert list(norms.by_concept()) == ["bear", "seal_(animal)"]


def test_the_mcrae_layout_is_read_as_text(tmp_path: Path) -> None:
    norms = read_norms(write(tmp_path, MCRAE, "CONCS_FEATS_concstats_brm.txt"))
    assert norms.properties == MCRAE_READ


def test_the_mcrae_layout_is_read_as_a_workbook(tmp_path: Path) -> None:
    """The first sheet of an .xlsx gives what the text gives, numbers as whole numbers."""
    book = Workbook()
    assert book.active is not None
    for line in MCRAE.splitlines():
        cells = line.split("\t")
        book.active.append([float(cell) if cell.isdigit() else cell for cell in cells])
    book.create_sheet("notes").append(["of another kind"])
    book.save(tmp_path / "norms.xlsx")
    assert read_norms(tmp_path / "norms.xlsx").properties == MCRAE_READ


def test_a_workbook_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingPackage, match=r"tacit-lm\[excel\]"):
        read_norms(write(tmp_path, "", "norms.xlsx"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a_fruit", "is a fruit"),
        ("has_4_legs", "has 4 legs"),
        ("made_of_metal", "made of metal"),
        ("used_for_cooking", "used for cooking"),
        ("beh_-_eats", "does eat"),
        ("beh_-_lays_eggs", "does lay eggs"),
        ("beh_-_is_fast", "is fast"),
        ("beh_-_cannot_fly", "cannot fly"),
        ("inbeh_-_produces_heat", "does produce heat"),
        ("lives_in_swamps", "lives in swamps"),
    ],
)
def test_features_of_mcrae_become_those_of_cslb(written: str, read: str) -> None:
    assert feature_text(written) == read
    assert feature_text(read) == read


def test_any_table_is_read(tmp_path: Path) -> None:
    """CSV, JSONL and a category where there is one; case and order of columns do not matter."""
    csv = write(tmp_path, 'Category,PF,Feature,Concept\nfunctional,4,"is red, hot",pan\n', "n.csv")
    jsonl = write(tmp_path, '{"concept": "pan", "feature": "is red, hot", "pf": 4.0}\n', "n.jsonl")
    assert read_norms(csv).properties == (Property("pan", "is red, hot", 4, "functional"),)
    assert read_norms(jsonl).properties == (Property("pan", "is red, hot", 4),)


def test_a_table_may_write_features_as_mcrae(tmp_path: Path) -> None:
    """Underscores are spaces where no feature has a space; else they join alternatives."""
    header = "concept,feature,pf\n"
    spaces = write(tmp_path, header + "pan,has_a_handle,2\npan,lives_in_kitchens,1\n", "a.csv")
    joined = write(tmp_path, header + "pan,has handle_grip,2\npan,hot_warm,1\n", "b.csv")
    assert [one.feature for one in read_norms(spaces).properties] == [
        "has a handle",
        "lives in kitchens",
    ]
    assert [one.feature for one in read_norms(joined).properties] == ["has handle_grip", "hot_warm"]


def test_a_feature_is_read_once(tmp_path: Path) -> None:
    """An empty feature is skipped; a repeated one stays once, with the higher frequency."""
    rows = "bear\t\t4\nbear\thas fur\t5\nowl\thas fur\t1\nbear\thas fur\t2\n"
    norms = read_norms(write(tmp_path, TABLE + rows))
    assert norms.properties == (Property("bear", "has fur", 5), Property("owl", "has fur", 1))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("bear\tis big\tmany", "has 'many' as its production frequency (pf)"),
        ("bear\tis big\t-1", "has '-1' as its production frequency (pf)"),
        ("bear\tis big\t1.5", "a whole number of at least 0"),
        ("bear\tis big", "has ''"),
        ("\tis big\t1", "has no concept"),
    ],
)
def test_a_malformed_row_is_named_by_file_and_line(tmp_path: Path, row: str, message: str) -> None:
    path = write(tmp_path, f"{TABLE}\n{row}\n")
    with pytest.raises(DataError) as caught:
        read_norms(path)
    assert str(caught.value).startswith(f"{path}, line 4: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("concept\tfeature\tpf\n", "contains no properties; expected rows of concept, feature, pf"),
        ("word\tattribute\tcount\nbear\tis big\t1\n", "which match no supported layout"),
        ("concept\tfeature\nbear\tis big\n", "has no column pf; expected a table (concept,"),
        ("Concept\tBR_Label\nbear\tx\n", "has no column feature, prod_freq; expected the McRae"),
        ("feature type\tpf\nx\t1\n", "has no column concept, feature; expected the CSLB norms"),
        ("concept\tfeature\tpf\tPF\n", "names the column pf twice"),
    ],
)
def test_a_file_of_no_layout_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_norms(write(tmp_path, text))
    assert message in str(caught.value)


def test_files_that_cannot_be_read_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"suffix '.doc'; expected one of .dat, .txt"):
        read_norms(tmp_path / "norms.doc")
    with pytest.raises(DataError, match=r"save it as \.xlsx"):
        read_norms(tmp_path / "norms.xls")


@needs_buchanan
def test_the_real_norms_are_read() -> None:
    """28,977 rows, two of them without a feature; 226 concepts; first and last row."""
    norms = read_norms(BUCHANAN)
    assert not norms.underscored
    assert (len(norms.properties), len(norms.by_concept())) == (28975, 226)
    assert norms.properties[0] == Property("abstract", "a different way of thinking", 1)
    assert norms.properties[-1].concept == "zebra"
    assert max(one.frequency for one in norms.properties) == 94
