"""Query models: deduplicate requests, skip cached requests, and store the answers."""
