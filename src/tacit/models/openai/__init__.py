"""Models on an OpenAI-compatible server: vLLM, SGLang, llama.cpp and others."""
