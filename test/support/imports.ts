import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const IMPORT = /^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm

/** What a file imports when it runs: paths from the root for files of ours, names for packages. Types are no import. */
const importsOf = (root: string, file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
    path.startsWith('.') ? join(dirname(file), path) : path,
  )

/** Gives all that a file imports, directly and through others, itself included. Each file is read once. */
export const newReach = (root: string): ((file: string) => ReadonlySet<string>) => {
  const known = new Map<string, readonly string[]>()
  const imports = (file: string): readonly string[] => {
    const found = known.get(file) ?? (file.endsWith('.ts') ? importsOf(root, file) : [])
    known.set(file, found)
    return found
  }
  return (file) => {
    const reached = new Set([file])
    for (const one of reached) for (const imported of imports(one)) reached.add(imported)
    return reached
  }
}
