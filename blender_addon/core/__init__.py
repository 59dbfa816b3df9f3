"""What needs no Blender: building requests, running the backend, timing keyframes."""
