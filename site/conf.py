"""Sphinx's settings (site/build.sh)."""
project = "tileflow"
author = "the authors of tileflow"
copyright = "the authors of tileflow, MIT licence"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "attrs_block"]
exclude_patterns = [".trees"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 6  # GitHub's anchors
myst_links_external_new_tab = False
suppress_warnings = [
    "myst.header",  # pages whose first headings skip a level
    "misc.highlighting_failure",  # mappings are no YAML all through
]
html_theme = "furo"
html_title = "tileflow"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_exclude = ".linenos, .gp"
copybutton_selector = ":is(.highlight-sh, .highlight-yaml, .highlight-c, .highlight-python) pre"
