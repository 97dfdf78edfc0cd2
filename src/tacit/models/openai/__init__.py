"""Models behind an OpenAI-compatible completions server: vLLM, SGLang, llama.cpp and others.

Every server is tested before use (see ``preflight``): which log-probabilities it returns, whether
they are reproducible, and whether they belong to the tokens that they are reported for.
"""
