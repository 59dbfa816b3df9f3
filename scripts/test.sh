#!/usr/bin/env bash
# Installs what the tests need and runs all of them: linters, the add-on in three Blenders, the rest.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '== %s\n' "$*" >&2; }

blender_environment() {  # a Python with another Blender in it: version of bpy, folder
  [ -f "$2/.ready-$1" ] && return
  .venv/bin/python -m venv --clear "$2"
  "$2/bin/pip" install -q "bpy==$1" pytest==9.2.0 pillow
  touch "$2/.ready-$1"
}

bash scripts/setup.sh dev export metrics
say "Blender 4.2 and 5.0 beside the main environment's 4.5"
blender_environment 4.2.23 .venv-bpy42 & first=$!
blender_environment 5.0.1 .venv-bpy50 & second=$!
wait "$first"
wait "$second"

say "ruff and pyright"
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/pyright --pythonpath .venv/bin/python

for environment in .venv-bpy42 .venv .venv-bpy50; do
  say "the add-on in $("$environment/bin/pip" list 2>/dev/null | grep '^bpy ')"
  PYTHONPATH=. timeout 600 "$environment/bin/python" -m pytest tests/blender
done
say "everything else, with the shapes of all tensors checked"
OMP_NUM_THREADS=1 timeout 1800 .venv/bin/python -m pytest tests --ignore tests/blender \
  -n 2 --dist loadfile \
  --jaxtyping-packages=atop_backend.diffusion,atop_backend.gaussians,beartype.beartype "$@"
