#!/usr/bin/env bash
# Sets everything up, then gives the door of examples/dishwasher its hinge.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/setup.sh
printf '== articulating the door of examples/dishwasher/dishwasher.glb\n' >&2
.venv/bin/atop articulate examples/dishwasher/dishwasher.glb --part door \
  --prompt "the dishwasher door folds down" --out out/dishwasher "$@"
printf '\nOpen out/dishwasher/contact_sheet.png, or articulated.blend in Blender and press play.\n'
