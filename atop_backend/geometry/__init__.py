"""Shapes, cameras, joints and boxes as plain numbers; numpy, scipy and trimesh only."""
