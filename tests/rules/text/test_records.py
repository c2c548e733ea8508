"""Tables: the same lines as aligned text and as HTML, in which every cell is text."""

import pytest

from obliquerules.rules.text.records import Shown, TextTable

LINES = [("weight", "if"), ("+1.5", "a < b"), ("-2", "<script>alert(1)</script>")]


class Told(Shown):
    """Two sentences around a table, with a gap."""

    def _parts(self):
        return ["1 < 2", TextTable(LINES, indent="  "), "", "the end"]


def test_columns_are_aligned():
    assert str(TextTable(LINES)) == "weight  if\n  +1.5  a < b\n    -2  <script>alert(1)</script>"


def test_indented_lines_have_no_spaces_at_their_end():
    assert str(TextTable([("1", "a"), ("22", "")], indent="  ")) == "   1  a\n  22"


def test_lines_have_no_spaces_at_their_end():
    assert str(TextTable([("1", "a"), ("22", "")])) == " 1  a\n22"


def test_html_has_a_heading_only_where_the_table_has_one():
    assert TextTable(LINES)._repr_html_().count("<th ") == 2
    assert TextTable(LINES, headed=False)._repr_html_().count("<th") == 0
    assert TextTable(LINES, headed=False)._repr_html_().count("<tr>") == 3


def test_cells_and_sentences_are_escaped():
    shown = Told()._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<p>1 &lt; 2</p>" in shown


def test_a_gap_is_an_empty_line_of_text_and_nothing_in_html():
    assert str(Told()).endswith("</script>\n\nthe end")
    assert "<p></p>" not in Told()._repr_html_()


def test_what_does_not_say_its_parts_is_named():
    with pytest.raises(AttributeError, match="Shown does not say"):
        str(Shown())
