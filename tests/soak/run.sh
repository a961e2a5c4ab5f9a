#!/bin/sh
# Runs the real daemon for minutes against an Orchestrator that (a) does its job, (b) does nothing, (c) fails with exit
# code 1 each time: 30 queued tickets, and a person who edits some of them all the time. Counts the kicks, prints each
# with its cause, and holds them against the bounds of DESIGN.md section 5. Exit 1 if one is broken.
#
#   tests/soak/run.sh              all three at once, 3 minutes
#   DURATION=20 tests/soak/run.sh a
#
# YOI names the program (default: builds target/debug/yoi), TICKETS how many, KEEP=1 leaves the folders.
# Not part of `cargo test`: it takes real time. Needs sh, git, coreutils, sed, awk.
set -u
here=$(cd "$(dirname "$0")" && pwd)
DURATION=${DURATION:-180}
TICKETS=${TICKETS:-$((DURATION / 6 < 4 ? 4 : DURATION / 6 > 30 ? 30 : DURATION / 6))}

for program in git sed awk mktemp; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: $program is missing here"
    exit 0
  fi
done
if [ -z "${YOI:-}" ]; then
  (cd "$here/../.." && cargo build --quiet) || exit 1
  YOI=$here/../../target/debug/yoi
fi
YOI=$(cd "$(dirname "$YOI")" && pwd)/$(basename "$YOI")

# All at once: each writes its own report, printed when it is over.
if [ $# -eq 0 ]; then
  reports=$(mktemp -d)
  for mode in a b c; do
    YOI=$YOI DURATION=$DURATION TICKETS=$TICKETS sh "$0" $mode >"$reports/$mode" 2>&1 &
    eval "run_$mode=\$!"
  done
  broken=0
  for mode in a b c; do
    eval "wait \$run_$mode" || broken=1
    cat "$reports/$mode"
  done
  rm -r "$reports"
  exit $broken
fi

mode=$1
case $mode in
  a | b | c) ;;
  *) echo "usage: $0 [a|b|c]" >&2; exit 2 ;;
esac

# ---- the stage: a repository, a home and a PATH of its own
stage=$(mktemp -d)
mkdir -p "$stage/bin" "$stage/home" "$stage/work/.yoi" "$stage/work/tickets"
ln -s "$YOI" "$stage/bin/yoi"
export HOME="$stage/home" XDG_STATE_HOME="$stage/home/state" XDG_RUNTIME_DIR="$stage/home" PATH="$stage/bin:$PATH"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Soak GIT_AUTHOR_EMAIL=soak@example.org
export GIT_COMMITTER_NAME=Soak GIT_COMMITTER_EMAIL=soak@example.org TZ=UTC LC_ALL=C
unset YOI_SESSION YOI_ROLE YOI_BY YOI_WORKSPACE
cd "$stage/work" || exit 1
finish() {
  yoi down >/dev/null 2>&1
  if [ -n "${KEEP:-}" ]; then echo "kept: $stage"; else rm -rf "$stage"; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

git init --quiet --initial-branch=main
git commit --quiet --allow-empty --message=first
cat >.yoi/config.toml <<CONFIG
[dispatch]
mode = "orchestrated"
[orchestrator]
command = ["sh", "$here/orchestrator-$mode.sh"]
turn_timeout = "1m"
CONFIG
yoi trust >/dev/null || exit 1

number=1
while [ $number -le "$TICKETS" ]; do
  id=$(printf 't%02d' $number)
  { # Every fifth waits for the one before it.
    printf -- '---\ntitle: "Soak ticket %s"\nstate: queued\npriority: P%d\n' "$id" $((number % 5))
    if [ $((number % 5)) -eq 0 ]; then printf 'depends_on: [t%02d]\n' $((number - 1)); fi
    printf 'queued_at: "2026-11-30T08:00:%02dZ"\n---\nBody.\n' $((number % 60))
  } >"tickets/$id.md"
  number=$((number + 1))
done

# ---- the person who edits: one file after another, in the ways of several editors
edit() {
  file=tickets/$(printf 't%02d' $(($1 * 7 % TICKETS + 1))).md
  case $(($1 % 4)) in
    0) printf 'Remark %d.\n' "$1" >>"$file" ;;
    1) sed "s/^title: .*/title: \"Soak ticket, edited $1\"/" "$file" >"$file~" && mv "$file~" "$file" ;;
    2) yoi set "$(basename "$file" .md)" "note=$1" >/dev/null 2>&1 ;;
    3) sed "s/^Body.*/Body, said $1./" "$file" >tickets/.new~ && cat tickets/.new~ >"$file" ;;
  esac
}

echo "== ($mode) $(sed -n 's/^# //p' "$here/orchestrator-$mode.sh" | head -n 1)"
echo "== $TICKETS tickets, $DURATION s"
yoi up >/dev/null || exit 1
began=$(date +%s)
edits=0
asked=0
while [ $(($(date +%s) - began)) -lt "$DURATION" ]; do
  edit $edits
  edits=$((edits + 1))
  # Once half-way somebody asks by name: that buys one kick, and no automatic one.
  if [ $asked -eq 0 ] && [ $((($(date +%s) - began) * 2)) -ge "$DURATION" ]; then
    asked=1
    yoi kick >/dev/null 2>&1
  fi
  sleep 1
done
yoi list --all --json >"$stage/list.json"
yoi status >"$stage/status"
yoi events --json >"$stage/events"
yoi down >/dev/null

# ---- what happened: one line an event, its fields between tabs
sed -n '/"kind":"\(KICK_SENT\|KICK_SUPPRESSED\|TURN_ENDED\|ALERT\)"/p' "$stage/events" >"$stage/told"
awk -v mode="$mode" -v tickets="$TICKETS" -v edits="$edits" -v asked="$asked" -f "$here/bounds.awk" "$stage/told"
broken=$?
sed -n 's/^kicks  */status: kicks /p' "$stage/status"
if [ "$mode" = a ]; then
  done=$(sed -n 's/^ *"state": "done",*$/x/p' "$stage/list.json" | wc -l)
  echo "done: $done of $TICKETS"
  if [ "$done" -ne "$TICKETS" ]; then
    echo "BROKEN: not every ticket got done"
    yoi list --all
    broken=1
  fi
fi
exit $broken
