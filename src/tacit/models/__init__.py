"""Language models behind one interface, which maps requests to answers."""
