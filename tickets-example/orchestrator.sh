#!/bin/sh
# A scripted Orchestrator. An agent (`claude -p`, `codex exec`, ...) would read the list and decide; this one goes by
# rote: route what is in progress, plan or put off what is new, accept the next. It uses nothing but the `yoi` command.
#
# The list comes on standard input, as Markdown; what it prints is in `yoi logs --turn last`.
set -u

list=$(cat)
items() { # class and id of each item
  printf '%s\n' "$list" | sed -n 's/^[0-9][0-9]*\. `\([^`]*\)` .*(\([a-z_]*\))$/\2 \1/p'
}

# Starts a worker that outlives this turn, and registers it as the ticket's coder Pod.
delegate() {
  if command -v setsid >/dev/null; then
    setsid sh worker.sh "$1" </dev/null >/dev/null 2>&1 &
  else
    sh worker.sh "$1" </dev/null >/dev/null 2>&1 &
  fi
  yoi hook busy --role coder --ticket "$1" --pid $! >/dev/null
  echo "delegate $1 to a coder (pid $!)"
}

# A gate that holds a ticket is a reason to let it wait; yoi takes the reason back when the gate clears.
plan() {
  for kind in human_gate dependency conflict dirty_workspace; do
    if yoi wait "$1" --kind "$kind" --detail "held by $kind when it was looked at" >/dev/null 2>&1; then
      echo "wait $1: $kind"
      return
    fi
  done
  yoi plan "$1" --order "$2" >/dev/null && echo "plan $1 as number $2"
}

number=0
for id in $(items | sed -n 's/^new_queued //p'); do
  number=$((number + 1))
  plan "$id" "$number"
done

routed=
for id in $(items | sed -n 's/^actionable_inprogress //p'); do
  delegate "$id"
  routed=$id
done

# One at a time: what is refused by a gate stays planned, and comes again when the gate has cleared.
if [ -z "$routed" ]; then
  for id in $(items | sed -n 's/^planned_queued //p; s/^new_queued //p'); do
    if yoi accept "$id" >/dev/null 2>&1; then
      echo "accept $id"
      delegate "$id"
      break
    fi
  done
fi
exit 0
