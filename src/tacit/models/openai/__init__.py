"""Models behind an OpenAI-compatible completions server: vLLM, SGLang, llama.cpp and others.

Tacit tests every server before use (see ``preflight``). The preflight checks which
log-probabilities a server returns, whether they are reproducible, and whether each value belongs to
the token it is reported for.
"""
