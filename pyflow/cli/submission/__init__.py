"""Programs that ``pyflow run`` starts: their command line, their process, what is noted of them."""
