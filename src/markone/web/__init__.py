"""What the servers of the playground and of models share: who may ask, the headers of every answer, and page files."""
