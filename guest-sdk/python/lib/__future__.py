"""Features of later versions, which change nothing here: annotations are not evaluated."""

annotations = division = absolute_import = print_function = unicode_literals = generator_stop = nested_scopes = True
