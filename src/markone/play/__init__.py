"""The playground: a page that shows how the rules learn, and a small server that runs the core behind it."""
