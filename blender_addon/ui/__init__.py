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
    refit,
    setup_operators,
    write_back,
)

MODULES = (
    preferences,
    props,
    operators,
    write_back,
    refit,
    setup_operators,
    edit_operators,
    place_axis,
    preview,
    panels,
    gizmo,
    monitor,
)
