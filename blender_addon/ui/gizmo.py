"""The axis in the viewport: a line with an arc or an arrow for the range, and handles to drag."""

import math

import bpy
import gpu
import numpy as np
from bpy_extras import view3d_utils
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from ..scene import convert, edit, snap, write
from ..scene.record import Articulation, articulation_of, from_frame

AXIS_COLOUR = (1.0, 0.35, 0.1, 1.0)
RANGE_COLOUR = (1.0, 0.75, 0.2, 1.0)
HANDLE_PX = 7.0
ARC_STEPS = 48
_handler = None


def shown_joint(context: bpy.types.Context) -> Articulation | None:
    """The joint whose axis is to be drawn."""
    if not context.scene.atop.show_axis:
        return None
    return articulation_of(context.view_layer.objects.active)


def axis_lines(found: Articulation) -> tuple[np.ndarray, np.ndarray]:
    """Line pieces of the axis and of its range in the world, (2 k, 3) each."""
    world = convert.as_array(found.frame.matrix_world)
    joint, size = found.joint, found.frame.empty_display_size
    turns = joint.kind == "revolute"
    along = np.array([0, 0, 1.0] if turns else [1.0, 0, 0])
    ends = np.array([-2.0, 2.0])[:, None] * along * size
    if turns:
        angles = rest_angle(found) + np.linspace(joint.lower, joint.upper, ARC_STEPS)
        points = size * np.stack([np.cos(angles), np.sin(angles), np.zeros(ARC_STEPS)], axis=1)
        arc = np.concatenate([[np.zeros(3)], points, [np.zeros(3)]])
    else:
        tip, back = joint.upper * along, 0.15 * size
        barbs = [tip - back * along + back * side for side in np.eye(3)[1:]]
        arc = np.array([joint.lower * along, tip, barbs[0], tip, barbs[1]])
    pieces = np.repeat(arc, 2, axis=0)[1:-1]
    return _to_world(ends, world), _to_world(pieces, world)


def rest_angle(found: Articulation) -> float:
    """Angle about the axis at which the part lies at rest, as seen from the joint's frame."""
    part = next(iter(found.parts()), None)
    if part is None:
        return 0.0
    rest = found.pivot.matrix_world.inverted_safe() @ part.matrix_world
    middle = rest @ (sum((Vector(corner) for corner in part.bound_box), Vector()) / 8)
    return math.atan2(middle.y, middle.x)


def _to_world(points: np.ndarray, world: np.ndarray) -> np.ndarray:
    return points @ world[:3, :3].T + world[:3, 3]


def draw() -> None:
    """Draw handler of the 3D viewport."""
    found = shown_joint(bpy.context)
    if found is None:
        return
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    gpu.state.blend_set("ALPHA")
    for points, colour, width in zip(
        axis_lines(found), (AXIS_COLOUR, RANGE_COLOUR), (3.0, 2.5), strict=True
    ):
        shader.uniform_float("lineWidth", width)
        shader.uniform_float("color", colour)
        batch_for_shader(shader, "LINES", {"pos": points.astype(np.float32).tolist()}).draw(shader)
    gpu.state.blend_set("NONE")


def handle_places(found: Articulation) -> dict[str, Vector]:
    """Where the handles are: the axis' origin, its tip, and the open part."""
    frame, size = found.frame.matrix_world, found.frame.empty_display_size
    joint, amount = found.joint, found.pivot.get("open", 0.0)
    travel = convert.full_travel(joint) * amount
    if joint.kind == "revolute":
        angle = rest_angle(found) + travel
        opened = Vector((math.cos(angle), math.sin(angle), 0.0)) * size
        tip = Vector((0.0, 0.0, 2.0 * size))
    else:
        opened, tip = Vector((travel, 0.0, 0.0)), Vector((2.0 * size, 0.0, 0.0))
    return {"origin": frame.translation, "tip": frame @ tip, "open": frame @ opened}


def _sphere() -> list[tuple[float, float, float]]:
    """Triangles of an octahedron, round enough for a few pixels."""
    x, y, z = np.eye(3)
    corners = []
    for a in (x, -x):
        for b in (y, -y):
            for c in (z, -z):
                corners += [tuple(a), tuple(b), tuple(c)]
    return corners


