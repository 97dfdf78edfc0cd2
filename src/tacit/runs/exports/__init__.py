"""Write tasks for other programs, and results in the formats that they read."""
