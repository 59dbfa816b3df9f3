"""Views of the rest state by Blender, which runs in a child process of its own."""
