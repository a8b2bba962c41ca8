"""The five lectures, topic by topic: each claim is computed again, and drawn."""
