"""ovsim: USD physics joints as Arrow columns, and what ovphysx makes of them."""

__version__ = "0.1.0"
