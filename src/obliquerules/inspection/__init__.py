"""Reading a model: tables, explanations and pictures of its rules."""

from obliquerules.inspection.displays.coverage import CoverageDisplay
from obliquerules.inspection.displays.decision_regions import DecisionRegionsDisplay
from obliquerules.inspection.displays.risk_complexity import RiskComplexityDisplay
from obliquerules.inspection.displays.waterfall import WaterfallDisplay

__all__ = ["CoverageDisplay", "DecisionRegionsDisplay", "RiskComplexityDisplay", "WaterfallDisplay"]
