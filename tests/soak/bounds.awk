# Reads decisions, turns and alerts (`yoi events --json`, one a line), prints every kick with its cause and end, and
# holds them against the bounds of DESIGN.md section 5. Exit 1 if one is broken.

function text(key,    rest) { # the text under a key; also of a number
  if (!match($0, "\"" key "\":")) return ""
  rest = substr($0, RSTART + RLENGTH)
  if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); return substr(rest, 1, index(rest, "\"") - 1) }
  match(rest, /^[^,}]*/)
  return substr(rest, 1, RLENGTH)
}

function list(key,    rest) { # the texts of a list, with commas between
  if (!match($0, "\"" key "\":\\[")) return ""
  rest = substr($0, RSTART + RLENGTH)
  rest = substr(rest, 1, index(rest, "]") - 1)
  gsub(/"/, "", rest)
  return rest
}

function broken(what) { print "BROKEN: " what; wrong = 1 }

function seconds(at) { return substr(at, 12, 2) * 3600 + substr(at, 15, 2) * 60 + substr(at, 18, 2) }

function since(at,    span) { span = seconds(text("at")) - seconds(at); return span < 0 ? span + 86400 : span }

BEGIN { print "  time      kick  why                                items  turn" }

text("kind") == "KICK_SENT" {
  if (running != "") broken("a kick while a turn was running")
  kicks++
  causes = list("boundaries")
  items = list("items")
  count = split(items, names, ",")
  explicit = causes ~ /orchestrator_spawn|orchestrator_restore|user_kick|panel_open/
  if (!explicit) automatic++
  if (causes == "") broken("a kick without a cause")
  if (count < 1 || count > 10) broken("a kick of " count " items")
  split(causes, each, ",")
  for (i in each) by[each[i]]++
  if (!explicit) {
    if (failures >= 3) broken("an automatic kick after three failed turns in a row")
    if (failures == 1 && since(ended) < 9) broken("an automatic kick " since(ended) " s after a failed turn")
    if (failures == 2 && since(ended) < 59) broken("an automatic kick " since(ended) " s after the second failed turn")
  }
  running = sprintf("  %s  %4d  %-33s  %5d", substr(text("at"), 12, 8), kicks, causes, count)
}

text("kind") == "TURN_ENDED" {
  failed = text("failed")
  progress = text("progress")
  end = failed == "null" || failed == "" ? (progress == "true" ? "progress" : "nothing") : "failed: " failed
  print running "  " end
  running = ""
  ended = text("at")
  ends[failed == "null" || failed == "" ? (progress == "true" ? "progress" : "nothing") : "failed"]++
  failures = text("failures") + 0
  if (progress != "true" && !explicit) fruitless++
}

text("kind") == "KICK_SUPPRESSED" { saved++; why[text("why")]++ }

text("kind") == "ALERT" { alerts++; print "  " substr(text("at"), 12, 8) "  alert " text("what") }

END {
  printf "kicks: %d (%d automatic); turns: %d with progress, %d without, %d failed; edits by a person: %d\n", \
    kicks, automatic, ends["progress"], ends["nothing"], ends["failed"], edits
  printf "causes:"; for (cause in by) printf " %s %d", cause, by[cause]; print ""
  printf "suppressed: %d:", saved; for (reason in why) printf " %s %d", reason, why[reason]; print ""
  if (kicks < 1) broken("nobody was kicked")
  # The brake: 20 fruitless kicks within an hour, and a run is shorter than that.
  if (fruitless > 20) broken(fruitless " automatic kicks without progress; the brake stands at 20")
  # Each step of each ticket is progress once, or one of 10 repeated attempts.
  if (ends["progress"] > 5 * tickets) broken(ends["progress"] " turns with progress for " tickets " tickets")
  # Without a change by somebody only three kicks are in vain.
  if (mode == "b" && automatic > 3 * (edits + 1)) broken(automatic " automatic kicks after " edits " edits")
  if (mode == "b" && ends["progress"] > 0) broken("progress by doing nothing")
  # The start, and one each after 10 s and after 60 s; one by name.
  if (mode == "c" && automatic > 2) broken(automatic " automatic kicks of one that fails each time")
  if (mode == "c" && kicks - automatic > 1 + asked) broken("explicit kicks: " kicks - automatic)
  if (mode == "a" && alerts > 0) broken("an alert about a diligent Orchestrator")
  exit wrong
}
