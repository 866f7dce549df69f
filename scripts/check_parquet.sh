#!/usr/bin/env bash
# The feature `parquet`: it passes the lints, and a short sweep with it writes tables that hold what their CSV forms hold.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo clippy --quiet --locked --all-targets --features parquet -- -D warnings
cargo test --quiet --locked --features parquet --test it parquet_holds
