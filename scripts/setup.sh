#!/usr/bin/env bash
# Makes .venv with the backend, a build of torch for this machine and Blender as a module.
# Usage: scripts/setup.sh [extra ...]   more extras of pyproject.toml, such as dev
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '== %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 3; }

extras="ml,blender"
for extra in "$@"; do extras="$extras,$extra"; done
stamp=".venv/.atop-setup-$extras"
state="$(cat pyproject.toml scripts/constraints.txt scripts/setup.sh | sha256sum)"

system_packages() {  # Debian packages of libraries that Blender's module loads and that are missing
  local known file package
  known="$(ldconfig -p 2>/dev/null || /sbin/ldconfig -p)"
  while read -r file package; do
    grep -q "$file" <<<"$known" || printf '%s ' "$package"
  done <<'LIST'
libX11.so.6 libx11-6
libXrender.so.1 libxrender1
libXfixes.so.3 libxfixes3
libXi.so.6 libxi6
libXxf86vm.so.1 libxxf86vm1
libXext.so.6 libxext6
libxkbcommon.so.0 libxkbcommon0
libGL.so.1 libgl1
libEGL.so.1 libegl1
libSM.so.6 libsm6
libICE.so.6 libice6
libgomp.so.1 libgomp1
LIST
}

find_python() {  # Blender's module is made for Python 3.11
  local candidate
  for candidate in "${PYTHON:-python3.11}" python3 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      printf '%s' "$candidate"
      return
    fi
  done
  fail "no Python 3.11 was found; install it, or name it: PYTHON=/path/to/python3.11 $0"
}

install_system() {
  local missing=("$@")
  if [ "$(uname -s)" != Linux ]; then return; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    fail "missing system packages; run: sudo apt-get install ${missing[*]}"
  fi
  say "installing system packages: ${missing[*]}"
  apt-get update -qq >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null
}

install_torch() {
  local version
  version="$(sed -n 's/^torch==//p' scripts/constraints.txt)"
  if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
    say "installing torch for the GPU"
    .venv/bin/pip install -q "torch==$version"
  elif [ "$(uname -s)" != Linux ]; then
    .venv/bin/pip install -q "torch==$version"
  else
    say "installing torch for the CPU"
    .venv/bin/pip install -q "torch==$version+cpu" \
      ${ATOP_TORCH_INDEX:+--extra-index-url "$ATOP_TORCH_INDEX"} 2>/dev/null && return
    say "pip finds no CPU build; taking the large one (ATOP_TORCH_INDEX can name PyTorch's CPU index)"
    .venv/bin/pip install -q "torch==$version"
  fi
}

for done in "$stamp"*; do  # what was installed with more extras will do as well
  if [ -f "$done" ] && [ "$(cat "$done")" = "$state" ]; then
    say "the environment is up to date"
    exit 0
  fi
done
python="$(find_python)"
# shellcheck disable=SC2046
if [ "$(uname -s)" = Linux ]; then
  missing="$(system_packages)"
  "$python" -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
  [ -z "${missing// /}" ] || install_system $missing
fi
[ -x .venv/bin/python ] || { say "making .venv"; "$python" -m venv .venv; }
.venv/bin/python -c 'import torch' 2>/dev/null || install_torch
say "installing the backend and Blender as a module (some 500 MB)"
.venv/bin/pip install -q -c scripts/constraints.txt -e ".[$extras]"
printf '%s' "$state" >"$stamp"
say "done: .venv/bin/atop is ready"
