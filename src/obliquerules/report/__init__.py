"""The workbench: one HTML file that shows a model at every size, scores cases, and tries what happens without a rule."""
