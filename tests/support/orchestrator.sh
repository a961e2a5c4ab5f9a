# A scripted Orchestrator for tests. It keeps what it was handed over in turns/<nanoseconds>/, does what the test wrote
# into act.sh, goes on as long as there is a file `hold`, and ends with the exit code in the file `code`.
# Nothing but sh and coreutils, and `yoi` in act.sh.
set -u
dir=$(dirname "$0")
# Whether a process is at work: one that was killed may wait for a long time until somebody takes note of its end.
works() {
  case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in '' | [ZX]*) return 1 ;; esac
}
for other in "$dir"/turns/*/pid; do
  if [ -e "$other" ] && works "$(cat "$other")"; then
    echo "$other" >>"$dir/overlaps"
  fi
done
turn=$dir/turns/$(date +%s%N)
mkdir "$turn.new"
cat >"$turn.new/list.md"
cp "$YOI_KICK_FILE" "$turn.new/kick.json"
echo "$YOI_SESSION" >"$turn.new/session"
echo $$ >"$turn.new/pid"
mv "$turn.new" "$turn"
if [ -e "$dir/act.sh" ]; then
  . "$dir/act.sh"
fi
looks=0
while [ -e "$dir/hold" ] && [ $looks -lt 2000 ]; do
  sleep 0.03
  looks=$((looks + 1))
done
rm "$turn/pid"
if [ -e "$dir/code" ]; then
  exit "$(cat "$dir/code")"
fi
