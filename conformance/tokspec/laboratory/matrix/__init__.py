"""Many implementations beside each other: over the cases (``rows``), and over real vocabularies."""
