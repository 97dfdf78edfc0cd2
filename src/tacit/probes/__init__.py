"""The probes: each makes questions, has them asked, and measures the answers."""
