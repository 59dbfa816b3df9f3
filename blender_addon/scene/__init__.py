"""Between Blender's data and the contract types; the only part besides `ui` that knows bpy."""
