"""Articulate: give a part of a static model its hinge or slider from a sentence."""
