"""The five lectures, topic by topic: each claim is computed again, on the lecture's own numbers, and drawn."""
