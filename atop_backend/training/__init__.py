"""Training of the bundled model on generated objects; not needed to run the product."""
