#!/bin/sh
# Prints the compressed size of the TypeScript client and the import time of the Python client, beside those of others.
set -eu
cd "$(dirname "$0")/../../.."
tools=$PWD/.tools
dist=$(mktemp -d)
trap 'rm -rf "$dist"' EXIT
echo "Bundled, minified and compressed:"
TSC=$tools/sdk-node/node_modules/typescript/bin/tsc node clients/typescript/build.mjs "$dist"
script=$PWD/clients/typescript/test/size.mjs
(cd "$tools/sizes-node" && node "$script" "$tools/sdk-node/node_modules" "$dist/esm/index.js" openai stripe resend)
echo "Best of ten imports in Python:"
for module in content_automation openai stripe resend; do
  best=9
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    took=$(PYTHONPATH=clients/python/src "$tools/sizes-python/bin/python" -c \
      "import time; t = time.perf_counter(); import $module; print(f'{time.perf_counter() - t:.3f}')")
    best=$(printf '%s\n%s\n' "$best" "$took" | sort -n | head -1)
  done
  echo "$module $best s"
done
