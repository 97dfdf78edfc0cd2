"""The report of runs: one self-contained HTML file that opens from disk.

``sections``, ``differences`` and ``elicitation`` create the content, from the classes in
``content``. ``packing`` and ``charts`` convert tables and charts to data of the page. ``writing``
fills in the template and writes the file; the template, the styles and the script are in ``page``.
"""
