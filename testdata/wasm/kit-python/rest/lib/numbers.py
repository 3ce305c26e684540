from .seven import seven
