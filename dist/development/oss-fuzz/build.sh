#!/usr/bin/env bash
# Builds one fuzz target for each parser, with its examples. The flags of precompile_swift are for programs without
# top-level code; those of dist/development/fuzz are used instead.
set -euo pipefail
dist/development/fuzz --targets "$OUT"
cp /usr/local/bin/llvm-symbolizer-swift "$OUT/llvm-symbolizer"
