"""Theory on one's own data: certificates of separability, margins, mistake bounds, and traces of runs."""
