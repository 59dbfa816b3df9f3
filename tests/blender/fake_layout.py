"""A layout that records what a panel draws, and checks that it names things that exist."""

from __future__ import annotations

import bpy


class FakeLayout:
    """Stands in for bpy.types.UILayout, which only a window has."""

    def __init__(self, log=None):
        self.__dict__["log"] = [] if log is None else log

    def __setattr__(self, name, value):
        self.log.append(("set", name, value))

    def __getattr__(self, name):
        def call(*arguments, **options):
            words = [word for word in arguments if isinstance(word, str)]
            self.log.append((name, *words, *(str(value) for value in options.values())))
            if name == "prop" and not arguments[1].startswith("["):
                assert arguments[1] in arguments[0].bl_rna.properties, arguments[1]
            if name in ("operator", "operator_menu_enum"):
                module, operator = words[0].split(".")
                getattr(getattr(bpy.ops, module), operator).get_rna_type()
                return type("Properties", (), {})()
            return FakeLayout(self.log)

        return call

    def words(self):
        """All that was drawn as one text."""
        return " | ".join(" ".join(map(str, entry)) for entry in self.log)


def draw(panel, context=None):
    """What a panel draws now; empty where its poll says no."""
    context = context or bpy.context
    if hasattr(panel, "poll") and not panel.poll(context):
        return ""
    layout = FakeLayout()
    panel.draw(type("Panel", (), {"layout": layout})(), context)
    return layout.words()
