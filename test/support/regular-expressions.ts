import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnostics, check } from 'recheck'
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

/** The least time that a search takes, of some: what others do on the same cores makes one take longer. */
const leastMs = (expression: RegExp, text: string): number => {
  const search = () => {
    expression.lastIndex = 0
    const { user, system } = process.threadCpuUsage()
    expression.test(text)
    const after = process.threadCpuUsage()
    return (after.user + after.system - user - system) / 1_000
  }
  return Math.min(...Array.from({ length: 3 }, search))
}

/**
 * Whether four times the text takes far more than four times as long. A verdict that was found by trying texts can be wrong: it takes a
 * repetition of at most 200 characters for one without an end.
 */
const isConfirmed = (found: Diagnostics): boolean => {
  if (found.status !== 'vulnerable' || found.checker !== 'fuzz' || found.complexity.type !== 'polynomial') return true
  const { pumps, suffix, base } = found.attack
  const expression = new RegExp(found.source, found.flags)
  const textOf = (part: number) =>
    pumps.map(({ prefix, pump, bias }) => prefix + pump.repeat(Math.ceil(part * base) + Math.max(bias, 0))).join('') +
    suffix
  const [some, all] = [leastMs(expression, textOf(1 / 4)), leastMs(expression, textOf(1))]
  return all > 10 && all > 8 * some
}

/** Those that may take more time than in proportion to what they are given, or of which that is not known. */
export const slowOnes = async (
  found: readonly Found[],
  options: { readonly maxIteration?: number } = {},
): Promise<string[]> => {
  const slow: string[] = []
  for (const { file, literals } of found)
    for (const literal of literals) {
      const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(literal)!
      const found = await check(source, flags, { timeout: PATIENCE_MS, ...options })
      if (found.status !== 'safe' && isConfirmed(found)) slow.push(`${file}: ${literal} is ${found.status}`)
    }
  return slow
}
