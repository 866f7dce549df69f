#!/usr/bin/env bash
# Prints the table of benches/README.md as Markdown: scripts/bench.sh > table.md
# Takes about a minute after the build; the less else runs on the machine, the better.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo bench --quiet --bench table
