"""Articulated objects for simulators and viewers: URDF, MJCF, USD and animated glTF."""
