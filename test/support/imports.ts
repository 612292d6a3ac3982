import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const IMPORT = /^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm

/** What is imported when it is called for only. */
const LAZY = /await import\('(\.[^']+)'\)/g

/** What a file imports when it runs: paths from the root for files of ours, names for packages. Types are no import. */
const importsOf = (root: string, file: string, patterns: readonly RegExp[]): string[] => {
  const text = readFileSync(join(root, file), 'utf8')
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(([, path = '']) => (path.startsWith('.') ? join(dirname(file), path) : path))
}

type Options = {
  /** Whether what a file imports later, or never, is left out. */
  readonly atOnce?: boolean
  /** Only imports of files whose paths begin so are looked at. Default: of all. */
  readonly within?: string
}

/** Gives all that a file imports, directly and through others, itself included. Each file is read once. */
export const newReach = (
  root: string,
  { atOnce = false, within = '' }: Options = {},
): ((file: string) => ReadonlySet<string>) => {
  const patterns = atOnce ? [IMPORT] : [IMPORT, LAZY]
  const known = new Map<string, readonly string[]>()
  const imports = (file: string): readonly string[] => {
    const found =
      known.get(file) ?? (file.endsWith('.ts') && file.startsWith(within) ? importsOf(root, file, patterns) : [])
    known.set(file, found)
    return found
  }
  return (file) => {
    const reached = new Set([file])
    for (const one of reached) for (const imported of imports(one)) reached.add(imported)
    return reached
  }
}
