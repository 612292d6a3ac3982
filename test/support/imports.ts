import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const IMPORT = /^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm

/** Imports that happen only when code calls for them. */
const LAZY = /await import\('(\.[^']+)'\)/g

/** The imports of a file when it runs, without those of types: paths from the root for our files, names for packages. */
const importsOf = (root: string, file: string, patterns: readonly RegExp[]): string[] => {
  const text = readFileSync(join(root, file), 'utf8')
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(([, path = '']) => (path.startsWith('.') ? join(dirname(file), path) : path))
}

type Options = {
  /** Whether imports that happen later, or never, are left out. */
  readonly atOnce?: boolean
  /** Only imports of files whose paths begin with this are followed. Default: those of all files. */
  readonly within?: string
}

/** A function that returns a file and everything that it imports, directly or through others. Each file is read once. */
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
