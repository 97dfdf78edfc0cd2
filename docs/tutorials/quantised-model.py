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
# # Is this quantised model still the same?
#
# Quantisation makes a model smaller and faster, and benchmarks often report that accuracy "hardly
# changes". This notebook answers three questions about a quantised model:
#
# - How many of the model's beliefs does quantisation change?
# - Does the quantised model contradict itself more often than the original model?
# - Which differences in accuracy between the two models can the data rule out?
#
# The notebook downloads nothing: it rounds the weights of the demo model, which is part of Tacit,
# to 8, 4 and 3 bits. If you already have an original and a quantised checkpoint, skip the rounding
# and set `models` to the names of your checkpoints, the original first. In the later cells, replace
# `"demo"` by the name of the original checkpoint.

# %%
from pathlib import Path

import polars as pl
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

import tacit

disable_progress_bar()

# %% [markdown]
# ## Make three quantised copies
#
# In the weight matrices of the transformer blocks, every weight is rounded to the nearest of
# 2^bits - 1 equally spaced values from -m to m, where m is the largest absolute weight in the
# matrix row. Quantisation methods such as GPTQ, AWQ and bitsandbytes are more accurate than the
# rounding in this notebook.

# %%
source = Path(tacit.__file__).parent / "data" / "demo" / "models" / "causal"


def quantised(bits: int) -> str:
    """Save a copy of the demo model with rounded weights, and return its folder."""
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    levels = 2 ** (bits - 1) - 1
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 2 and ".h." in name:
                scale = weight.abs().amax(dim=1, keepdim=True) / levels
                weight.copy_((weight / scale).round() * scale)
    folder = f"demo-{bits}bit"
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


models = ["demo", quantised(8), quantised(4), quantised(3)]
models

# %% [markdown]
# ## Ask all four the same questions
#
# One call of `tacit.run` asks all models the same questions about the same everyday things, and
# compares the results. For checkpoints from the Hugging Face Hub, write
# `model=["org/model", "org/model-GPTQ"]`.

# %%
runs = tacit.run("parts", model=models, drawings=tacit.demo_data("drawings"))
runs

# %% [markdown]
# ## How many beliefs changed?
#
# Two models can have the same accuracy and still disagree about many statements. The table
# `questions` has one row per statement with the model's belief, P(true). A belief changes sides if
# it is above one half in only one of the two models.

# %%
statement = ["thing", "subject", "relation", "object"]
original = runs["demo"].questions.select(*statement, before="p_true")
rows = []
for name in models[1:]:
    paired = original.join(runs[name].questions, on=statement)
    rows.append(
        paired.select(
            model=pl.lit(name),
            statements=pl.len(),
            changed_sides=((pl.col("before") > 0.5) != (pl.col("p_true") > 0.5)).mean(),
            mean_change=(pl.col("before") - pl.col("p_true")).abs().mean(),
        )
    )
changed = pl.concat(rows)
changed

# %% [markdown]
# ## Did accuracy and consistency change?
#
# For every measure and every pair of models, the table `comparison` contains the paired difference
# and its 95 % confidence interval, computed by a cluster bootstrap over everyday things.

# %%
differences = runs.comparison.filter(first="demo").select(
    *("measure", "second", "first_value", "second_value"),
    *("difference", "difference_low", "difference_high"),
)
differences.drop_nulls()

# %% [markdown]
# ## What can you conclude?
#
# At 4 bits, the demo model's accuracy before repair equals its accuracy at full precision. However, the demo model believes some statements at only one of the two precisions. At 3 bits, the accuracy before repair is lower than
# at full precision, and the confidence interval of the difference excludes 0. Interpret a
# difference between a quantised model and the original model as follows:
#
# - If the confidence interval of a difference excludes 0, the data show that the models differ.
# - If the confidence interval includes 0, the models are not necessarily equal: there may be too
#   few data to detect the difference. Decide in advance how large a difference must be to matter,
#   for example 2 percentage points of accuracy. The models are equivalent for your purpose if the
#   whole confidence interval of the difference in accuracy lies between -2 and +2 points.
# - Besides the accuracy, look at the column `changed_sides` of the table `changed`, which is the
#   share of statements whose belief changed sides. Beliefs that become correct and beliefs that
#   become incorrect cancel out in the accuracy, but users notice every changed answer.
#
# `runs.report` writes the comparison of the models to an HTML page.

# %%
runs.report("comparison.html")
