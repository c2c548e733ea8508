"""Boosting: learners propose rules, a selection chooses, the loop adds them."""
