"""The report of runs: one self-contained HTML file that a browser opens from disk.

The modules ``sections``, ``differences`` and ``elicitation`` create the content, whose classes are
defined in ``content``. The modules ``packing`` and ``charts`` convert tables and charts to the
page's data format. The module ``writing`` fills in the template and writes the file. The folder
``page`` contains the template, the styles and the script.
"""
