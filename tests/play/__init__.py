"""The playground: its learners, its page in Node and in Chromium, and its server."""
