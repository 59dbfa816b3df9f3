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
    rig_operators,
    rig_panel,
    rig_props,
    setup_operators,
    write_back,
)

MODULES = (
    preferences,
    props,
    rig_props,
    operators,
    write_back,
    refit,
    rig_operators,
    setup_operators,
    edit_operators,
    place_axis,
    preview,
    panels,
    rig_panel,
    gizmo,
    monitor,
)
