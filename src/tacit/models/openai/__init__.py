"""Models on an OpenAI-compatible server: vLLM, SGLang, llama.cpp and others.

Tacit tests every server before use (see ``preflight``). The preflight checks which
log-probabilities a server returns, whether the log-probabilities are reproducible, and whether each
log-probability belongs to the token for which the server reports it.
"""
