"""Models behind a server that completes texts as OpenAI's does: vLLM, SGLang, llama.cpp and others.

Nothing is believed of a server before it was tried: which log-probabilities it gives, whether they
are the same twice, whether they are of the tokens that they are said to be of (``preflight``).
"""
