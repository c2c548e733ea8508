# Signals: kernels work without the GIL and come back for it now and then, to ask whether somebody pressed Ctrl-C.

from cpython.exc cimport PyErr_CheckSignals

cdef double WORK_BETWEEN_QUESTIONS = 1e8  # multiplications, or as much time as they take: some hundredths of a second


cdef inline int ask_for_signals(double *work, double done) except -1 nogil:
    """Add up what was done, and ask once it is enough: two threads would wait for each other if they asked more often."""
    work[0] += done
    if work[0] >= WORK_BETWEEN_QUESTIONS:
        work[0] = 0.0
        with gil:
            PyErr_CheckSignals()
    return 0
