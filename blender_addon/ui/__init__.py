"""What the artist sees and presses; each operator gathers, calls and reports."""

from . import (
    edit_operators,
    gizmo,
    monitor,
    operators,
    panels,
    place_axis,
    preferences,
    preview,
    props,
)

MODULES = (
    preferences,
    props,
    operators,
    edit_operators,
    place_axis,
    preview,
    panels,
    gizmo,
    monitor,
)
