#!/bin/sh
# A scripted coder: works on one ticket for a moment, and says that it is done.
set -u
# What it says is its own word, not the Orchestrator's.
unset YOI_SESSION YOI_ROLE
sleep "${YOI_DEMO_WORK:-1}"
yoi move "$1" done --by coder --reason "a second of hard work"
