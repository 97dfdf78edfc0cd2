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
# Quantisation makes a model smaller and faster. Benchmarks often report that accuracy "hardly
# changes". This notebook checks more: how many of the model's beliefs change, whether it
# contradicts itself more often, and how large a difference in accuracy the data can rule out.
#
# Nothing is downloaded: the notebook rounds the weights of the demo model to 8, 4 and 3 bits. With
# your own models, skip that step and name both checkpoints.

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
# Each row of a weight matrix is rounded to 2^bits - 1 levels between minus and plus its largest
# absolute value. Real methods (GPTQ, AWQ, bitsandbytes) round more cleverly.

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
# One call asks every model and pairs the results by thing. With checkpoints from the hub, write
# `model=["org/model", "org/model-GPTQ"]`.

# %%
runs = tacit.run("parts", model=models, drawings=tacit.demo_data("drawings"))
runs

# %% [markdown]
# ## How many beliefs changed?
#
# `questions` has one row per statement with its belief, P(true). A belief changes sides when it
# crosses one half. Two models can have the same accuracy and still disagree about many statements.

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
# `comparison` has the paired difference of every measure for every pair of models, with a 95 %
# confidence interval that resamples things.

# %%
differences = runs.comparison.filter(first="demo").select(
    "figure", "second", "first_value", "second_value", "difference", "low", "high"
)
differences.drop_nulls()

# %% [markdown]
# ## What can you conclude?
#
# At 4 bits the accuracy is exactly the same, although some beliefs changed sides. At 3 bits the
# interval of the difference in accuracy before repair excludes 0. In general:
#
# - If an interval excludes 0, the quantised model differs.
# - If it includes 0, the models need not be the same: the data may be too few. Decide in advance
#   which difference would matter, such as 2 points of accuracy. The models are equivalent for your
#   purpose if the whole interval lies between -2 and +2 points.
# - Look at `changed_sides` too. Changes in both directions cancel in accuracy, but users notice
#   them.
#
# `runs.report` writes the same comparison as a page.

# %%
runs.report("comparison.html")
