# An Orchestrator that fails each time.
cat >/dev/null
exit 1
