"""The suite's own data: clauses and choices, cases, models and corpora, their schema, and how they are read."""
