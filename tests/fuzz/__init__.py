"""A fuzzer that knows the structure of what it changes: files of models whose checksums hold, text for the readers, and
the saved states of learners.

`python -m tests.fuzz --help`, in the folder of the project, says how it is used; `make fuzz` runs it under the
sanitizers. What is given must be used without harm or refused with a sentence (a `MarkoneError`); whatever else happens
is a finding.
"""
