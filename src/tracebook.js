#!/usr/bin/env node
// The command. A clone runs its TypeScript; the package holds what was built from it, because Node strips no types in `node_modules`.
import { existsSync } from 'node:fs'

// Of SQLite, which Node 22 calls experimental: no warning of Node's is for the user of a command.
for (const print of process.listeners('warning')) {
  process.off('warning', print)
  process.on('warning', (warning) => warning.name === 'ExperimentalWarning' || print(warning))
}

const source = new URL('main.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../dist/src/main.js', import.meta.url).href)
