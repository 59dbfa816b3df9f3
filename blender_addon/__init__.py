"""Articulate: give a part of a static model its hinge or slider from a sentence."""


def register():
    """Register the modules of the user interface; called by Blender."""
    from . import ui

    for module in ui.MODULES:
        module.register()


def unregister():
    """Remove all that `register` added, timers too, since Blender may hang at its end otherwise."""
    from . import ui

    for module in reversed(ui.MODULES):
        module.unregister()
