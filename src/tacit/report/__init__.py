"""A report on runs, as one self-contained HTML file that a browser can open from disk.

The modules ``sections``, ``differences`` and ``elicitation`` create the content of the report. The
module ``content`` defines classes for the parts of a report, such as tables, figures and graphs.
The modules ``packing`` and ``charts`` convert tables and charts to the page's data format. The
module ``writing`` fills in the HTML template and writes the file. The folder ``page`` contains the
HTML template, the style sheet and the script of the page.
"""
