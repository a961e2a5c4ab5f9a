# An Orchestrator that does its job: plans or puts off what is new, routes what is in progress, accepts the next.
set -u
list=$(cat)
items() {
  printf '%s\n' "$list" | sed -n 's/^[0-9][0-9]*\. `\([^`]*\)` .*('"$1"')$/\1/p'
}
delegate() {
  here=$(dirname "$0")
  sh "$here/worker.sh" "$1" </dev/null >/dev/null 2>&1 &
  yoi hook busy --role coder --ticket "$1" --pid $! >/dev/null && echo "delegate $1"
}
for id in $(items new_queued); do
  yoi wait "$id" --kind dependency --detail "needs another one first" >/dev/null 2>&1 || yoi plan "$id" >/dev/null
done
routed=
for id in $(items actionable_inprogress); do
  delegate "$id"
  routed=$id
done
if [ -z "$routed" ]; then
  for id in $(items planned_queued; items new_queued); do
    if yoi accept "$id" >/dev/null 2>&1; then
      delegate "$id"
      break
    fi
  done
fi
exit 0
