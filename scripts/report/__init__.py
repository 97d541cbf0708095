"""Reports: tables, figures and a page from one or many runs."""
