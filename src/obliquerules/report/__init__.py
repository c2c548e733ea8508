"""The report of a model: a workbench in one HTML file that reads it at every size, scores cases and switches rules off."""
