"""Many implementations next to each other: over the cases (``rows``), over vocabularies, and as pages (``site``)."""
