import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnostics, check } from 'recheck'
import ts from 'typescript'

const root = join(import.meta.dirname, '..', '..')

type Found = { readonly file: string; readonly literals: readonly string[]; readonly isBuilt: boolean }

/** The regular expressions of a file, and whether it builds others at run time. */
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

/** The folder with most regular expressions, which has a test file of its own, so that no test file takes too long. */
export const REDACTION = 'src/client/redaction/'

/** The regular expressions of all sources. */
export const expressions = (): readonly Found[] =>
  globSync('{src,projections,migrations}/**/*.ts', { cwd: root, exclude: ['**/*.d.ts'] }).map(expressionsOf)

/** The time for the check of an expression. It is long, because on a busy machine the result would otherwise be `unknown`. */
const PATIENCE_MS = 240_000

/** The shortest time of several searches, because other work on the same cores makes some of them slower. */
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
 * Whether a text of four times the length takes far more than four times as long. This confirms the result of the check, which can be
 * wrong: it takes a repetition of at most 200 characters for an unlimited one.
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

/** The expressions that may take more time than in proportion to the text, or for which that is not known. */
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
