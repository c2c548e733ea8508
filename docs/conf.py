"""Settings of the documentation; built with ``make docs``."""

import sys
from pathlib import Path

import obliquerules

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "obliquerules"
author = "The obliquerules developers"
project_copyright = author
version = release = obliquerules.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "mathml",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_ext", "_templates"]
templates_path = ["_templates"]

autosummary_generate = True
toc_object_entries_show_parents = "hide"  # the page says of which class they are
autodoc_typehints = "none"  # types stand in the docstrings, in words
numpydoc_show_class_members = False  # the template of a class lists them

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "capture_repr": (),  # what is printed and drawn is shown, and nothing else
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"obliquerules {release}"
html_math_renderer = "mathml"
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,  # arrow keys are for scrolling
    "secondary_sidebar_items": ["page-toc"],
    "show_nav_level": 2,
    "show_prev_next": False,
}
# Only the reference and the gallery have pages to list beside the text.
html_sidebars = {"*": [], "api/**": ["sidebar-nav-bs"], "extending/**": ["sidebar-nav-bs"], "gallery/**": ["sidebar-nav-bs"]}
html_static_path = ["_static"]
html_css_files = ["formulas.css", "pages.css"]
