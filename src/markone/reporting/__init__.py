"""Reporting: tables, HTML and marked text that several rooms print."""
