"""Head: what the author of a workbench says about the model."""

from __future__ import annotations

from dataclasses import dataclass, fields

from obliquerules.parameters import check_text
from obliquerules.rules import Model


@dataclass(frozen=True, kw_only=True)
class Head:
    """What the head of a workbench says; what is not given is left out, and no clock is asked for the date.

    Attributes
    ----------
    title : str or None
        The heading of the page.
    target : str or None
        What is predicted.
    data : str or None
        What the model was learned from.
    date : str or None
        The date of the model.
    intended_use : str or None
        Who may use the model for what.
    """

    title: str | None = None
    target: str | None = None
    data: str | None = None
    date: str | None = None
    intended_use: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            text = getattr(self, field.name)
            if text is not None:
                check_text(field.name, text)

    def heading(self, model: Model) -> str:
        """Return the title, or one made of what the model predicts."""
        words = "most probable class" if model.has_many_classes else model.mean_name
        return f"{words[0].upper()}{words[1:]}, by rules" if self.title is None else self.title

    def lines(self, model: Model) -> list[tuple[str, str]]:
        """Return what is said below the title, each with its name; the event is the class that scores speak of.

        Of many classes, the page lists the names itself.
        """
        event = None if model.labels is None or model.has_many_classes else model.labels.word()
        named = {
            "Target": self.target,
            "Event": event,
            "Data": self.data,
            "Date": self.date,
            "Intended use": self.intended_use,
        }
        return [(name, text) for name, text in named.items() if text is not None]
