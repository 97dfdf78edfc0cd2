"""Golden runs: the digests of what representative runs find, which a redesign must not change."""
