"""Structured: answers made of parts, such as a tag for each word or a sentence's tree, and how they are learned."""
