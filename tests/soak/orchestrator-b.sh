# An Orchestrator that does nothing.
cat >/dev/null
