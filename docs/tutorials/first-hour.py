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
# This notebook runs all three probes on small models that are included in Tacit, so nothing is
# downloaded. Open the notebook in VS Code, or in Jupyter with
# [Jupytext](https://jupytext.readthedocs.io), or run the file as a script. To use your own model,
# replace `"demo"` by the name or the folder of a Hugging Face model.

# %%
import tacit

# %% [markdown]
# ## Parts: do the model's beliefs about a thing fit together?
#
# The parts probe asks the model whether statements about the parts of everyday things are true,
# such as "In a tree, trunk is above the roots." The run counts violated constraints and repairs the
# beliefs with weighted MaxSAT (Gu et al. 2023). Scores are cached in `.tacit`, so running the next
# cell again sends no question to the model.

# %%
parts = tacit.run("parts", model="demo", drawings=tacit.demo_data("drawings"), limit=12)
parts

# %% [markdown]
# The findings of a run are polars data frames. The table `violation` counts how often each
# constraint applies and how often it is violated, before and after repair. The table `accuracy`
# contains the accuracy of the beliefs, measured against the annotators' drawings.

# %%
parts.tables["violation"].select("constraint", "stage", "violated", "applicable", "rate")

# %%
parts.tables["accuracy"].filter(gold="all").drop("gold", "missing")

# %% [markdown]
# The figures of a run are Altair charts, and `parts.figures` lists their names.

# %%
chart = parts.figure(parts.figures[0])
chart

# %% [markdown]
# ## Consistency: does knowing the background predict the answer?
#
# For each multiple-choice question, the consistency probe asks the model about background facts,
# which connect the question's concepts, and then asks the question itself (Sahu et al. 2022). The
# facts come from a knowledge base. The lift measures how well a model's answers about the
# background facts predict whether the model answers the question correctly. A lift of 0 is the
# chance level, and a lift of 1 is a perfect prediction.

# %%
kb = tacit.build_kb(tacit.demo_data("facts"), "facts.kb")
consistency = tacit.run(
    "consistency", model="demo", questions=tacit.demo_data("questions"), kb=kb, limit=40
)
consistency.tables["anchors"].head()

# %%
consistency.tables["consistency"]

# %% [markdown]
# ## Assumptions: does the model find a concept from what people say of it?
#
# Given a prompt such as "A ___ has fur, is big, and has claws", the assumptions probe ranks the
# concepts by the model's probabilities. The probe also compares the properties that a model
# predicts for a concept with the properties that people name (Weir et al. 2020). With several
# models, `tacit.run` returns a mapping from model names to runs. The attribute `comparison` of the
# mapping that `tacit.run` returns contains the differences between the models.

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
# Differences between the two demo models are paired by concept, because both models are measured on
# the same concepts. If the confidence interval of a difference includes 0, the data do not show
# that the models differ.

# %%
both.comparison.select("measure", "first_value", "second_value", "difference", "p_holm").head()

# %% [markdown]
# ## A report to share
#
# The report is one HTML file with figures, tables and every prompt. You can open the report from
# disk, and it loads nothing from the network. If you pass `out=`, `tacit.run` also writes a report
# to the run's folder.

# %%
parts.report("parts.html")

# %% [markdown]
# ## Beliefs from anywhere
#
# `tacit.check` and `tacit.repair` accept any table of beliefs and need no model.

# %%
beliefs = [
    {"subject": "leaf", "relation": "part of", "object": "tree", "p_true": 0.9},
    {"subject": "tree", "relation": "part of", "object": "leaf", "p_true": 0.6},
]
tacit.check(beliefs)

# %%
tacit.repair(beliefs).beliefs
