#!/bin/sh
# Installs the built program below a folder: install.sh PREFIX
set -eu
prefix=$1
package=$(cd "$(dirname "$0")/../../packages/swank-mcp" && pwd)
program=$prefix/lib/swank-mcp
mkdir -p "$program/dist" "$prefix/bin"
cp -R "$package/bin" "$package/emacs" "$package/package.json" "$package/LICENSE" "$program"
cp -R "$package/dist/program" "$program/dist"
rm -f "$program"/dist/program/*.map
ln -sf ../lib/swank-mcp/bin/swank-mcp.js "$prefix/bin/swank-mcp"