class ATOP_GT_handle(bpy.types.Gizmo):
    """One handle of the axis: `role` is origin, tip or open"""

    bl_idname = "ATOP_GT_handle"
    __slots__ = ("before", "frame", "role", "shape", "start")

    def setup(self):
        if not hasattr(self, "shape"):
            self.shape = self.new_custom_shape("TRIS", _sphere())
            self.role, self.frame, self.before, self.start = "origin", "", None, None

    def draw(self, context):
        self.draw_custom_shape(self.shape)

    def draw_select(self, context, select_id):
        self.draw_custom_shape(self.shape, select_id=select_id)

    def invoke(self, context, event):
        found = shown_joint(context)
        if found is None:
            return {"CANCELLED"}
        self.frame = found.frame.name
        self.before = (found.joint, found.pivot["open"])
        self.start = handle_places(found)
        return {"RUNNING_MODAL"}

    def modal(self, context, event, tweak):
        found = from_frame(bpy.data.objects.get(self.frame))
        if found is not None and event.type == "MOUSEMOVE":
            drag(context, event, found, self.role, self.start, snapping="SNAP" in tweak)
        return {"RUNNING_MODAL"}

    def exit(self, context, cancel):
        found = from_frame(bpy.data.objects.get(self.frame))
        if found is None or self.before is None:
            return
        if cancel:
            joint, amount = self.before
            found.pivot["open"] = amount
            write.set_joint(found, joint)
            context.view_layer.update()
        else:
            bpy.ops.ed.undo_push(message="Move Joint Axis")
        if context.area is not None:
            context.area.tag_redraw()


def drag(context, event, found, role, start, *, snapping) -> None:
    """Move one handle to the mouse; with Ctrl it snaps to edges."""
    region, view = context.region, context.region_data
    place = (event.mouse_region_x, event.mouse_region_y)
    point = view3d_utils.region_2d_to_location_3d(region, view, place, start[role])
    if role == "open":
        found.pivot["open"] = open_at(found, np.array(point))
        found.pivot.update_tag()
        context.area.tag_redraw()
        return
    if snapping:
        origin = view3d_utils.region_2d_to_origin_3d(region, view, place)
        direction = view3d_utils.region_2d_to_vector_3d(region, view, place)
        line = snap.snap_axis(context, found, origin, direction, normal=role == "tip")
        if line is not None:
            write.set_joint(found, snap.joint_on(found, line))
            context.area.tag_redraw()
            return
    now = edit.joint_now(found)
    if role == "origin":
        line = snap.Snap(np.array(point), np.array(now.axis))
    else:
        away = np.array(point - start["origin"])
        length = np.linalg.norm(away)
        if length < 1e-9:
            return
        line = snap.Snap(np.array(start["origin"]), away / length)
    write.set_joint(found, snap.joint_on(found, line))
    context.area.tag_redraw()


def open_at(found: Articulation, point: np.ndarray) -> float:
    """The share of the range at which the open handle would be nearest to a world point."""
    local = np.linalg.inv(convert.as_array(found.frame.matrix_world)) @ (*point, 1.0)
    joint = found.joint
    full = convert.full_travel(joint)
    if full == 0:
        return 0.0
    if joint.kind == "prismatic":
        return float(np.clip(local[0] / full, 0.0, 1.0))
    angle = math.atan2(local[1], local[0]) - rest_angle(found)
    middle = full / 2
    angle += 2 * math.pi * round((middle - angle) / (2 * math.pi))  # the turn nearest to the range
    return float(np.clip(angle / full, 0.0, 1.0))


class ATOP_GGT_axis(bpy.types.GizmoGroup):
    """Handles on the axis of the active joint"""

    bl_idname = "ATOP_GGT_axis"
    bl_label = "Joint Axis"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context):
        return shown_joint(context) is not None

    def setup(self, context):
        colours = {"origin": AXIS_COLOUR, "tip": AXIS_COLOUR, "open": RANGE_COLOUR}
        for role, colour in colours.items():
            handle = self.gizmos.new(ATOP_GT_handle.bl_idname)
            handle.role = role
            handle.color, handle.alpha = colour[:3], 0.9
            handle.color_highlight, handle.alpha_highlight = (1.0, 1.0, 1.0), 1.0
            handle.use_draw_modal = True
            handle.scale_basis = HANDLE_PX / 75.0  # Blender draws gizmos of 75 px by default

    def draw_prepare(self, context):
        found = shown_joint(context)
        if found is None:
            return
        places = handle_places(found)
        for handle in self.gizmos:
            handle.matrix_basis = Matrix.Translation(places[handle.role])


CLASSES = (ATOP_GT_handle, ATOP_GGT_axis)


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(CLASSES)


def register():
    global _handler
    _register_classes()
    _handler = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")


def unregister():
    global _handler
    if _handler is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handler, "WINDOW")
        _handler = None
    _unregister_classes()
