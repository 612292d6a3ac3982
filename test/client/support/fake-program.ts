import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '../../../src/base/escape.ts'

/**
 * A program of that name in `folder`, for PATH, which notes how it is called and then does `script` (sh, with the call as `$*`).
 * Gives the calls so far, one a line.
 */
export const fakeProgram = (folder: string, name: string, script = ''): { readonly calls: () => readonly string[] } => {
  mkdirSync(folder, { recursive: true })
  const [program, calls] = [join(folder, name), join(folder, `${name}.calls`)]
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$*" >> ${shellWord(calls)}\n${script}\n`)
  chmodSync(program, 0o755)
  return { calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []) }
}
