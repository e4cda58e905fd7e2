"""The suite's own data: clauses and choices, cases, models and corpora, with their schema and loaders."""
