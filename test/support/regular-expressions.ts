import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from 'recheck'
import ts from 'typescript'

const root = join(import.meta.dirname, '..', '..')

type Found = { readonly file: string; readonly literals: readonly string[]; readonly isBuilt: boolean }

/** The regular expressions of a file, and whether it builds others while it runs. */
const expressionsOf = (file: string): Found => {
  const literals: string[] = []
  let isBuilt = false
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push(node.text)
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp')
      isBuilt = true
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true))
  return { file, literals, isBuilt }
}

/** The folder that has most of them: it has a test of its own, so that none takes too long. */
export const REDACTION = 'src/sync/redaction/'

/** The regular expressions of all sources. */
export const expressions = (): readonly Found[] =>
  globSync('{src,projections,migrations}/**/*.ts', { cwd: root, exclude: ['**/*.d.ts'] }).map(expressionsOf)

/** On a busy machine the check of one takes long, and then its result would be `unknown`. */
const PATIENCE_MS = 240_000

/** Those that may take more time than in proportion to what they are given, or of which that is not known. */
export const slowOnes = async (
  found: readonly Found[],
  options: { readonly maxIteration?: number } = {},
): Promise<string[]> => {
  const slow: string[] = []
  for (const { file, literals } of found)
    for (const literal of literals) {
      const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(literal)!
      const { status } = await check(source, flags, { timeout: PATIENCE_MS, ...options })
      if (status !== 'safe') slow.push(`${file}: ${literal} is ${status}`)
    }
  return slow
}
