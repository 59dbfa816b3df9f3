#!/usr/bin/env bash
# Real window test: Debian's Blender in a folder of its own, under a virtual display, is driven
# through one articulation with simulated clicks; pictures go to out/window_test_SUITE/.
# Usage, as root on Debian: scripts/window_test.sh [PYTHON]   the backend's, default .venv/bin/python
# ATOP_WINDOW_SUITE=sid takes Blender 5.x of Debian unstable in place of trixie's 4.3;
# ATOP_WINDOW_QUALITY=DRAFT is quicker and makes no videos, so that no preview is looked at.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '== %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 3; }

repository="$PWD"
python="$(realpath -s "${1:-.venv/bin/python}")"
suite="${ATOP_WINDOW_SUITE:-trixie}"
root="${ATOP_WINDOW_ROOT:-/var/tmp/atop-window-test-$suite}"
out="$repository/out/window_test_$suite"
display=":$([ "$suite" = trixie ] && echo 77 || echo 78)"
[ "$(id -u)" = 0 ] || fail "a system in a folder needs root"
[ -x "$python" ] || fail "there is no Python at $python; run scripts/setup.sh, or name one"

if [ ! -f "$root/.ready" ]; then
  say "installing Debian $suite with Blender into $root (about four minutes, once)"
  command -v debootstrap >/dev/null || {
    apt-get update -qq >/dev/null
    apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  }
  [ -f "$root/etc/debian_version" ] || debootstrap --variant=minbase "$suite" "$root" >/dev/null
fi

mounted=()
unmount() {
  for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do umount -l "${mounted[i]}" || true; done
}
trap unmount EXIT
bind() {  # folder of this system -> the same path inside
  mountpoint -q "$root$1" && return
  mkdir -p "$root$1"
  mount --bind "$1" "$root$1"
  mounted+=("$root$1")
}
bind /proc
bind /dev

if [ ! -f "$root/.ready" ]; then
  # stored copies of unstable may be older than their stated validity; 5.x's extension system
  # does not load without the last two packages
  chroot "$root" sh -c "apt-get update -qq -o Acquire::Check-Valid-Until=false
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends blender \
    python3-numpy xvfb xauth libgl1-mesa-dri libegl1 imagemagick x11-apps \
    python3-requests python3-cattr" >/dev/null
  touch "$root/.ready"
fi

rm -rf "$out"
mkdir -p "$out/home"
say "building the extension"
"$python" -c 'import bpy' 2>/dev/null && builder="$python" || builder="${ATOP_BLENDER_PYTHON:-$python}"
"$builder" scripts/build_addon.py --out "$out" >/dev/null
bind "$repository"
for prefix in $("$python" -c 'import os, sys; print(sys.prefix, os.path.realpath(sys.base_prefix))'); do
  case "$prefix" in /usr | "$repository"/*) ;; *) bind "$prefix" ;; esac
done

job="--python '$repository/scripts/window_test.py' -- '$out'/atop_articulate-*.zip '$python' \
  '$repository/examples/dishwasher/dishwasher.glb' '$out'"
say "one articulation without a window, by operators"
chroot "$root" sh -c "cd '$out' && HOME='$out/home' timeout 900 blender -b --factory-startup \
  --python-exit-code 3 $job"
say "one articulation in a window"
chroot "$root" sh -c "
  Xvfb $display -screen 0 1280x800x24 >/dev/null 2>&1 & server=\$!
  sleep 2
  cd '$out'
  PYTHONUNBUFFERED=1 DISPLAY=$display HOME='$out/home' LIBGL_ALWAYS_SOFTWARE=1 timeout 2400 blender --factory-startup \
    --enable-event-simulate --window-geometry 0 0 1280 800 $job
  code=\$?
  kill \$server
  exit \$code"
say "passed; look at $out/*.png"
