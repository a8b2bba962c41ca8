"""Learns in partitions: fixed shares of the rows that learn on their own within a pass, and are then mixed.

The result depends on the data, the settings and the number of partitions alone: not on the engine that runs the tasks,
the number of its workers, or the order in which they finish.
"""
