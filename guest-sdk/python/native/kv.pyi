"""The implementation: __init__.pyi has the types."""
