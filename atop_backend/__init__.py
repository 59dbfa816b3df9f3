"""ATOP: make a part of a static 3D object move as a sentence says.

Paper: "Articulate That Object Part (ATOP): 3D Part Articulation from Text and Motion
Personalization".
"""

__version__ = "0.1.0"
