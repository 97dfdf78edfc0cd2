# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # Your first hour with Tacit
#
# This notebook runs all three probes on the small models that come with Tacit, so nothing is
# downloaded. Open it in VS Code, or in Jupyter with [Jupytext](https://jupytext.readthedocs.io);
# it also runs as a script. Every call takes the name or the folder of a Hugging Face model of your
# own in place of `"demo"`.

# %%
import tacit

# %% [markdown]
# ## Parts: do the model's beliefs about a thing fit together?
#
# The probe asks how the parts of everyday things relate ("In a tree, trunk is above the roots.":
# true or false?), counts violated constraints, and repairs the beliefs with weighted MaxSAT
# (Gu et al., 2023). Scores are cached in `.tacit`: running the cell again
# asks nothing.

# %%
parts = tacit.run("parts", model="demo", drawings=tacit.demo_data("drawings"), limit=12)
parts

# %% [markdown]
# A run holds its findings as polars frames. `violation` counts, for each constraint, how often it
# applies and how often it is violated, before and after repair; `accuracy` compares the beliefs
# with what people drew.

# %%
parts.tables["violation"].select("constraint", "stage", "violated", "applicable", "rate")

# %%
parts.tables["accuracy"].filter(gold="all").select("set", "stage", "n", "accuracy", "low", "high")

# %% [markdown]
# Figures are Altair charts. `parts.figures` lists them.

# %%
chart = parts.figure(parts.figures[0])
chart

# %% [markdown]
# ## Consistency: does knowing the background predict the answer?
#
# For each multiple-choice question, the probe asks the facts of a knowledge base that connect its
# concepts, and then the question itself (Sahu et al., 2022). The lift says how much more often the
# model answers right where it knows the background, beyond chance.

# %%
kb = tacit.build_kb(tacit.demo_data("facts"), "facts.kb")
consistency = tacit.run(
    "consistency", model="demo", questions=tacit.demo_data("questions"), kb=kb, limit=40
)
consistency.tables["anchors"].head()

# %%
consistency.summary["consistency"]

# %% [markdown]
# ## Assumptions: does the model find a concept from what people say of it?
#
# "A ___ has fur, is big, and has claws": the probe ranks the concepts, and ranks the properties that
# a model gives for a concept against those that people name (Weir et al., 2020). With several models,
# `run` returns a mapping of runs, and compares them.

# %%
both = tacit.run(
    "assumptions",
    model=["demo", "demo-masked"],
    norms=tacit.demo_data("norms"),
    limit=8,
    orders="main",
    out="runs/assumptions",
)
both["demo-masked"].tables["retrieval_by_number"].select("wording", "n", "mrr", "chance_mrr").head()

# %% [markdown]
# The differences are paired by concept. An interval that includes 0 does not tell the models apart.

# %%
both.comparison.select("figure", "first_value", "second_value", "difference", "low", "high").head()

# %% [markdown]
# ## A report to share
#
# One HTML file with figures, tables and every prompt; it opens from disk and loads nothing. A run with
# `out=` has one in its folder already.

# %%
parts.report("parts.html")

# %% [markdown]
# ## Beliefs from anywhere
#
# `check` and `repair` take any table of beliefs, no model needed.

# %%
beliefs = [
    {"subject": "leaf", "relation": "part of", "object": "tree", "p_true": 0.9},
    {"subject": "tree", "relation": "part of", "object": "leaf", "p_true": 0.6},
]
tacit.check(beliefs)

# %%
tacit.repair(beliefs).beliefs
