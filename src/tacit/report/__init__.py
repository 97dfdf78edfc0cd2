"""The report of runs: one HTML file that holds all it needs and opens from disk.

`reading` finds the runs; `parts`, `consistency`, `assumptions` and `differences` say what stands in
the report; `content` is what they say it in; `packing` and `charts` make data of it; `writing`
makes the file, from the template, the styles and the script in ``page``.
"""
