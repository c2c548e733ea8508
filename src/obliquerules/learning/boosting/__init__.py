"""One loop, many learners: learners propose conditions, a selection chooses among them, the loop adds and corrects."""
